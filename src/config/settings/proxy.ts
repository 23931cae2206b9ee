/**
 * Settings of the proxy, after validation.
 * @module
 */
import type { BudgetSettings } from "./routing.ts";

export interface CorsSettings {
  readonly enabled: boolean;
  /** Allowed origins; undefined: any if a token is required, otherwise loopback origins. */
  readonly origins?: readonly string[];
  /** Allowed request headers; undefined: those that a preflight requests. */
  readonly headers?: readonly string[];
  /** Allowed methods; undefined: those of the path. */
  readonly methods?: readonly string[];
  /** Cache lifetime of a preflight response, seconds. */
  readonly maxAgeSeconds: number;
}

/** A client with a token. */
export interface ClientSettings {
  /** The token, with unresolved secret references. */
  readonly token: string;
  /** Name in records; undefined for a bare token. */
  readonly name?: string;
  /** Names of the only pools it may use; undefined for all. */
  readonly pools?: readonly string[];
  readonly budget?: BudgetSettings;
  /** Maximum requests per minute; undefined for no limit. */
  readonly rpm?: number;
}

export interface ProxySettings {
  readonly host: string;
  /** Port to listen on; 0 picks a free one. */
  readonly port: number;
  /** The HTTP server: our own, `node:http`, or `Deno.serve`. */
  readonly listener: "http1" | "node" | "deno";
  /** TLS settings; undefined disables TLS. */
  readonly tls?: TlsSettings;
  /** Paths to serve, without `/v1`; undefined for all. */
  readonly endpoints?: readonly string[];
  /** Clients; if empty, no token is required. */
  readonly clients: readonly ClientSettings[];
  /** Tokens with administrator access; undefined: those of clients without limits. */
  readonly adminTokens?: readonly string[];
  /** Whether startup fails if no token is configured. */
  readonly tokenRequired: boolean;
  readonly cors: CorsSettings;
  /** Host names served without a token, in addition to loopback names. */
  readonly allowedHosts: readonly string[];
  /** Maximum concurrent requests. */
  readonly maxConcurrent: number;
  /** Maximum connections of clients. */
  readonly maxConnections: number;
  /** Maximum size of a JSON body, bytes. */
  readonly bodyLimit: number;
  /** Maximum memory for all bodies being read, bytes. */
  readonly bodyMemory: number;
  /** Maximum size of an upload, and of all uploads being read, bytes. */
  readonly uploadLimit: number;
  /** Secret that signs ids; undefined: the provider's API key. */
  readonly idSecret?: string;
  /** Delay between the stop signal and refusing connections, ms. */
  readonly drainDelayMs: number;
  /** Interval of heartbeats in streams that wait, ms; 0 for none. */
  readonly heartbeatMs: number;
}

/** Paths of PEM files. */
export interface TlsSettings {
  readonly cert: string;
  readonly key: string;
}

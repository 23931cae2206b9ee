/**
 * The proxy of a configuration after validation.
 * @module
 */
import type { BudgetSettings } from "./routing.ts";

export interface CorsSettings {
  readonly enabled: boolean;
  /** Allowed origins; undefined: any with a token, loopback ones without. */
  readonly origins?: readonly string[];
  /** Allowed request headers; undefined: those a preflight asks for. */
  readonly headers?: readonly string[];
  /** Allowed methods; undefined: those of the path. */
  readonly methods?: readonly string[];
  /** Lifetime of a preflight response, seconds. */
  readonly maxAgeSeconds: number;
}

/** A holder of a proxy token. */
export interface ClientSettings {
  /** Secret references unresolved. */
  readonly token: string;
  /** Shown in records; undefined for a bare token. */
  readonly name?: string;
  /** Names of the only pools it may use; undefined: all. */
  readonly pools?: readonly string[];
  readonly budget?: BudgetSettings;
  /** Requests per minute; undefined: any number. */
  readonly rpm?: number;
}

export interface ProxySettings {
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  /** `node` serves through `node:http`, on Deno too. */
  readonly listener: "node" | "deno";
  /** Without it there is no TLS. */
  readonly tls?: TlsSettings;
  /** Paths without `/v1`; undefined: all. */
  readonly endpoints?: readonly string[];
  /** Empty: no token is required. */
  readonly clients: readonly ClientSettings[];
  /** Tokens that administrate; undefined: those of clients without limits. */
  readonly adminTokens?: readonly string[];
  /** A start that ends up without a token is refused. */
  readonly tokenRequired: boolean;
  readonly cors: CorsSettings;
  /** Host names served without a token beside loopback ones. */
  readonly allowedHosts: readonly string[];
  /** Requests with a slot at once. */
  readonly maxConcurrent: number;
  /** Largest JSON body, bytes. */
  readonly bodyLimit: number;
  /** All bodies being read together, bytes. */
  readonly bodyMemory: number;
  /** Largest upload, and all uploads being read together, bytes. */
  readonly uploadLimit: number;
  /** Signs ids; undefined: the provider's API key does. */
  readonly idSecret?: string;
  /** Time between the signal to stop and refusing connections, ms. */
  readonly drainDelayMs: number;
}

/** Paths of PEM files. */
export interface TlsSettings {
  readonly cert: string;
  readonly key: string;
}

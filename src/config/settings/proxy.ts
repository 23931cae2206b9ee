/**
 * Settings of the proxy, after validation.
 * @module
 */
import type { Completed } from "../schema/complete.ts";
import type { proxy } from "../schema/proxy.ts";
import type { BudgetSettings } from "./routing.ts";

/** Cross-origin requests; an omitted list is described in the schema. */
export type CorsSettings = Completed<typeof proxy.fields.cors>;

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
  /** Maximum priority of its requests; undefined for the default. */
  readonly priority?: number;
}

/** An issuer of JWTs. */
export type JwtIssuerSettings = Completed<typeof proxy.fields.auth.fields.jwt.item>;

/** The section `proxy` with defaults and its clients. */
export interface ProxySettings extends Omit<Completed<typeof proxy>, "auth"> {
  /** Clients; if empty, no token is required. */
  readonly clients: readonly ClientSettings[];
  /** Tokens with administrator access; undefined: those of clients without limits. */
  readonly adminTokens?: readonly string[];
  /** Issuers of accepted JWTs. */
  readonly jwt?: readonly JwtIssuerSettings[];
  /** URL under which clients reach the proxy. */
  readonly resource?: string;
  /** Whether startup fails if no token is configured. */
  readonly tokenRequired: boolean;
  /** Host names served without a token, in addition to loopback names. */
  readonly allowedHosts: readonly string[];
}

/** Paths of PEM files. */
export type TlsSettings = Completed<typeof proxy.fields.tls>;

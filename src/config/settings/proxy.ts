/**
 * Settings of the proxy, after validation.
 * @module
 */
import type { Completed } from "../schema/complete.ts";
import type { proxy } from "../schema/proxy.ts";
import type { BudgetSettings } from "./routing.ts";

/** Cross-origin requests; an omitted list is described in the schema. */
export type CorsSettings = Completed<typeof proxy.fields.cors>;

/** Limits of a client, a team, a tag or an end user; undefined where there is none. */
export interface LimitSettings {
  readonly budget?: BudgetSettings;
  /** Maximum requests per minute. */
  readonly rpm?: number;
  /** Maximum tokens per minute. */
  readonly tpm?: number;
  /** Maximum requests in flight. */
  readonly concurrent?: number;
}

/** A team of clients. */
export interface TeamSettings extends LimitSettings {
  /** Names of the only pools its clients may use; undefined for all. */
  readonly pools?: readonly string[];
  /** Names of guards of its requests. */
  readonly guards?: readonly string[];
}

/** A client with a token. */
export interface ClientSettings extends TeamSettings {
  /** The token, with unresolved secret references; undefined if only its hash is configured. */
  readonly token?: string;
  /** SHA-256 of the token, hexadecimal, in lower case. */
  readonly tokenHash?: string;
  /** Name in records; undefined for a bare token. */
  readonly name?: string;
  /** Names of the only models it may use, by name and in pools; undefined for all. */
  readonly models?: readonly string[];
  /** Its team, one of those of the configuration. */
  readonly team?: string;
  /** Tags of all its requests. */
  readonly tags?: readonly string[];
  /** Maximum priority of its requests; undefined for the default. */
  readonly priority?: number;
  /** For operators. */
  readonly notes?: string;
  /** Whether its requests may contain keys of providers. */
  readonly byok?: boolean;
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

/**
 * Authentication by bearer token.
 * @module
 */
import type { ProxySettings } from "../config/settings/settings.ts";
import type { PlainRequest } from "../contracts/shell.ts";
import type { DialectConventions } from "../dialects/dialect.ts";
import type { Engine } from "../engine/engine.ts";
import { groupBy } from "../util/entries.ts";
import { onceResolved } from "../util/once.ts";
import { stripTrailing } from "../util/strip_trailing.ts";
import { ConfigError, type ConfigProblem } from "../errors.ts";
import type { Caller, Client } from "./client.ts";
import type { ClientSlot } from "./client_slot.ts";
import { HttpError } from "./error_body.ts";
import type { RouteEntry } from "./exchange.ts";
import type { JwtAuthenticator } from "./jwt/jwt_authenticator.ts";
import type { SigningKeys } from "./jwt/signing_keys.ts";

const encoder = new TextEncoder();

/** A token, or the hash of one, and its sender. */
interface AcceptedToken extends Caller {
  readonly token?: string | undefined;
  /** SHA-256, hexadecimal. */
  readonly tokenHash?: string | undefined;
}

/** Clients and tokens that are not in the list of tokens. */
interface OtherSenders {
  /** Clients created at runtime. */
  readonly runtime?: Pick<ClientSlot, "clients">;
  /** Verifies JWTs. Its code is imported with the first one. */
  readonly jwt?: {
    readonly load: () => Promise<JwtAuthenticator>;
    /** The URL under which clients reach the proxy; by default that of the request. */
    readonly resource: string | undefined;
  } | undefined;
}

/** Hashes tokens; undefined before the first request that may have a token of which only the hash is known. */
let sha256: ((text: string) => string) | undefined;

const anonymous: Caller = { isAdministrator: true };

/** Path of the metadata about accepted tokens (RFC 9728). */
export const metadataPath = "/.well-known/oauth-protected-resource";

/** Prefix of the tokens of clients created at runtime. */
export const runtimePrefix = "mm_";

/**
 * Checks bearer tokens. Configured tokens are compared in constant time, those of one bucket of a keyed hash: there may
 * be thousands. Those of clients created at runtime are looked up by their hash.
 */
export class Authenticator {
  /** Whether no token is required. */
  readonly isOpen: boolean;
  /** By a hash that begins with a random number. */
  readonly #callers: ReadonlyMap<number, readonly { readonly bytes: Uint8Array; readonly caller: Caller }[]>;
  readonly #seed = crypto.getRandomValues(new Int32Array(1))[0]!;
  /** Senders by the hash of their token; undefined if there are none. */
  readonly #byHash: ReadonlyMap<string, Caller> | undefined;
  readonly #runtime: OtherSenders["runtime"];
  readonly #jwt: OtherSenders["jwt"];
  #verifier: JwtAuthenticator | undefined;

  constructor(tokens: readonly AcceptedToken[], { runtime, jwt }: OtherSenders = {}) {
    this.#runtime = runtime;
    this.#jwt = jwt;
    this.isOpen = tokens.length === 0 && jwt === undefined;
    const callers = tokens.flatMap((caller) =>
      caller.token === undefined ? [] : { bytes: encoder.encode(caller.token), caller }
    );
    this.#callers = groupBy(callers, ({ bytes }) => this.#hash(bytes));
    const hashed = tokens.flatMap((caller) =>
      caller.tokenHash === undefined ? [] : [[caller.tokenHash, caller] as const]
    );
    this.#byHash = hashed.length === 0 ? undefined : new Map(hashed);
  }

  /** The sender of a request; undefined if a token is required and none is accepted. */
  findSender(request: PlainRequest, dialect?: DialectConventions): Caller | undefined {
    const isAnyAccepted = this.isOpen;
    if (isAnyAccepted && this.#runtime?.clients === undefined) return anonymous;
    const token = bearerToken(request.headers.get("authorization") ?? "");
    const own = dialect?.findToken?.(request);
    const found = this.#callerWith(token) ?? (own === undefined ? undefined : this.#callerWith(own));
    if (found !== undefined) return found;
    return isAnyAccepted && !isRuntimeToken(token) && !isRuntimeToken(own) ? anonymous : undefined;
  }

  #callerWith(token: string): Caller | undefined {
    if (token === "") return undefined;
    const received = encoder.encode(token);
    let found: Caller | undefined;
    const alike = this.#callers.get(this.#hash(received)) ?? [];
    for (const { bytes, caller } of alike) if (isSameDigest(bytes, received)) found ??= caller;
    if (found !== undefined) return found;
    if (this.#byHash !== undefined && sha256 !== undefined) found = this.#byHash.get(sha256(token));
    const clients = this.#runtime?.clients;
    if (isRuntimeToken(token) || clients?.hasSuppliedTokens) found ??= clients?.findCaller(token);
    if (found !== undefined) return found;
    return this.#verifier === undefined || !isJwt(token) ? undefined : this.#verifier.find(token);
  }

  /** FNV-1a. */
  #hash(bytes: Uint8Array): number {
    let hash = this.#seed;
    for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ bytes[at]!, 0x0100_0193);
    return hash;
  }

  /**
   * Requires an accepted token, unless the path is public. A JWT that is unknown so far is verified.
   *
   * @param entry The path; clients of its dialect may send the token in another header.
   * @returns Undefined for a public path.
   * @throws {HttpError} 401 otherwise; also rejects with it, or as {@linkcode JwtAuthenticator.verify} does.
   */
  authenticate(
    request: PlainRequest,
    entry: Pick<RouteEntry, "dialect" | "isPublic" | "showsMore"> = {},
  ): Caller | undefined | Promise<Caller | undefined> {
    const { dialect, isPublic, showsMore } = entry;
    if (isPublic && !(showsMore && (this.#jwt ?? this.#byHash) !== undefined)) return undefined;
    const caller = this.findSender(request, dialect);
    if (caller !== undefined) return caller;
    if (this.#byHash !== undefined && sha256 === undefined) return this.#authenticateByHash(request, entry);
    const jwt = this.#jwt && [bearerToken(request.headers.get("authorization") ?? ""), dialect?.findToken?.(request)]
      .find(isJwt);
    if (jwt !== undefined) {
      const verified = this.#verify(jwt, request);
      return isPublic ? verified.catch(() => undefined) : verified;
    }
    if (isPublic) return undefined;
    const hasToken = request.headers.has("authorization") || dialect?.findToken?.(request) !== undefined;
    const hint = "`Authorization: Bearer <token>`" +
      (dialect?.tokenHint === undefined ? "" : ` or \`${dialect.tokenHint}\``);
    throw new HttpError(
      hasToken ? "The bearer token is not accepted" : `A bearer token is needed: send the header ${hint}`,
      {
        status: 401,
        code: "invalid_api_key",
        headers: {
          "www-authenticate": this.#jwt === undefined
            ? "Bearer"
            : createChallenge(this.#jwt, request) + (hasToken ? ', error="invalid_token"' : ""),
        },
      },
    );
  }

  /** Imports the hash function, and tries again. */
  async #authenticateByHash(
    request: PlainRequest,
    entry: Pick<RouteEntry, "dialect" | "isPublic" | "showsMore">,
  ): Promise<Caller | undefined> {
    sha256 ??= (await import("../util/sha256.ts")).sha256;
    return await this.authenticate(request, entry);
  }

  async #verify(token: string, request: PlainRequest): Promise<Caller> {
    this.#verifier ??= await this.#jwt!.load();
    const { signal } = request;
    return await this.#verifier.verify(token, { challenge: createChallenge(this.#jwt!, request), signal });
  }
}

/** The URL under which a client reaches the proxy. */
export function toResourceUrl({ resource }: { readonly resource?: string | undefined }, { url }: PlainRequest): string {
  return resource ?? (URL.canParse(url) ? new URL(url).origin : "");
}

/** The start of `WWW-Authenticate` (RFC 9728, section 5.1). */
function createChallenge(settings: { readonly resource: string | undefined }, request: PlainRequest): string {
  const resource = stripTrailing(toResourceUrl(settings, request), "/");
  return `Bearer resource_metadata="${resource}${metadataPath}"`;
}

/** Whether a token has the form of a JWT, signed or not. */
function isJwt(token: string | undefined): boolean {
  return token !== undefined && /^eyJ[\w-]*(?:\.[\w-]*){2,4}$/.test(token);
}

/** The token of the scheme `Bearer` in the header `authorization`; empty if there is none. */
function bearerToken(header: string): string {
  const [scheme] = /^bearer +/i.exec(header) ?? [];
  const token = scheme === undefined ? "" : header.slice(scheme.length);
  return /\s/.test(token) ? "" : token;
}

function isRuntimeToken(token: string | undefined): boolean {
  return token !== undefined && token.startsWith(runtimePrefix);
}

function isSameDigest(token: Uint8Array, received: Uint8Array): boolean {
  let difference = token.length ^ received.length;
  for (let at = 0; at < token.length; at++) difference |= token[at]! ^ (received[at] ?? 0);
  return difference === 0;
}

/** Who may send requests. */
interface Senders {
  /** Accepted tokens, in addition to the configuration's. */
  readonly tokens: readonly string[];
  /** Configured clients, by name. */
  readonly clients: ReadonlyMap<string, Client>;
  /** Clients created at runtime. */
  readonly runtime: Pick<ClientSlot, "clients">;
  readonly mesh: Engine;
}

/**
 * Creates the authenticator of a configuration.
 *
 * @param keys Keys of issuers of JWTs, which outlast a reload.
 */
export function createAuthenticator(
  proxy: ProxySettings,
  senders: Senders,
  keys: Map<string, SigningKeys>,
): Authenticator {
  const { runtime, clients, mesh } = senders;
  const { jwt: issuers, resource } = proxy;
  const accepted = acceptedTokens(proxy, senders);
  if (issuers === undefined) return new Authenticator(accepted, { runtime });
  const findClient = (name: string) => clients.get(name) ?? runtime.clients?.findNamed(name);
  const load = onceResolved(async () => {
    const { createJwtAuthenticator } = await import("./jwt/jwt_authenticator.ts");
    const isTeam = (name: string) => mesh.settings.teams?.has(name) === true;
    return await createJwtAuthenticator({ issuers, mesh, keys, findClient, isTeam });
  });
  return new Authenticator(accepted, { runtime, jwt: { load, resource } });
}

/** Tokens of clients, of the command line, and of administrators. */
function acceptedTokens({ clients, adminTokens }: ProxySettings, received: Senders): AcceptedToken[] {
  return [
    ...clients.map(({ token, tokenHash, name = "" }) => ({ token, tokenHash, client: received.clients.get(name) })),
    ...[...received.tokens, ...adminTokens ?? []].map((token) => ({ token, tokenHash: undefined, client: undefined })),
  ].map((accepted) => ({
    ...accepted,
    identity: accepted.token ?? accepted.tokenHash!,
    isAdministrator: adminTokens?.includes(accepted.token ?? "") ?? accepted.client?.isUnlimited ?? true,
  }));
}

/**
 * Whether any token is accepted, so that one is required.
 *
 * @param tokens Accepted tokens, in addition to the configuration's.
 */
export function hasToken({ clients, adminTokens = [], jwt = [] }: ProxySettings, tokens: readonly string[]): boolean {
  return tokens.length + clients.length + adminTokens.length + jwt.length > 0;
}

/** Returns the problem of a proxy that is configured to store responses, and has no storage. */
export function memoryProblems(
  { responses }: Pick<ProxySettings, "responses">,
  storage: object | undefined,
): ConfigProblem[] {
  if (!responses.state || storage !== undefined) return [];
  const message = "responses are stored in the storage: add a section `storage`";
  return [{ path: "proxy.responses.state", message }];
}

/** Returns the problem of a configuration that requires tokens and has none: it would be open to all clients. */
export function tokenProblems(proxy: ProxySettings, tokens: readonly string[]): ConfigProblem[] {
  if (!proxy.tokenRequired || hasToken(proxy, tokens)) return [];
  const message = "bearer tokens are required, but there is none: add one here, or set --token or MODELMESH_TOKEN";
  return [{ path: "proxy.auth.tokens", message }];
}

/** @throws {ConfigError} If the configuration requires tokens and there is none. */
export function requireToken(proxy: ProxySettings, tokens: readonly string[]): void {
  const problems = tokenProblems(proxy, tokens);
  if (problems.length > 0) throw new ConfigError(problems);
}

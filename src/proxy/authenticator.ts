/**
 * Authentication by bearer token.
 * @module
 */
import type { ProxySettings } from "../config/settings/settings.ts";
import type { PlainRequest } from "../contracts/shell.ts";
import type { DialectConventions } from "../dialects/dialect.ts";
import { ConfigError, type ConfigProblem } from "../errors.ts";
import type { Caller, Client } from "./client.ts";
import type { ClientSlot } from "./client_slot.ts";
import { HttpError } from "./error_body.ts";

const encoder = new TextEncoder();

/** A token, and its sender. */
interface AcceptedToken extends Caller {
  readonly token: string;
}

const anonymous: Caller = { isAdministrator: true };

/** Prefix of the tokens of clients created at runtime. */
export const runtimePrefix = "mm_";

/**
 * Checks bearer tokens. All configured tokens are compared, in constant time; those of clients created at runtime are
 * looked up by their hash.
 */
export class Authenticator {
  /** Whether no token is required. */
  readonly isOpen: boolean;
  readonly #callers: readonly { readonly bytes: Uint8Array; readonly caller: Caller }[];
  readonly #runtime: Pick<ClientSlot, "clients"> | undefined;

  /** @param runtime Clients created at runtime. */
  constructor(tokens: readonly AcceptedToken[], runtime?: Pick<ClientSlot, "clients">) {
    this.#runtime = runtime;
    this.isOpen = tokens.length === 0;
    this.#callers = tokens.map((caller) => ({ bytes: encoder.encode(caller.token), caller }));
  }

  /** The sender of a request; undefined if a token is required and none is accepted. */
  findSender(request: PlainRequest, dialect?: DialectConventions): Caller | undefined {
    const isAnyAccepted = this.isOpen;
    if (isAnyAccepted && this.#runtime?.clients === undefined) return anonymous;
    const token = bearerToken(request.headers.get("authorization") ?? "");
    const own = dialect?.findToken?.(request);
    if (isAnyAccepted && !isRuntimeToken(token) && !isRuntimeToken(own)) return anonymous;
    return this.#callerWith(token) ?? (own === undefined ? undefined : this.#callerWith(own));
  }

  #callerWith(token: string): Caller | undefined {
    const received = encoder.encode(token);
    let found: Caller | undefined;
    for (const { bytes, caller } of this.#callers) if (isSameDigest(bytes, received)) found ??= caller;
    return found ?? (isRuntimeToken(token) ? this.#runtime?.clients?.findCaller(token) : undefined);
  }

  /**
   * Requires an accepted token.
   *
   * @param dialect Its clients may send the token in another header.
   * @throws {HttpError} 401 otherwise.
   */
  authenticate(request: PlainRequest, dialect?: DialectConventions): Caller {
    const caller = this.findSender(request, dialect);
    if (caller !== undefined) return caller;
    const hasToken = request.headers.has("authorization") || dialect?.findToken?.(request) !== undefined;
    const hint = "`Authorization: Bearer <token>`" +
      (dialect?.tokenHint === undefined ? "" : ` or \`${dialect.tokenHint}\``);
    throw new HttpError(
      hasToken ? "The bearer token is not accepted" : `A bearer token is needed: send the header ${hint}`,
      { status: 401, code: "invalid_api_key", headers: { "www-authenticate": "Bearer" } },
    );
  }
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

/** Tokens of clients, of the command line, and of administrators. */
export function acceptedTokens(
  { clients, adminTokens }: ProxySettings,
  received: { readonly tokens: readonly string[]; readonly clients: ReadonlyMap<string, Client> },
): AcceptedToken[] {
  return [
    ...clients.map(({ token, name = "" }) => ({ token, client: received.clients.get(name) })),
    ...[...received.tokens, ...adminTokens ?? []].map((token) => ({ token, client: undefined })),
  ].map((accepted) => ({
    ...accepted,
    isAdministrator: adminTokens?.includes(accepted.token) ?? accepted.client?.isUnlimited ?? true,
  }));
}

/**
 * Whether any token is accepted, so that one is required.
 *
 * @param tokens Accepted tokens, in addition to the configuration's.
 */
export function hasToken({ clients, adminTokens = [] }: ProxySettings, tokens: readonly string[]): boolean {
  return tokens.length + clients.length + adminTokens.length > 0;
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

/**
 * A token endpoint on loopback, and a provider that accepts only its latest token.
 * @module
 */
import { Buffer } from "node:buffer";
import { createVerify, type KeyObject } from "node:crypto";
import type { TraceEntry } from "../../mod.ts";
import type { Stage } from "./_failover.ts";
import { nextRsaPair } from "./_rsa.ts";
import { type Scenery, scenery } from "./_transitions.ts";
import { type Behaviour, json, ok, type ReceivedRequest, type Script, startUpstream, status } from "./upstream.ts";

/** Keys of a service account: the signing key, and the public key of the vendor. */
export interface AccountKeys {
  readonly credentials: Readonly<Record<string, string>>;
  readonly publicKey: KeyObject;
}

/**
 * Creates a service account.
 *
 * @param tokenUrl URL of its token endpoint.
 */
export function makeAccount(tokenUrl: string): AccountKeys {
  const { publicKey, privateKey } = nextRsaPair();
  const credentials = {
    type: "service_account",
    client_email: "robot@project.example",
    private_key_id: "canary-key-id-0123456789",
    private_key: privateKey,
    token_uri: tokenUrl,
  };
  return { credentials, publicKey };
}

/** Content of an assertion, and whether its signature is valid. */
export interface ReadAssertion {
  readonly header: Readonly<Record<string, unknown>>;
  // deno-lint-ignore no-explicit-any -- tests look into it as they please
  readonly claims: any;
  readonly isGenuine: boolean;
}

/** Verifies an assertion as a vendor does. */
export function readAssertion(assertion: string, publicKey: KeyObject): ReadAssertion {
  const [header = "", claims = "", signature = ""] = assertion.split(".");
  const parse = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString());
  const verifier = createVerify("RSA-SHA256").update(`${header}.${claims}`);
  return {
    header: parse(header),
    claims: parse(claims),
    isGenuine: verifier.verify(publicKey, Buffer.from(signature, "base64url")),
  };
}

/** A running token endpoint. */
export interface TokenEndpoint extends AsyncDisposable {
  /** Its URL. */
  readonly url: string;
  /** Number of requests. */
  readonly calls: number;
  /** Forms received, oldest first. */
  readonly forms: readonly Record<string, string>[];
  /** Resolves with the n-th request, starting at 1. */
  received(number: number): Promise<ReceivedRequest>;
  /** The latest token. */
  readonly token: string;
  /** Changes its behaviour. */
  follow(script: Script): void;
}

/** Returns the form of a request. */
export function createForm({ body }: Pick<ReceivedRequest, "body">): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(body));
}

/**
 * Starts a token endpoint. Tokens are numbered, and valid for an hour by default.
 *
 * @param members Members of each response, which override the usual ones.
 * @param check Rejects a form by returning an error code.
 */
export async function startTokenEndpoint(
  members: Readonly<Record<string, unknown>> = {},
  check: (form: Record<string, string>) => string | undefined = () => undefined,
): Promise<TokenEndpoint> {
  let count = 0;
  const give = (request: ReceivedRequest): Behaviour => {
    const error = check(createForm(request));
    if (error !== undefined) return status(400, { json: { error, error_description: request.body } });
    count++;
    return json({ access_token: tokenAt(count), token_type: "Bearer", expires_in: 3600, ...members });
  };
  const server = await startUpstream(give);
  return {
    url: `http://127.0.0.1:${server.port}/token`,
    get calls() {
      return server.calls;
    },
    get forms() {
      return server.requests.map(createForm);
    },
    received: (number) => server.received(number),
    get token() {
      return tokenAt(count);
    },
    follow: (script) => server.follow(script),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** Returns the n-th token of an endpoint, starting at 1. */
export function tokenAt(number: number): string {
  return `canary-token-${number}-0123456789`;
}

/** A provider that rejects any other token with 401, and echoes it. */
export function guarded(
  endpoint: () => Pick<TokenEndpoint, "token">,
): (request: ReceivedRequest) => Behaviour {
  return (request) => {
    const value = request.headers.authorization ?? "none";
    if (value === `Bearer ${endpoint().token}`) return ok({ text: "from a" });
    return status(401, { error: { code: "invalid_api_key", message: `Wrong: ${value}` } });
  };
}

/** Credentials of a client that may request tokens. */
export const client = { client_id: "the-client", client_secret: "canary-secret-0123456789" };
/** A provider `a` with tokens, and `b` as its fallback with an API key. */
export function cast(
  auth: Readonly<Record<string, unknown>>,
  a: Script,
  { provider, ...options }: Scenery = {},
): Promise<Stage> {
  const entry = { api_key: undefined, auth: { method: "oauth", ...auth }, ...provider };
  return scenery({ a, b: ok({ text: "from b" }) }, { ...options, provider: entry });
}

/** Starts the same with a provider `a` that accepts only the endpoint's latest token. */
export function guardedCast(endpoint: TokenEndpoint, options: Scenery = {}): Promise<Stage> {
  return cast({ token_url: endpoint.url, ...client }, guarded(() => endpoint), options);
}

/** Returns all traces from now on. */
export function listTraces({ proxy }: Stage): TraceEntry[] {
  const traces: TraceEntry[] = [];
  proxy.mesh.addSink({ emit() {}, trace: (entry) => traces.push(entry), flush: () => Promise.resolve() });
  return traces;
}

/**
 * A token endpoint on loopback, and a provider that takes no other token than the one it gave last.
 * @module
 */
import { Buffer } from "node:buffer";
import { createVerify, type KeyObject } from "node:crypto";
import type { TraceEntry } from "../../mod.ts";
import type { Stage } from "./_failover.ts";
import { nextRsaPair } from "./_rsa.ts";
import { type Scenery, scenery } from "./_transitions.ts";
import { type Behaviour, json, ok, type ReceivedRequest, type Script, startUpstream, status } from "./upstream.ts";

/** A service account's keys: what signs, and what a vendor keeps. */
export interface AccountKeys {
  readonly credentials: Readonly<Record<string, string>>;
  readonly publicKey: KeyObject;
}

/**
 * Makes a service account.
 *
 * @param tokenUrl Where its tokens are fetched.
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

/** What an assertion says, and whether its signature holds. */
export interface ReadAssertion {
  readonly header: Readonly<Record<string, unknown>>;
  // deno-lint-ignore no-explicit-any -- tests look into it as they please
  readonly claims: any;
  readonly isGenuine: boolean;
}

/** Reads an assertion as a vendor does. */
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

/** A token endpoint that runs. */
export interface TokenEndpoint extends AsyncDisposable {
  /** Where tokens are fetched. */
  readonly url: string;
  /** How many were asked for. */
  readonly calls: number;
  /** What came, oldest first. */
  readonly forms: readonly Record<string, string>[];
  /** The n-th request (from 1), once it has arrived. */
  received(number: number): Promise<ReceivedRequest>;
  /** The token it gave last. */
  readonly token: string;
  /** Behaves differently from now on. */
  follow(script: Script): void;
}

/** The form that came. */
export function formOf({ body }: Pick<ReceivedRequest, "body">): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(body));
}

/**
 * Starts a token endpoint. Tokens are numbered and good for an hour unless said.
 *
 * @param members Of each answer, beside or in place of the usual ones.
 * @param check Refuses a form by returning an error's code.
 */
export async function startTokenEndpoint(
  members: Readonly<Record<string, unknown>> = {},
  check: (form: Record<string, string>) => string | undefined = () => undefined,
): Promise<TokenEndpoint> {
  let count = 0;
  const give = (request: ReceivedRequest): Behaviour => {
    const error = check(formOf(request));
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
      return server.requests.map(formOf);
    },
    received: (number) => server.received(number),
    get token() {
      return tokenAt(count);
    },
    follow: (script) => server.follow(script),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** The n-th token that an endpoint gives, from 1. */
export function tokenAt(number: number): string {
  return `canary-token-${number}-0123456789`;
}

/** A provider that answers a token other than the given one by 401, and echoes it. */
export function guarded(
  endpoint: () => Pick<TokenEndpoint, "token">,
): (request: ReceivedRequest) => Behaviour {
  return (request) => {
    const given = request.headers.authorization ?? "none";
    if (given === `Bearer ${endpoint().token}`) return ok({ text: "from a" });
    return status(401, { error: { code: "invalid_api_key", message: `Wrong: ${given}` } });
  };
}

/** A client that may ask for tokens. */
export const client = { client_id: "the-client", client_secret: "canary-secret-0123456789" };
/** A provider `a` with tokens, and `b` behind it with a key. */
export function cast(
  auth: Readonly<Record<string, unknown>>,
  a: Script,
  { provider, ...options }: Scenery = {},
): Promise<Stage> {
  const entry = { api_key: undefined, auth: { method: "oauth", ...auth }, ...provider };
  return scenery({ a, b: ok({ text: "from b" }) }, { ...options, provider: entry });
}

/** The same, the token endpoint's last token the only one that `a` takes. */
export function guardedCast(endpoint: TokenEndpoint, options: Scenery = {}): Promise<Stage> {
  return cast({ token_url: endpoint.url, ...client }, guarded(() => endpoint), options);
}

/** Every note from now on. */
export function tracesOf({ proxy }: Stage): TraceEntry[] {
  const traces: TraceEntry[] = [];
  proxy.mesh.addSink({ emit() {}, trace: (entry) => traces.push(entry), flush: () => Promise.resolve() });
  return traces;
}

/**
 * Access tokens of Google: for a service account, for somebody's refresh token, or given as they are.
 * @module
 */
import { ConfigError, ConnectorError } from "../../src/errors.ts";
import { derOf, signedJwt, signingKey } from "../../src/util/jwt.ts";
import { TokenCache } from "../../src/util/token_cache.ts";
import { callRemote, type RemoteRuntime, textSetting } from "./_remote.ts";

const scope = "https://www.googleapis.com/auth/drive";
const tokenUrl = "https://oauth2.googleapis.com/token";

/** Gives a token that holds. */
export type GiveToken = () => Promise<string>;

/**
 * Reads who asks for the token from a connector's settings: `access_token`; `client_id`, `client_secret` and
 * `refresh_token`; or `credentials`, the JSON key of a service account. `token_url` replaces Google's own.
 *
 * @param id The connector's, for errors.
 * @param settings All of its settings.
 * @param runtime Clock and HTTP.
 * @throws {ConfigError} When there is none of them.
 */
export function googleToken(
  id: string,
  settings: Readonly<Record<string, unknown>>,
  runtime: RemoteRuntime,
): GiveToken {
  const given = textSetting(settings, "access_token");
  if (given !== undefined) return () => Promise.resolve(given);
  const form = formOf(settings, runtime);
  const tokens = new TokenCache(async () => {
    const [url, body] = await form();
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const answer = await callRemote(id, runtime, { method: "POST", url, headers, body: body.toString() });
    const { access_token, expires_in } = answer.status === 200
      ? JSON.parse(new TextDecoder().decode(answer.bytes))
      : {};
    if (typeof access_token !== "string") throw refusal(id, answer.status);
    return { value: access_token, lifetimeMs: (Number(expires_in) || 0) * 1000 };
  }, runtime.clock);
  return () => tokens.get();
}

type Form = () => Promise<readonly [url: string, body: URLSearchParams]>;

function formOf(settings: Readonly<Record<string, unknown>>, { clock }: RemoteRuntime): Form {
  const text = (name: string) => textSetting(settings, name);
  const refresh_token = text("refresh_token");
  if (refresh_token !== undefined) {
    const [client_id = "", client_secret = ""] = [text("client_id"), text("client_secret")];
    const body = new URLSearchParams({ grant_type: "refresh_token", client_id, client_secret, refresh_token });
    return () => Promise.resolve([text("token_url") ?? tokenUrl, body] as const);
  }
  const { client_email: iss, private_key, token_uri } = credentialsOf(settings.credentials);
  const url = text("token_url") ?? token_uri ?? tokenUrl;
  return async () => {
    const iat = Math.floor(clock.now() / 1000);
    const assertion = await signed({ iss, scope, aud: url, iat, exp: iat + 3600 }, private_key);
    return [url, new URLSearchParams({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion })];
  };
}

interface ServiceAccount {
  readonly client_email: string;
  readonly private_key: string;
  readonly token_uri?: string;
}

function credentialsOf(given: unknown): ServiceAccount {
  let found: Partial<Record<string, unknown>> = {};
  try {
    found = Object(typeof given === "string" ? JSON.parse(given) : given);
  } catch {
    // said below: the text may be the key itself
  }
  const { client_email, private_key, token_uri } = found;
  if (typeof client_email === "string" && typeof private_key === "string") {
    return { client_email, private_key, ...(typeof token_uri === "string" ? { token_uri } : {}) };
  }
  throw new ConfigError([{
    path: "storage.credentials",
    message: "expected the JSON key of a service account (or refresh_token with client_id and client_secret, or " +
      "access_token)",
  }]);
}

/** A JSON Web Token, as RFC 7523 has it. */
async function signed(claims: object, privateKey: string): Promise<string> {
  try {
    return await signedJwt(claims, await signingKey(derOf(privateKey)));
  } catch {
    throw new ConfigError([{ path: "storage.credentials", message: "its private_key is no key in PKCS#8" }]);
  }
}

function refusal(id: string, status: number): ConnectorError {
  const advice = "Check storage.credentials, or storage.refresh_token with its client";
  const message = `"${id}" was given no access token (status ${status}). ${advice}`;
  return new ConnectorError(message, undefined, status < 500 ? "forbidden" : undefined);
}

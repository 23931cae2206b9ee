/**
 * Google access tokens: from a service account, from a refresh token, or configured.
 * @module
 */
import { ConfigError, ConnectorError } from "../../src/errors.ts";
import { assertionSigner, readServiceAccount, type ServiceAccount } from "../../src/util/service_account.ts";
import { TokenCache } from "../../src/util/token_cache.ts";
import { textSetting } from "./_attributes.ts";
import { callRemote, type RemoteRuntime } from "./_remote.ts";

const scope = "https://www.googleapis.com/auth/drive";
const tokenUrl = "https://oauth2.googleapis.com/token";

/** Returns a valid token. */
export type GetToken = () => Promise<string>;

/**
 * Creates a token source from a connector's settings: `access_token`; `client_id`, `client_secret` and `refresh_token`;
 * or `credentials`, the JSON key of a service account. `token_url` overrides Google's URL.
 *
 * @param id The connector id, for error messages.
 * @param settings All settings of the connector.
 * @param runtime Clock and HTTP.
 * @throws {ConfigError} If no credentials are configured.
 */
export function googleToken(
  id: string,
  settings: Readonly<Record<string, unknown>>,
  runtime: RemoteRuntime,
): GetToken {
  const token = textSetting(settings, "access_token");
  if (token !== undefined) return () => Promise.resolve(token);
  const form = createTokenForm(settings, runtime);
  const tokens = new TokenCache(async () => {
    const [url, body] = await form();
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const response = await callRemote(id, runtime, { method: "POST", url, headers, body: body.toString() });
    const { access_token, expires_in } = response.status === 200
      ? JSON.parse(new TextDecoder().decode(response.bytes))
      : {};
    if (typeof access_token !== "string") throw createGoogleRefusal(id, response.status);
    runtime.addSecret?.(access_token);
    return { value: access_token, lifetimeMs: (Number(expires_in) || 0) * 1000 };
  }, runtime.clock);
  return () => tokens.get();
}

function createTokenForm(
  settings: Readonly<Record<string, unknown>>,
  { clock }: RemoteRuntime,
): () => Promise<readonly [url: string, body: URLSearchParams]> {
  const text = (name: string) => textSetting(settings, name);
  const refresh_token = text("refresh_token");
  if (refresh_token !== undefined) {
    const [client_id = "", client_secret = ""] = [text("client_id"), text("client_secret")];
    const body = new URLSearchParams({ grant_type: "refresh_token", client_id, client_secret, refresh_token });
    return () => Promise.resolve([text("token_url") ?? tokenUrl, body] as const);
  }
  const account = readAccount(settings.credentials);
  const url = text("token_url") ?? account.tokenUrl ?? tokenUrl;
  const sign = assertionSigner(account, { audience: url, scope });
  return async () => {
    const assertion = await sign(clock.now()).catch(() => failCredentials("its private_key is not an RSA key"));
    return [url, new URLSearchParams({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion })];
  };
}

function readAccount(credentials: unknown): ServiceAccount {
  const isGiven = typeof credentials === "string" || typeof credentials === "object" && credentials !== null;
  if (!isGiven) {
    return failCredentials(
      "expected the JSON key of a service account (or refresh_token with client_id and client_secret, or access_token)",
    );
  }
  try {
    return readServiceAccount(credentials as string | Readonly<Record<string, unknown>>);
  } catch (error) {
    return failCredentials((error as TypeError).message);
  }
}

function failCredentials(message: string): never {
  throw new ConfigError([{ path: "storage.credentials", message }]);
}

function createGoogleRefusal(id: string, status: number): ConnectorError {
  const advice = "Check storage.credentials, or storage.refresh_token with its client";
  const message = `"${id}" did not receive an access token (status ${status}). ${advice}`;
  return new ConnectorError(message, undefined, status < 500 ? "forbidden" : undefined);
}

/**
 * OAuth grants: client credentials and refresh token (RFC 6749), and JWT assertions signed by a service account (RFC
 * 7523). A token request (RFC 6749, section 5) is one form POST with one JSON response. Error messages contain no
 * secrets.
 * @module
 */
import type { TokenSettings } from "../config/settings/settings.ts";
import type { FailureKind } from "../contracts/provider.ts";
import type { Clock, Runtime, UpstreamResponse } from "../contracts/runtime.ts";
import { MeshError, UpstreamError } from "../errors.ts";
import { readBody } from "../util/bytes.ts";
import { assertionSigner, readServiceAccount } from "../util/service_account.ts";
import { untilAborted } from "../util/until_aborted.ts";

/** Fetches an access token. Throws an `UpstreamError`. */
export type Grant = () => Promise<FetchedToken>;

/** The grant that the settings configure. */
export function createGrant(settings: TokenSettings, runtime: Runtime): Grant {
  return settings.method === "oauth" ? oauth(settings, runtime) : serviceAccount(settings, runtime);
}

function oauth({ tokenUrl, clientId, clientSecret, refreshToken, scope }: TokenSettings, runtime: Runtime): Grant {
  const client = { client_id: clientId, client_secret: clientSecret, scope };
  let refresh = refreshToken;
  return async () => {
    const form = refresh === undefined
      ? { grant_type: "client_credentials", ...client }
      : { grant_type: "refresh_token", refresh_token: refresh, ...client };
    const token = await fetchToken(tokenUrl!, form, runtime);
    if (refresh !== undefined) refresh = token.refreshToken ?? refresh; // some refresh tokens are valid only once
    return token;
  };
}

function serviceAccount({ credentials, tokenUrl, scope }: TokenSettings, runtime: Runtime): Grant {
  const account = readServiceAccount(credentials!);
  const url = tokenUrl ?? account.tokenUrl!;
  const sign = assertionSigner(account, { audience: account.tokenUrl ?? url, scope, subject: account.clientEmail });
  const { clock }: { clock: Clock } = runtime;
  return async () => {
    const assertion = await sign(clock.now()).catch(() => {
      throw new UpstreamError("The service account's private key cannot be used: it is not an RSA key", {
        kind: "auth",
      });
    });
    return await fetchToken(url, { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion }, runtime);
  };
}

/** Timeout of a token request, ms. */
const maxWaitMs = 10_000;

/** Maximum size of a response, bytes; a token takes a few kilobytes at most. */
const maxResponseBytes = 64 * 1024;

interface FetchedToken {
  readonly value: string;
  /** Lifetime of the token, ms; undefined if the endpoint reports none. */
  readonly lifetimeMs?: number;
  /** The refresh token to use from now on, if it was rotated. */
  readonly refreshToken?: string;
}

/**
 * Fetches a token with one POST request.
 *
 * @throws {UpstreamError} `server` or `network` if a retry may help; `auth` if the endpoint rejects the credentials;
 * `invalid_response` if the response contains no token.
 */
async function fetchToken(
  url: string,
  form: Readonly<Record<string, string | undefined>>,
  runtime: Runtime,
): Promise<FetchedToken> {
  const controller = new AbortController();
  const cancel = runtime.clock.after(
    maxWaitMs,
    () => controller.abort(failure("server", `did not respond within ${maxWaitMs} ms`)),
  );
  try {
    return await untilAborted(requestToken(url, form, { runtime, signal: controller.signal }), controller.signal);
  } catch (error) {
    if (UpstreamError.isInstance(error)) throw error;
    throw failure("network", MeshError.isInstance(error) ? "cannot be reached" : "broke off its response");
  } finally {
    cancel();
    controller.abort(); // frees the socket of a response that is not read to its end
  }
}

async function requestToken(
  url: string,
  form: Readonly<Record<string, string | undefined>>,
  { runtime, signal }: { readonly runtime: Runtime; readonly signal: AbortSignal },
): Promise<FetchedToken> {
  const fields = Object.entries(form).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const response = await runtime.send({
    url,
    headers: { "content-type": "application/x-www-form-urlencoded", "accept": "application/json" },
    body: new URLSearchParams(fields).toString(),
    signal,
    isNonStreaming: true,
  });
  const body = await readTokenJson(response);
  if (response.status >= 200 && response.status <= 299) return tokenIn(body);
  throw createTokenRefusal(response, body);
}

function tokenIn({ access_token, expires_in, refresh_token }: Readonly<Record<string, unknown>>): FetchedToken {
  // the token becomes a header value unchanged
  if (typeof access_token !== "string" || !/^[\x21-\x7e]+$/.test(access_token)) {
    throw failure("invalid_response", "answered without a token");
  }
  const seconds = Number(expires_in ?? NaN);
  return {
    value: access_token,
    ...(seconds >= 0 ? { lifetimeMs: seconds * 1000 } : {}),
    ...(typeof refresh_token === "string" && refresh_token !== "" ? { refreshToken: refresh_token } : {}),
  };
}

function createTokenRefusal({ status }: UpstreamResponse, { error }: Readonly<Record<string, unknown>>): UpstreamError {
  const code = typeof error === "string" && /^[a-z_]{1,40}$/.test(error) ? ` ${error}` : "";
  if (status >= 500 || status === 408 || status === 429) return failure("server", `answered ${status}${code}`);
  if (status < 400) return failure("misconfigured", `answered ${status}: its URL is probably wrong`);
  return failure("auth", `refused the credentials configured for it: ${status}${code}`);
}

function failure(kind: FailureKind, what: string): UpstreamError {
  return new UpstreamError(`The token endpoint ${what}`, { kind });
}

async function readTokenJson(response: UpstreamResponse): Promise<Readonly<Record<string, unknown>>> {
  const tooLarge = () => failure("invalid_response", `answered with more than ${maxResponseBytes} bytes`);
  const bytes = await readBody(response, { maxBytes: maxResponseBytes, tooLarge });
  try {
    const value = JSON.parse(new TextDecoder().decode(bytes));
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {}; // only its status matters: a response without a token is rejected anyway
  }
}

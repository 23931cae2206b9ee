/**
 * OAuth grants: client credentials and refresh token (RFC 6749), and JWT assertions signed by a service account (RFC
 * 7523). A token request (RFC 6749, section 5) is one form POST with one JSON response. Error messages contain no
 * secrets.
 * @module
 */
import type { TokenSettings } from "../config/settings/settings.ts";
import type { TokenGrant } from "../contracts/connector.ts";
import type { FailureKind } from "../contracts/provider.ts";
import type { Clock, Runtime } from "../contracts/runtime.ts";
import { UpstreamError } from "../errors.ts";
import type { Redactor } from "../observe/redact.ts";
import { callIssuer, isHeaderText, IssuerError, type IssuerResponse, parseMembers } from "../util/call_issuer.ts";
import { assertionSigner, readServiceAccount } from "../util/service_account.ts";

/** Token settings of a grant. */
type GrantSettings = TokenSettings & { readonly method: "oauth" | "service_account" };

/**
 * The grant that the settings configure.
 *
 * @param redactor Receives its secrets, so that records do not contain them.
 */
export function createGrant(
  settings: GrantSettings,
  { runtime, redactor }: { readonly runtime: Runtime; readonly redactor: Redactor },
): TokenGrant {
  for (const secret of collectSecrets(settings)) redactor.add(secret);
  const grant = settings.method === "oauth" ? oauth(settings, runtime) : serviceAccount(settings, runtime);
  return async () => {
    const token = await grant();
    if (token.refreshToken !== undefined) redactor.addToken(token.refreshToken);
    return token;
  };
}

/** Fetches a token. Throws an `UpstreamError`. */
type Grant = () => Promise<FetchedToken>;

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

interface FetchedToken {
  readonly value: string;
  /** Lifetime of the token, ms; undefined if the endpoint reports none. */
  readonly lifetimeMs?: number;
  /** The refresh token to use from now on, if it was rotated. */
  readonly refreshToken?: string;
}

const endpoint = "The token endpoint";

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
  const fields = Object.entries(form).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const response = await callIssuer({
    endpoint,
    url,
    headers: { "content-type": "application/x-www-form-urlencoded", "accept": "application/json" },
    body: new URLSearchParams(fields).toString(),
  }, runtime);
  const body = parseMembers(response.text) ?? {}; // of an error, only the status matters
  if (response.status >= 200 && response.status <= 299) return tokenIn(body);
  throw createTokenRefusal(response, body);
}

function tokenIn({ access_token, expires_in, refresh_token }: Readonly<Record<string, unknown>>): FetchedToken {
  if (!isHeaderText(access_token)) throw failure("invalid_response", "answered without a token");
  const seconds = Number(expires_in ?? NaN);
  return {
    value: access_token,
    ...(seconds >= 0 ? { lifetimeMs: seconds * 1000 } : {}),
    ...(typeof refresh_token === "string" && refresh_token !== "" ? { refreshToken: refresh_token } : {}),
  };
}

function createTokenRefusal(
  { status }: IssuerResponse,
  { error }: Readonly<Record<string, unknown>>,
): IssuerError {
  const code = typeof error === "string" && /^[a-z_]{1,40}$/.test(error) ? ` ${error}` : "";
  if (status >= 500 || status === 408 || status === 429) return failure("server", `answered ${status}${code}`);
  if (status < 400) return failure("misconfigured", `answered ${status}: its URL is probably wrong`);
  return failure("auth", `refused the credentials configured for it: ${status}${code}`);
}

function failure(kind: FailureKind, what: string): IssuerError {
  return new IssuerError(endpoint, what, kind);
}

/** Every secret in the token settings, in every form in which it might be quoted. */
function collectSecrets({ clientSecret, refreshToken, credentials }: TokenSettings): string[] {
  const isText = typeof credentials === "string";
  const account = (isText ? JSON.parse(credentials) : credentials ?? {}) as Readonly<Record<string, unknown>>;
  const { private_key: key, private_key_id: keyId } = account;
  // a PEM key may be quoted line by line
  const lines = typeof key === "string" ? [key, ...key.split(/\r?\n/).filter((line) => !line.startsWith("---"))] : [];
  return [clientSecret, refreshToken, isText ? credentials : undefined, keyId, ...lines]
    .filter((secret): secret is string => typeof secret === "string");
}

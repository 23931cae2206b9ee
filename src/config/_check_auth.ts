/**
 * How calls are authenticated: what belongs together, and what cannot be.
 * @module
 */
import { serviceAccountProblem } from "./service_account.ts";
import { baseUrlProblem, credentialProblem, isLoopback } from "./_checks.ts";
import { quoted, type Report } from "./_report.ts";
import { referencesIn } from "./references.ts";
import type { AuthValues, ProviderValues } from "./schema_providers.ts";
import type { TokenSettings } from "./settings.ts";

/** The keys of `auth` that a method reads. */
const keysOf: Readonly<Record<NonNullable<AuthValues["method"]>, readonly (keyof AuthValues)[]>> = {
  api_key: ["api_key", "key_rotation"],
  oauth: ["token_url", "client_id", "client_secret", "refresh_token", "scope"],
  service_account: ["credentials", "token_url", "scope"],
};

/**
 * How tokens are fetched.
 *
 * @param auth As read.
 * @returns Undefined for a provider with keys, or none.
 */
export function tokensOf({ method = "api_key", ...auth }: AuthValues = {}): TokenSettings | undefined {
  if (method === "api_key") return undefined;
  const { token_url, client_id, client_secret, refresh_token, scope, credentials } = auth;
  return {
    method,
    tokenUrl: token_url,
    clientId: client_id,
    clientSecret: client_secret,
    refreshToken: refresh_token,
    scope,
    credentials,
  };
}

/**
 * Reports what of a provider's credentials does not go together.
 *
 * @param value The provider, as read.
 * @param path Where it stands.
 * @param report Where problems go.
 */
export function checkAuth({ api_key, auth = {} }: ProviderValues, path: string, report: Report): void {
  const { method = "api_key" } = auth;
  if (report.isBlamed(`${path}.auth.method`)) return;
  for (const key of Object.keys(auth) as (keyof AuthValues)[]) {
    if (key === "method" || keysOf[method].includes(key)) continue;
    const others = Object.keys(keysOf).filter((other) => keysOf[other as keyof typeof keysOf].includes(key));
    const hint = auth.method === undefined ? `say which with "auth.method"` : `"auth.method" is "${method}"`;
    report.problem(`${path}.auth.${key}`, `belongs to the method ${quoted(others)}: ${hint}`);
  }
  if (method !== "api_key") {
    if (api_key !== undefined) {
      report.problem(`${path}.api_key`, `is not used when "auth.method" is "${method}": leave it out`);
    }
    checkGrant(auth, `${path}.auth`, report);
  } else {checkKeys(
      api_key ?? auth.api_key,
      auth,
      { path, keys: api_key === undefined ? "auth.api_key" : "api_key" },
      report,
    );}
}

/**
 * Reports what is wrong with tokens once the secrets are known.
 *
 * @param tokens How they are fetched.
 * @param path Where that stands.
 * @param report Where problems go.
 */
export function checkTokens(tokens: TokenSettings, path: string, report: Report): void {
  const { tokenUrl, clientSecret, refreshToken, credentials } = tokens;
  const blame = (key: string, problem: string | undefined) =>
    problem === undefined ? undefined : report.problem(`${path}.${key}`, problem);
  if (tokenUrl !== undefined) blame("token_url", baseUrlProblem(tokenUrl));
  if (clientSecret !== undefined) blame("client_secret", credentialProblem(clientSecret));
  if (refreshToken !== undefined) blame("refresh_token", credentialProblem(refreshToken));
  if (credentials !== undefined) blame("credentials", serviceAccountProblem(credentials, tokenUrl !== undefined));
}

function checkGrant(auth: AuthValues, path: string, report: Report): void {
  const { method, token_url, client_id, client_secret, refresh_token, credentials } = auth;
  const demand = (key: keyof AuthValues, what: string) => {
    if (auth[key] !== undefined || report.isBlamed(`${path}.${key}`)) return;
    report.problem(`${path}.${key}`, `missing: ${what}`);
  };
  if (method === "service_account") demand("credentials", "the account's JSON key, best as a secret reference");
  else {
    demand("token_url", "the address where tokens are fetched");
    if (refresh_token === undefined && !report.isBlamed(`${path}.refresh_token`)) {
      demand("client_id", 'a client has an id and a secret, unless there is a "refresh_token"');
      demand("client_secret", 'a client has an id and a secret, unless there is a "refresh_token"');
    } else if (client_secret !== undefined) demand("client_id", '"client_secret" is that of a client');
    else if (client_id === undefined) {
      report.warn(
        `${path}.client_id`,
        "is missing: most vendors ask for the client that the refresh token was given to",
      );
    }
  }
  const isWritten = credentials !== undefined && !hasReferences(credentials);
  const problem = isWritten ? serviceAccountProblem(credentials, token_url !== undefined) : undefined;
  if (problem !== undefined) report.problem(`${path}.credentials`, problem);
  if (token_url !== undefined && isPlainHttp(token_url)) {
    report.warn(`${path}.token_url`, "sends secrets unencrypted: use https");
  }
}

function checkKeys(
  keys: readonly string[] | undefined,
  { key_rotation }: AuthValues,
  at: { readonly path: string; readonly keys: string },
  report: Report,
): void {
  keys?.forEach((key, place) => {
    const first = keys.indexOf(key);
    if (first < place) {
      report.problem(`${at.path}.${at.keys}[${place}]`, `is the same as [${first}]: give each key once`);
    }
  });
  const count = keys?.length ?? 0;
  if (key_rotation === false && count > 1) {
    report.problem(`${at.path}.auth.key_rotation`, `cannot be false with ${count} keys: a list implies rotation`);
  }
  if (key_rotation === true && count < 2 && !report.isBlamed(`${at.path}.${at.keys}`)) {
    report.warn(
      `${at.path}.auth.key_rotation`,
      `has no effect with ${count === 0 ? "no key" : "one key"}: give a list`,
    );
  }
}

/** Whether a text in it refers to a secret: then it can be looked at only once that is known. */
function hasReferences(credentials: NonNullable<TokenSettings["credentials"]>): boolean {
  return referencesIn(typeof credentials === "string" ? credentials : JSON.stringify(credentials)).names.length > 0;
}

function isPlainHttp(address: string): boolean {
  if (!/^http:/i.test(address)) return false;
  const host = /^http:\/\/(\[[^\]]*\]|[^/:?#]*)/i.exec(address)?.[1] ?? "";
  return !isLoopback(host.toLowerCase());
}

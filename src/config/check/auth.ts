/**
 * Checks the authentication settings of a provider.
 * @module
 */
import { readServiceAccount } from "../../util/service_account.ts";
import { baseUrlProblem, baseUrlWarning, credentialProblem } from "../schema/formats.ts";
import { quoted, type Report, show, under } from "../schema/report.ts";
import { referencesIn } from "../schema/references.ts";
import type { Completed } from "../schema/complete.ts";
import { type AuthValues, provider, type ProviderValues } from "../schema/providers.ts";
import type { KnownProvider } from "../settings/known.ts";
import type { TokenSettings } from "../settings/settings.ts";

/** The keys of `auth` that each method uses. */
const keysOf: Readonly<Record<NonNullable<AuthValues["method"]>, readonly (keyof AuthValues)[]>> = {
  api_key: ["api_key", "key_rotation"],
  oauth: ["token_url", "client_id", "client_secret", "refresh_token", "scope"],
  service_account: ["credentials", "token_url", "scope"],
  ambient: ["scope"],
};

/** How access tokens are fetched; undefined for a provider with API keys or without credentials. */
export function buildTokenSettings(auth: Completed<typeof provider.fields.auth>): TokenSettings | undefined {
  const { method, apiKey: _, keyRotation: __, ...settings } = auth;
  return method === "api_key" ? undefined : { method, ...settings };
}

/** Reports credentials that are mutually exclusive or incomplete. */
export function checkAuth({ api_key, credentials, auth = {} }: ProviderValues, path: string, report: Report): void {
  const { method = provider.fields.auth.fields.method.default } = auth;
  if (report.hasProblemAt(`${path}.auth.method`)) return;
  if (credentials === "header") checkCallerKeys({ api_key, auth }, path, report);
  for (const key of new Set(Object.values(keysOf).flat())) {
    if (auth[key] === undefined || keysOf[method].includes(key)) continue;
    const owners = Object.entries(keysOf).flatMap(([owner, keys]) => keys.includes(key) ? owner : []);
    const hint = auth.method === undefined ? 'set "auth.method"' : `"auth.method" is "${method}"`;
    report.problem(`${path}.auth.${key}`, `belongs to the method ${quoted(owners)}: ${hint}`);
  }
  if (method === "api_key") return checkKeys({ api_key, auth }, path, report);
  if (api_key !== undefined) {
    report.problem(`${path}.api_key`, `has no effect if "auth.method" is "${method}": remove it`);
  }
  if (method === "oauth") checkOAuth(auth, `${path}.auth`, report);
  else if (method === "service_account") checkAccount(auth, `${path}.auth`, report);
  const warning = auth.token_url === undefined ? undefined : baseUrlWarning(auth.token_url, true);
  if (warning !== undefined) report.warn(`${path}.auth.token_url`, warning);
}

/**
 * Reports the method `ambient` for a connector that has no identity of a machine, or for an instance.
 *
 * @param connector The entry's connector; undefined for an instance.
 */
export function checkAmbient(
  { auth }: ProviderValues,
  { path, connector, connectors }: {
    readonly path: string;
    readonly connector: KnownProvider | undefined;
    readonly connectors: readonly KnownProvider[];
  },
  report: Report,
): void {
  if (auth?.method !== "ambient") return;
  if (connector?.ambient === undefined) {
    const owners = connectors.flatMap(({ id, ambient }) => ambient === undefined ? [] : id);
    const hint = owners.length === 0 ? "no connector here has one" : `connectors with one: ${quoted(owners)}`;
    return report.problem(`${path}.auth.method`, `"ambient" needs the identity of a machine in a cloud; ${hint}`);
  }
  const hasTokens = connector.ambient.load !== undefined;
  if (auth.scope !== undefined && !hasTokens) report.warn(`${path}.auth.scope`, "has no effect: calls are signed");
}

/** Headers that are set otherwise, and what to do instead. */
const reservedHeaders: readonly (readonly [names: RegExp, instead: string])[] = [
  [/^authorization$/, 'carries the credentials: set "api_key", or "auth"'],
  [/^host$/, 'is that of "base_url": set that'],
  [/^proxy-authorization$/, "belongs to the outbound proxy: set user and password in HTTPS_PROXY"],
  [
    /^(?:connection|keep-alive|proxy-connection|te|upgrade)$/,
    "belongs to the connection, and is set by the HTTP client",
  ],
  [/^(?:content-(?:length|type|encoding)|transfer-encoding|trailer|expect)$/, "describes the body of each request"],
  [/^accept-encoding$/, "lists what the HTTP client decodes"],
  [/^trace(?:parent|state)$/, "is that of each request: it is forwarded, or created by the tracing sink"],
  [/^idempotency-key$/, "must differ between requests: with a fixed one, all of them would get the same response"],
];

/**
 * Reports headers that are set by other settings, by the connector or by the HTTP client, and invalid names.
 *
 * @param connector The entry's connector; undefined for an instance.
 */
export function checkHeaders(
  { headers = {} }: ProviderValues,
  { path, connector }: { readonly path: string; readonly connector: KnownProvider | undefined },
  report: Report,
): void {
  const names = new Map<string, string>();
  for (const name of Object.keys(headers)) {
    const problem = findNameProblem(name.toLowerCase(), connector);
    const other = names.get(name.toLowerCase());
    names.set(name.toLowerCase(), name);
    if (problem !== undefined) report.problem(under(`${path}.headers`, name), problem);
    else if (other !== undefined) {
      report.problem(under(`${path}.headers`, name), `is the same header as ${show(other)}`);
    }
  }
}

function findNameProblem(name: string, connector: KnownProvider | undefined): string | undefined {
  if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name)) {
    return "is not a header name: it has a character that names must not contain";
  }
  const isCredential = name === connector?.credentialHeader;
  const instead = reservedHeaders.find(([names]) => names.test(isCredential ? "authorization" : name))?.[1];
  return instead === undefined ? undefined : `cannot be set: it ${instead}`;
}

/** Reports credentials of requests that callers authorize with their own keys. */
function checkCallerKeys({ api_key, auth = {} }: ProviderValues, path: string, report: Report): void {
  if (auth.method !== undefined && auth.method !== "api_key") {
    report.problem(`${path}.auth.method`, `contradicts "credentials: header": callers send API keys`);
  }
  if ((api_key ?? auth.api_key ?? []).length < 2) return;
  const key = api_key === undefined ? "auth.api_key" : "api_key";
  report.problem(`${path}.${key}`, 'contradicts "credentials: header": one key, at most, lists the models');
}

/** Reports token settings that cannot work, with secrets resolved: an invalid URL or service account key. */
export function checkTokens(tokens: TokenSettings, path: string, report: Report): void {
  const { tokenUrl, clientSecret, refreshToken, credentials } = tokens;
  const blame = (key: string, problem: string | undefined) =>
    problem === undefined ? undefined : report.problem(`${path}.${key}`, problem);
  if (tokenUrl !== undefined) blame("token_url", baseUrlProblem(tokenUrl));
  if (clientSecret !== undefined) blame("client_secret", credentialProblem(clientSecret));
  if (refreshToken !== undefined) blame("refresh_token", credentialProblem(refreshToken));
  if (credentials !== undefined) blame("credentials", serviceAccountProblem(credentials, tokenUrl !== undefined));
}

function checkOAuth(auth: AuthValues, path: string, report: Report): void {
  const { client_id, client_secret, refresh_token } = auth;
  demand("token_url", "the URL of the token endpoint");
  if (refresh_token === undefined && !report.hasProblemAt(`${path}.refresh_token`)) {
    demand("client_id", 'a client needs an id and a secret, unless there is a "refresh_token"');
    demand("client_secret", 'a client needs an id and a secret, unless there is a "refresh_token"');
  } else if (client_secret !== undefined) demand("client_id", '"client_secret" belongs to a client');
  else if (client_id === undefined) {
    const hint = "most vendors require the client that the refresh token was issued to";
    report.warn(`${path}.client_id`, `is missing: ${hint}`);
  }

  function demand(key: keyof AuthValues, what: string): void {
    if (auth[key] !== undefined || report.hasProblemAt(`${path}.${key}`)) return;
    report.problem(`${path}.${key}`, `missing: ${what}`);
  }
}

function checkAccount({ credentials, token_url }: AuthValues, path: string, report: Report): void {
  const credentialsPath = `${path}.credentials`;
  if (credentials === undefined && !report.hasProblemAt(credentialsPath)) {
    report.problem(credentialsPath, "missing: the service account's JSON key, preferably as a secret reference");
  }
  if (credentials === undefined || hasReferences(credentials)) return; // validated when the secrets are resolved
  const problem = serviceAccountProblem(credentials, token_url !== undefined);
  if (problem !== undefined) report.problem(credentialsPath, problem);
}

function checkKeys({ api_key, auth = {} }: ProviderValues, path: string, report: Report): void {
  const keysPath = `${path}.${api_key === undefined ? "auth.api_key" : "api_key"}`;
  const keys = api_key ?? auth.api_key ?? [];
  keys.forEach((key, index) => {
    const first = keys.indexOf(key);
    if (first < index) report.problem(`${keysPath}[${index}]`, `is the same as [${first}]: list each key once`);
  });
  const rotation = `${path}.auth.key_rotation`;
  if (auth.key_rotation === false && keys.length > 1) {
    report.problem(rotation, `cannot be false with ${keys.length} keys: a list implies rotation`);
  }
}

function hasReferences(credentials: NonNullable<TokenSettings["credentials"]>): boolean {
  return referencesIn(typeof credentials === "string" ? credentials : JSON.stringify(credentials)).names.length > 0;
}

/** @param hasTokenUrl Whether the document sets a token URL, so that the key needs none. */
function serviceAccountProblem(
  credentials: string | Readonly<Record<string, unknown>>,
  hasTokenUrl: boolean,
): string | undefined {
  try {
    const { tokenUrl } = readServiceAccount(credentials);
    if (hasTokenUrl || tokenUrl !== undefined && /^https?:\/\/[^/\s]/i.test(tokenUrl)) return undefined;
    return 'has no URL in "token_uri": set it there or as "token_url"';
  } catch (error) {
    return (error as TypeError).message;
  }
}

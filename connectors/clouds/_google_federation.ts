/**
 * Workload identity federation: the token of another issuer, in a file or from a URL, is exchanged for one of Google, and
 * that, if configured, for one of a service account.
 *
 * Sources, read 2026-11-27: https://google.aip.dev/auth/4117, RFC 8693, and
 * https://cloud.google.com/iam/docs/reference/credentials/rest/v1/projects.serviceAccounts/generateAccessToken.
 * @module
 */
import type { IssuedToken } from "../../src/contracts/connector.ts";
import {
  callIssuer,
  checkIssued,
  isHeaderText,
  IssuerError,
  parseMembers,
  readIssuedJson,
} from "../../src/util/call_issuer.ts";
import { toBase64 } from "../../src/util/base64.ts";
import { isObject, objectOrEmpty } from "../../src/util/is_object.ts";
import { aheadMs, type CloudRuntime, readFile, toLifetimeMs } from "./_environment.ts";
import { postTokenForm, readUrl } from "./_google_tokens.ts";

const cloudScope = "https://www.googleapis.com/auth/cloud-platform";

const fileSubject = "The credentials file";

/**
 * Exchanges the token of a machine.
 *
 * @param credentials A file of the type `external_account`.
 * @param scope Scopes, separated by spaces.
 * @throws {IssuerError} If the token cannot be had, or is not accepted.
 */
export async function exchangeExternalToken(
  runtime: CloudRuntime,
  credentials: Readonly<Record<string, unknown>>,
  scope: string,
): Promise<IssuedToken> {
  const { client_id, client_secret, workforce_pool_user_project: userProject } = credentials;
  const impersonation = readUrl(credentials.service_account_impersonation_url);
  const headers = typeof client_id === "string" && typeof client_secret === "string"
    ? { authorization: `Basic ${toBase64(new TextEncoder().encode(`${client_id}:${client_secret}`))}` }
    : undefined;
  const isOfUser = headers === undefined && typeof userProject === "string";
  const form = {
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    audience: readText(credentials, "audience"),
    scope: impersonation === undefined ? scope : cloudScope,
    requested_token_type: "urn:ietf:params:oauth:token-type:access_token",
    subject_token: await readSubjectToken(runtime, credentials),
    subject_token_type: readText(credentials, "subject_token_type"),
    options: isOfUser ? JSON.stringify({ userProject }) : undefined,
  };
  const url = readUrl(credentials.token_url) ?? "https://sts.googleapis.com/v1/token";
  const token = await postTokenForm({ url, form, runtime, ...(headers && { headers }) });
  if (impersonation === undefined) return { ...token, aheadMs };
  const lifetime = objectOrEmpty(credentials.service_account_impersonation).token_lifetime_seconds;
  return await impersonate(runtime, { url: impersonation, token: token.value, scope, lifetime });
}

async function impersonate(runtime: CloudRuntime, { url, token, scope, lifetime }: {
  readonly url: string;
  readonly token: string;
  readonly scope: string;
  readonly lifetime: unknown;
}): Promise<IssuedToken> {
  const endpoint = "The service account";
  const seconds = typeof lifetime === "number" && lifetime > 0 ? Math.floor(lifetime) : 3_600;
  const response = await callIssuer({
    endpoint,
    url,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ scope: scope.split(" "), lifetime: `${seconds}s` }),
  }, runtime);
  const { accessToken: value, expireTime } = readIssuedJson({ endpoint }, response);
  const lifetimeMs = toLifetimeMs(expireTime, response.headers, runtime);
  if (!isHeaderText(value) || lifetimeMs === undefined) {
    throw new IssuerError(endpoint, "returned no access token", "invalid_response");
  }
  runtime.addSecret?.(value);
  return { value, lifetimeMs, aheadMs };
}

/** The token of the other issuer. It is read each time, since it is replaced. */
async function readSubjectToken(
  runtime: CloudRuntime,
  credentials: Readonly<Record<string, unknown>>,
): Promise<string> {
  const source = credentials.credential_source;
  if (!isObject(source) || source.environment_id !== undefined || source.executable !== undefined) {
    const reason = 'has a "credential_source" that is neither a file nor a URL';
    throw new IssuerError(fileSubject, reason, "misconfigured");
  }
  const text = typeof source.file === "string"
    ? await readFile("The file with the token of this machine", { path: source.file, runtime })
    : await fetchSubjectToken(runtime, source);
  const token = readFormatted(text, source.format);
  runtime.addSecret?.(token);
  return token;
}

async function fetchSubjectToken(runtime: CloudRuntime, source: Readonly<Record<string, unknown>>): Promise<string> {
  const endpoint = "The endpoint for the token of this machine";
  const url = readUrl(source.url);
  if (url === undefined) {
    throw new IssuerError(fileSubject, 'has a "credential_source" without a file or a URL', "misconfigured");
  }
  const headers = Object.fromEntries(
    Object.entries(objectOrEmpty(source.headers)).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
  const isLocal = url.startsWith("http:");
  const response = await callIssuer(
    { endpoint, url, method: "GET", headers, maxWaitMs: 5_000, tries: 3, isLocal },
    runtime,
  );
  checkIssued(endpoint, response);
  return response.text.trim();
}

function readFormatted(text: string, format: unknown): string {
  const { type, subject_token_field_name: name } = objectOrEmpty(format);
  const token = type === "json" ? parseMembers(text)?.[String(name)] : text;
  if (isHeaderText(token)) return token;
  throw new IssuerError(
    "The token of this machine",
    "has another form than the credentials file says",
    "invalid_response",
  );
}

function readText(credentials: Readonly<Record<string, unknown>>, name: string): string {
  const value = credentials[name];
  if (typeof value === "string" && value !== "") return value;
  throw new IssuerError(fileSubject, `has no "${name}"`, "misconfigured");
}

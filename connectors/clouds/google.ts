/**
 * Google access tokens: of a credentials file (a service account, a user, workload identity federation), or of the
 * metadata server of the machine.
 *
 * Sources, read 2026-11-27: https://google.aip.dev/auth/4110, /4112 (user credentials), /4115 (metadata server), /4117
 * (external accounts), https://cloud.google.com/iam/docs/workload-identity-federation-with-other-providers.
 * @module
 */
import type { IssuedToken, TokenGrant } from "../../src/contracts/connector.ts";
import { callIssuer, IssuerError, parseMembers } from "../../src/util/call_issuer.ts";
import { assertionSigner, readServiceAccount } from "../../src/util/service_account.ts";
import { stripTrailing } from "../../src/util/strip_trailing.ts";
import { aheadMs, type CloudRuntime, findVariable, readFile } from "./_environment.ts";
import { postTokenForm, readIssuedToken, readUrl, type TokenRequest } from "./_google_tokens.ts";

const defaultTokenUrl = "https://oauth2.googleapis.com/token";

/** Number of tries of a call. */
const tries = 3;

/** Time limit of a call to the metadata server, ms. */
const metadataLimitMs = 5_000;

/** A credentials file in the format of Google's tools. */
type GoogleCredentials = Readonly<Record<string, unknown>>;

/**
 * Creates a source of access tokens.
 *
 * @param scope Scopes, separated by spaces.
 * @param path Path of the credentials file. Defaults to `GOOGLE_APPLICATION_CREDENTIALS`, then to the metadata server.
 */
export function createGoogleGrant(runtime: CloudRuntime, scope: string, path?: string): TokenGrant {
  return async () => {
    const credentials = await readGoogleCredentials(runtime, path);
    if (credentials === undefined) return await askMetadata(runtime);
    if (credentials.type === "external_account") {
      const { exchangeExternalToken } = await import("./_google_federation.ts");
      return await exchangeExternalToken(runtime, credentials, scope);
    }
    const form = credentials.type === "service_account"
      ? await createAssertion(credentials, { runtime, scope, path })
      : createRefresh(credentials);
    return await postTokenForm({ url: readUrl(credentials.token_uri) ?? defaultTokenUrl, form, runtime });
  };
}

/**
 * Reads the credentials file, each time, since it may be replaced.
 *
 * @returns Undefined if there is none.
 * @throws {IssuerError} If it cannot be read, or is of another type.
 */
export async function readGoogleCredentials(
  runtime: CloudRuntime,
  path: string | undefined = findVariable(runtime, "GOOGLE_APPLICATION_CREDENTIALS"),
): Promise<GoogleCredentials | undefined> {
  if (path === undefined) return undefined;
  const subject = `The credentials "${path}"`;
  const content = parseMembers(await readFile(subject, { path, runtime }).catch(() => ""));
  if (content === undefined) throw new IssuerError(subject, "cannot be read as JSON", "misconfigured");
  for (const name of ["private_key", "client_secret", "refresh_token"]) {
    const secret = content[name];
    if (typeof secret === "string") runtime.addSecret?.(secret);
  }
  const types = ["service_account", "authorized_user", "external_account"];
  if (types.includes(content.type as string)) return content;
  const reason = 'are neither of the type "service_account" nor "authorized_user" nor "external_account"';
  throw new IssuerError(subject, reason, "misconfigured");
}

/** The assertion grant, RFC 7523. */
async function createAssertion(
  credentials: GoogleCredentials,
  { runtime, scope, path }: {
    readonly runtime: CloudRuntime;
    readonly scope: string;
    readonly path: string | undefined;
  },
): Promise<TokenRequest["form"]> {
  const audience = readUrl(credentials.token_uri) ?? defaultTokenUrl;
  try {
    const sign = assertionSigner(readServiceAccount(credentials), { audience, scope });
    const assertion = await sign(runtime.clock.now());
    return { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion };
  } catch {
    const file = path ?? findVariable(runtime, "GOOGLE_APPLICATION_CREDENTIALS");
    throw new IssuerError(`The private key in "${file}"`, "cannot be read", "misconfigured");
  }
}

function createRefresh({ client_id, client_secret, refresh_token }: GoogleCredentials): TokenRequest["form"] {
  const text = (value: unknown) => typeof value === "string" ? value : "";
  return {
    grant_type: "refresh_token",
    client_id: text(client_id),
    client_secret: text(client_secret),
    refresh_token: text(refresh_token),
  };
}

async function askMetadata(runtime: CloudRuntime): Promise<IssuedToken> {
  const endpoint = "The metadata server of this machine";
  const host = findVariable(runtime, "GCE_METADATA_HOST") ?? "metadata.google.internal";
  const root = /^https?:\/\//i.test(host) ? stripTrailing(host, "/") : `http://${host}`;
  const response = await callIssuer({
    endpoint,
    url: `${root}/computeMetadata/v1/instance/service-accounts/default/token`,
    method: "GET",
    headers: { "metadata-flavor": "Google" },
    maxWaitMs: metadataLimitMs,
    tries,
    isLocal: true,
  }, runtime);
  if (response.status === 404) throw new IssuerError(endpoint, "knows no service account of this machine", "auth");
  return { ...readIssuedToken(endpoint, response, runtime), aheadMs };
}

/**
 * Access tokens of Microsoft Entra ID: of an application with a secret, of a workload with a token file (Kubernetes), or
 * of the managed identity of the machine (App Service and Container Apps, otherwise the instance metadata service).
 *
 * Sources, read 2026-11-27: https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow,
 * /azure/app-service/overview-managed-identity (REST endpoint), /entra/identity/managed-identities-azure-resources/
 * how-to-use-vm-token, and https://azure.github.io/azure-workload-identity/docs/.
 * @module
 */
import type { IssuedToken, TokenGrant } from "../../src/contracts/connector.ts";
import { callIssuer, isHeaderText, type IssuerCall, IssuerError, readIssuedJson } from "../../src/util/call_issuer.ts";
import { stripTrailing } from "../../src/util/strip_trailing.ts";
import { aheadMs, type CloudRuntime, findVariable, readTokenFile, toLifetimeMs } from "./_environment.ts";

/** Number of tries of a call to a managed identity's endpoint. */
const tries = 3;

/** Time limit of a call to a managed identity's endpoint, ms. */
const identityLimitMs = 5_000;

const metadataEndpoint = "The managed identity endpoint of this machine";

/** Settings that override the environment. */
export interface AzureIdentity {
  readonly tenant?: string | undefined;
  readonly client?: string | undefined;
  /** URL of the authority that issues tokens. */
  readonly authority?: string | undefined;
}

/**
 * Creates a source of access tokens.
 *
 * @param scope A scope that ends in `/.default`.
 */
export function createAzureGrant(runtime: CloudRuntime, scope: string, identity: AzureIdentity = {}): TokenGrant {
  return async () => {
    const variable = (name: string) => findVariable(runtime, name);
    const tenant = identity.tenant ?? variable("AZURE_TENANT_ID");
    const client = identity.client ?? variable("AZURE_CLIENT_ID");
    const authority = stripTrailing(
      identity.authority ?? variable("AZURE_AUTHORITY_HOST") ?? "https://login.microsoftonline.com",
      "/",
    );
    if (tenant !== undefined && client !== undefined) {
      const proof = await findProof(runtime);
      const url = `${authority}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`;
      if (proof !== undefined) return await requestToken(runtime, url, { client_id: client, scope, ...proof });
    }
    return await askManagedIdentity(runtime, { resource: scope.replace(/\/\.default$/, ""), client });
  };
}

/**
 * Whether the environment has an application's secret, or announces an identity of this machine.
 *
 * @param identity Settings that override it.
 */
export function hasAzureIdentity(runtime: CloudRuntime, { tenant, client }: AzureIdentity): boolean {
  const isSet = (name: string) => findVariable(runtime, name) !== undefined;
  const isNamed = (tenant !== undefined || isSet("AZURE_TENANT_ID")) &&
    (client !== undefined || isSet("AZURE_CLIENT_ID"));
  const hasProof = isSet("AZURE_CLIENT_SECRET") || isSet("AZURE_FEDERATED_TOKEN_FILE");
  return isNamed && hasProof || isSet("IDENTITY_ENDPOINT") && isSet("IDENTITY_HEADER") ||
    isSet("AZURE_POD_IDENTITY_AUTHORITY_HOST");
}

/** What an application proves its identity with: a secret, or an assertion of another issuer; undefined for none. */
async function findProof(runtime: CloudRuntime): Promise<Readonly<Record<string, string>> | undefined> {
  const secret = findVariable(runtime, "AZURE_CLIENT_SECRET");
  if (secret !== undefined) return { client_secret: secret };
  const path = findVariable(runtime, "AZURE_FEDERATED_TOKEN_FILE");
  if (path === undefined) return undefined;
  return {
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    client_assertion: await readTokenFile("The file in AZURE_FEDERATED_TOKEN_FILE", { path, runtime }),
  };
}

async function requestToken(
  runtime: CloudRuntime,
  url: string,
  form: Readonly<Record<string, string>>,
): Promise<IssuedToken> {
  const call = {
    endpoint: "Microsoft's token endpoint",
    url,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ grant_type: "client_credentials", ...form }).toString(),
  };
  const token = await fetchToken(call, runtime);
  return "client_assertion" in form ? { ...token, aheadMs } : token;
}

async function askManagedIdentity(runtime: CloudRuntime, { resource, client }: {
  readonly resource: string;
  readonly client: string | undefined;
}): Promise<IssuedToken> {
  const [address, header] = [findVariable(runtime, "IDENTITY_ENDPOINT"), findVariable(runtime, "IDENTITY_HEADER")];
  const root = findVariable(runtime, "AZURE_POD_IDENTITY_AUTHORITY_HOST") ?? "http://169.254.169.254";
  const [base, version, headers]: [string, string, Readonly<Record<string, string>>] =
    address !== undefined && header !== undefined
      ? [address, "2019-08-01", { "x-identity-header": header }]
      : [`${stripTrailing(root, "/")}/metadata/identity/oauth2/token`, "2018-02-01", { metadata: "true" }];
  if (header !== undefined) runtime.addSecret?.(header);
  if (!URL.canParse(base)) throw new IssuerError(metadataEndpoint, "has an address that is not a URL", "misconfigured");
  const url = new URL(base);
  url.searchParams.set("api-version", version);
  url.searchParams.set("resource", resource);
  if (client !== undefined) url.searchParams.set("client_id", client);
  const call = {
    endpoint: metadataEndpoint,
    url: url.href,
    method: "GET",
    headers,
    maxWaitMs: identityLimitMs,
    tries,
    isLocal: url.protocol === "http:",
  };
  return { ...await fetchToken(call, runtime), aheadMs };
}

async function fetchToken(call: IssuerCall, runtime: CloudRuntime): Promise<IssuedToken> {
  const response = await callIssuer(call, runtime);
  const { access_token: value, expires_in, expires_on } = readIssuedJson(call, response);
  const seconds = Number(expires_in ?? NaN); // App Service has only the time of the end
  const lifetimeMs = seconds > 0 ? seconds * 1000 : toLifetimeMs(expires_on, response.headers, runtime);
  if (!isHeaderText(value)) throw new IssuerError(call.endpoint, "returned no access token", "invalid_response");
  runtime.addSecret?.(value);
  return lifetimeMs === undefined ? { value } : { value, lifetimeMs };
}

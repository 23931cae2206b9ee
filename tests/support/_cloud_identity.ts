/**
 * The services of clouds that issue credentials to machines, on loopback, and what accepts only their latest ones.
 * @module
 */
import { behind } from "./_failover.ts";
import type { TestFolder } from "./_library.ts";
import { createForm } from "./_token_endpoint.ts";
import {
  type Behaviour,
  type Gate,
  json,
  raw,
  type ReceivedRequest,
  type Script,
  startUpstream,
  status,
  type Upstream,
} from "./upstream.ts";

/** The services. */
export interface IdentityServices extends AsyncDisposable {
  /** URL without a path and a trailing slash. */
  readonly url: string;
  /** Number of credentials issued. */
  readonly issued: number;
  /** Lifetime of the next credentials, seconds. */
  lifetime: number;
  /** The clock of the services, ms; without one, responses have no date, and ends are counted from 2026-01-01T18:00Z. */
  now: (() => number) | undefined;
  /** Holds responses back until it opens. */
  gate: Gate | undefined;
  readonly server: Upstream;
  /** Replaces the responses; undefined restores them. */
  follow(script: Script | undefined): void;
}

/** The end of `AWS_CONTAINER_CREDENTIALS_…`, and the other names that the services check. */
const container = "/v2/credentials/1";
const impersonation = "/v1/projects/-/serviceAccounts/robot@p.iam.gserviceaccount.com:generateAccessToken";

/** Secrets that a machine sends to the services, none of which may appear anywhere. */
export const machineSecrets = {
  webToken: "canary-web-identity-0123456789",
  containerToken: "canary-container-0123456789",
  header: "canary-identity-header-0123456789",
  client: "canary-client-secret-0123456789",
} as const;

/** Starts the services. */
export async function startIdentityServices(clock: { now(): number }): Promise<IdentityServices> {
  const facts = {
    issued: 0,
    lifetime: 3_600,
    now: undefined as (() => number) | undefined,
    gate: undefined as Gate | undefined,
  };
  const issue = (create: (number: number, end: number) => unknown): Behaviour => {
    facts.issued++;
    const now = facts.now?.() ?? clock.now();
    const dated: Record<string, string> = facts.now === undefined ? {} : { date: new Date(now).toUTCString() };
    const value = create(facts.issued, now + facts.lifetime * 1000);
    if (typeof value !== "string") return json(value, dated);
    return status(200, { text: value, headers: { "content-type": "text/xml", ...dated } });
  };
  const answer = (request: ReceivedRequest) => {
    const behaviour = findService(request, facts, issue) ?? status(404, { text: "Not found" });
    return facts.gate === undefined ? behaviour : behind(facts.gate, behaviour);
  };
  const server = await startUpstream(answer);
  return Object.assign(facts, {
    server,
    url: server.url.replace(/\/v1$/, ""),
    follow: (script: Script | undefined) => server.follow(script ?? answer),
    [Symbol.asyncDispose]: () => server.close(),
  });
}

type Issue = (create: (number: number, end: number) => unknown) => Behaviour;

function findService(
  request: ReceivedRequest,
  { lifetime }: { lifetime: number },
  issue: Issue,
): Behaviour | undefined {
  const { method, headers } = request;
  const url = new URL(request.path, "http://identity");
  const call = `${method} ${url.pathname}`;
  const bearer = () => issue((number) => ({ access_token: tokenAt(number), expires_in: lifetime }));
  const isAllowed = (right: boolean, behaviour: () => Behaviour) => right ? behaviour() : status(403, { text: "no" });
  switch (call) {
    case "POST /": // AWS STS
      return isAllowed(isAssumingRole(request), () => issue(toStsXml));
    case `GET ${container}`:
      return isAllowed(headers.authorization === machineSecrets.containerToken, () => issue(toAwsKeys));
    case "PUT /latest/api/token":
      return isAllowed(
        headers["x-aws-ec2-metadata-token-ttl-seconds"] === "21600",
        () => raw200("canary-imds-0123456789"),
      );
    case "GET /latest/meta-data/iam/security-credentials/":
      return isAllowed(headers["x-aws-ec2-metadata-token"] === "canary-imds-0123456789", () => raw200("the-role"));
    case "GET /latest/meta-data/iam/security-credentials/the-role":
      return isAllowed(
        headers["x-aws-ec2-metadata-token"] === "canary-imds-0123456789",
        () => issue((number, end) => ({ Code: "Success", ...toAwsKeys(number, end) })),
      );
    case "GET /computeMetadata/v1/instance/service-accounts/default/token":
      return isAllowed(headers["metadata-flavor"] === "Google", bearer);
    case "POST /google/sts":
      return isAllowed(createForm(request).subject_token === machineSecrets.webToken, bearer);
    case "GET /subject":
      return isAllowed(headers["x-own"] === "yes", () => json({ value: machineSecrets.webToken }));
    case `POST ${impersonation}`:
      return isAllowed(
        /^Bearer canary-token-\d+-/.test(headers.authorization ?? ""),
        () => issue((number, end) => ({ accessToken: tokenAt(number), expireTime: new Date(end).toISOString() })),
      );
    case "POST /the-tenant/oauth2/v2.0/token":
      return isAllowed(isAzureClient(request), bearer);
    case "GET /msi/token":
      return isAllowed(
        headers["x-identity-header"] === machineSecrets.header && isForAzure(url, "2019-08-01"),
        () => issue((number, end) => ({ access_token: tokenAt(number), expires_on: String(Math.floor(end / 1000)) })),
      );
    case "GET /metadata/identity/oauth2/token":
      return isAllowed(
        headers.metadata === "true" && isForAzure(url, "2018-02-01"),
        () => issue((number) => ({ access_token: tokenAt(number), expires_in: String(lifetime) })),
      );
  }
  return undefined;
}

function raw200(text: string): Behaviour {
  return raw(`HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`, "end");
}

function isAssumingRole(request: ReceivedRequest): boolean {
  const { Action, Version, RoleArn, RoleSessionName, WebIdentityToken } = createForm(request);
  return Action === "AssumeRoleWithWebIdentity" && Version === "2011-06-15" && RoleArn === "arn:aws:iam::1:role/r" &&
    /^[\w+=,.@-]{2,64}$/.test(RoleSessionName ?? "") && /^canary-web-identity-/.test(WebIdentityToken ?? "");
}

function isForAzure({ searchParams }: URL, version: string): boolean {
  return searchParams.get("api-version") === version && searchParams.get("client_id") === "the-client" &&
    searchParams.get("resource") === "https://cognitiveservices.azure.com";
}

function isAzureClient(request: ReceivedRequest): boolean {
  const form = createForm(request);
  const isProven = form.client_secret === machineSecrets.client ||
    form.client_assertion_type === "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" &&
      form.client_assertion === machineSecrets.webToken;
  return form.grant_type === "client_credentials" && form.client_id === "the-client" && isProven &&
    form.scope === "https://cognitiveservices.azure.com/.default";
}

function toAwsKeys(number: number, end: number): Record<string, string> {
  return {
    AccessKeyId: `ASIAEXAMPLE${number}`,
    SecretAccessKey: `canary-secret-key-${number}-0123456789`,
    Token: `canary-session-${number}-0123456789`,
    Expiration: new Date(end).toISOString(),
  };
}

function toStsXml(number: number, end: number): string {
  const { Token, ...keys } = toAwsKeys(number, end);
  const members = Object.entries({ ...keys, SessionToken: Token }).map(([name, value]) =>
    `<${name}>${value}</${name}>`
  );
  return `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>\n${members.join("\n")}
    </Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;
}

/** The n-th access token. */
export function tokenAt(number: number): string {
  return `canary-token-${number}-0123456789`;
}

/** The number of the credential that a request was authorized with; undefined for none. */
export function readCredentialNumber({ headers }: ReceivedRequest): number | undefined {
  const { authorization = "", "x-amz-security-token": session } = headers;
  const [, token] = /^Bearer canary-token-(\d+)-0123456789$/.exec(authorization) ?? [];
  if (token !== undefined) return Number(token);
  const [, key, names = ""] = /Credential=ASIAEXAMPLE(\d+)\/.*SignedHeaders=([^,]*)/.exec(authorization) ?? [];
  const isSigned = names.split(";").includes("x-amz-security-token");
  return isSigned && session === `canary-session-${key}-0123456789` ? Number(key) : undefined;
}

/** A machine: which cloud's provider it calls, and its environment. */
export interface Machine {
  readonly cloud: "aws" | "google" | "azure";
  /** Credentials issued for one to be used. @default 1 */
  readonly steps?: number;
  /** Its variables, and the files that they name. */
  readonly env: (services: { readonly url: string }, folder: TestFolder) => Promise<Record<string, string>>;
}

const role = { AWS_ROLE_ARN: "arn:aws:iam::1:role/r" };
const client = { AZURE_TENANT_ID: "the-tenant", AZURE_CLIENT_ID: "the-client" };

async function external(
  { url }: { readonly url: string },
  folder: TestFolder,
  more: object,
): Promise<Record<string, string>> {
  const path = await folder.write(
    "google.json",
    JSON.stringify({
      type: "external_account",
      audience: "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
      subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
      token_url: `${url}/google/sts`,
      ...more,
    }),
  );
  return { GOOGLE_APPLICATION_CREDENTIALS: path };
}

/** Every way in which a machine has an identity. */
export const machines: Readonly<Record<string, Machine>> = {
  "AWS web identity": {
    cloud: "aws",
    env: async ({ url }, folder) => ({
      ...role,
      AWS_WEB_IDENTITY_TOKEN_FILE: await folder.write("token", `${machineSecrets.webToken}\n`),
      AWS_ENDPOINT_URL_STS: url,
    }),
  },
  "AWS container, token": {
    cloud: "aws",
    env: ({ url }) =>
      Promise.resolve({
        AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}${container}`,
        AWS_CONTAINER_AUTHORIZATION_TOKEN: machineSecrets.containerToken,
      }),
  },
  "AWS container, token file": {
    cloud: "aws",
    env: async ({ url }, folder) => ({
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}${container}`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: await folder.write("token", machineSecrets.containerToken),
    }),
  },
  "EC2 metadata": { cloud: "aws", env: ({ url }) => Promise.resolve({ AWS_EC2_METADATA_SERVICE_ENDPOINT: `${url}/` }) },
  "Google metadata": {
    cloud: "google",
    env: ({ url }) => Promise.resolve({ GCE_METADATA_HOST: url.replace("http://", "") }),
  },
  "Google federation, file, as a service account": {
    cloud: "google",
    steps: 2,
    env: async (services, folder) =>
      await external(services, folder, {
        credential_source: { file: await folder.write("subject", machineSecrets.webToken) },
        service_account_impersonation_url: `${services.url}${impersonation}`,
      }),
  },
  "Google federation, URL": {
    cloud: "google",
    env: (services, folder) => {
      const format = { type: "json", subject_token_field_name: "value" };
      const source = { url: `${services.url}/subject`, headers: { "X-Own": "yes" }, format };
      return external(services, folder, { credential_source: source });
    },
  },
  "Azure workload identity": {
    cloud: "azure",
    env: async ({ url }, folder) => ({
      ...client,
      AZURE_FEDERATED_TOKEN_FILE: await folder.write("token", machineSecrets.webToken),
      AZURE_AUTHORITY_HOST: `${url}/`,
    }),
  },
  "Azure application": {
    cloud: "azure",
    env: ({ url }) =>
      Promise.resolve({ ...client, AZURE_CLIENT_SECRET: machineSecrets.client, AZURE_AUTHORITY_HOST: url }),
  },
  "Azure App Service": {
    cloud: "azure",
    env: ({ url }) =>
      Promise.resolve({
        AZURE_CLIENT_ID: "the-client",
        IDENTITY_ENDPOINT: `${url}/msi/token`,
        IDENTITY_HEADER: machineSecrets.header,
      }),
  },
  "Azure machine": {
    cloud: "azure",
    env: ({ url }) => Promise.resolve({ AZURE_CLIENT_ID: "the-client", AZURE_POD_IDENTITY_AUTHORITY_HOST: url }),
  },
};

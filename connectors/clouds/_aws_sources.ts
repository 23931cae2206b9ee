/**
 * The services that issue AWS credentials to machines: STS for web identities (Kubernetes), the endpoint of containers
 * (ECS, EKS Pod Identity), and the instance metadata service of EC2, version 2 only.
 *
 * Sources, read 2026-11-27: https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html,
 * https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html,
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-metadata-security-credentials.html,
 * https://docs.aws.amazon.com/sdkref/latest/guide/feature-imds-credentials.html.
 * @module
 */
import {
  callIssuer,
  checkIssued,
  isHeaderText,
  IssuerError,
  type IssuerResponse,
  readIssuedJson,
} from "../../src/util/call_issuer.ts";
import { stripTrailing } from "../../src/util/strip_trailing.ts";
import type { IssuedToken } from "../../src/contracts/connector.ts";
import type { AwsKeys } from "../_aws_signature.ts";
import { aheadMs, type CloudRuntime, findVariable, readTokenFile, toLifetimeMs } from "./_environment.ts";

/** Number of tries of a call. */
const tries = 3;

/** Time limit of a call to the metadata service, ms. It responds within a few ms, or is not there. */
const metadataLimitMs = 1_000;

/** Time limit of a call to the endpoint of a container, ms. */
const containerLimitMs = 5_000;

/** The lifetime of credentials whose response has no end, ms. */
const assumedLifetimeMs = 15 * 60_000;

/** The time for which credentials that have expired are used, ms. */
const expiredLifetimeMs = 5 * 60_000;

/**
 * Fetches credentials from the first source that the environment announces, otherwise from the metadata service.
 *
 * @param region The region of STS.
 * @throws {IssuerError} If they cannot be had.
 */
export function fetchAwsKeys(runtime: CloudRuntime, region: string | undefined): Promise<IssuedToken<AwsKeys>> {
  const [tokenFile, role] = [variable("AWS_WEB_IDENTITY_TOKEN_FILE"), variable("AWS_ROLE_ARN")];
  if (tokenFile !== undefined && role !== undefined) return assumeRole(runtime, { tokenFile, role, region });
  const container = findContainerAddress(runtime);
  return container === undefined ? askMetadata(runtime) : askContainer(runtime, container);

  function variable(name: string): string | undefined {
    return findVariable(runtime, name);
  }
}

async function assumeRole(runtime: CloudRuntime, { tokenFile, role, region }: {
  readonly tokenFile: string;
  readonly role: string;
  readonly region: string | undefined;
}): Promise<IssuedToken<AwsKeys>> {
  const endpoint = "AWS STS";
  const path = { path: tokenFile, runtime };
  const session = findVariable(runtime, "AWS_ROLE_SESSION_NAME") ?? `modelmesh-${runtime.clock.now()}`;
  const form = {
    Action: "AssumeRoleWithWebIdentity",
    Version: "2011-06-15",
    RoleArn: role,
    RoleSessionName: session,
    WebIdentityToken: await readTokenFile("The file in AWS_WEB_IDENTITY_TOKEN_FILE", path),
  };
  const response = await callIssuer({
    endpoint,
    url: `${findStsAddress(runtime, region)}/`,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(form).toString(),
    tries,
  }, runtime);
  checkIssued(endpoint, response);
  const members = Object.fromEntries(
    [...response.text.matchAll(issuedMembers)].map(([, name, text]) => [name, text?.trim()]),
  );
  return toIssued(endpoint, { ...members, Token: members.SessionToken }, { response, runtime });
}

/** Members of the XML of STS; none of their values has characters that are escaped. */
const issuedMembers = /<(AccessKeyId|SecretAccessKey|SessionToken|Expiration)>([^<]*)</g;

function findStsAddress(runtime: CloudRuntime, region: string | undefined): string {
  const own = findVariable(runtime, "AWS_ENDPOINT_URL_STS") ?? findVariable(runtime, "AWS_ENDPOINT_URL");
  const location = region ?? findVariable(runtime, "AWS_REGION") ?? findVariable(runtime, "AWS_DEFAULT_REGION");
  if (own !== undefined) return stripTrailing(own, "/");
  if (location === undefined || !/^[a-z0-9-]+$/.test(location)) return "https://sts.amazonaws.com";
  return `https://sts.${location}.amazonaws.com${location.startsWith("cn-") ? ".cn" : ""}`;
}

const containerEndpoint = "The endpoint for credentials of this container";

/** Its address; undefined if the environment has none. */
function findContainerAddress(runtime: CloudRuntime): string | undefined {
  const path = findVariable(runtime, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  if (path !== undefined) return `http://169.254.170.2${path.startsWith("/") ? "" : "/"}${path}`;
  const address = findVariable(runtime, "AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (address === undefined || isTrustedAddress(address)) return address;
  const reason =
    "may not be called: AWS_CONTAINER_CREDENTIALS_FULL_URI has to be an https address, or one of this machine";
  throw new IssuerError(containerEndpoint, reason, "misconfigured");
}

/** Hosts of ECS and EKS, to which a token may be sent without encryption, as to the machine itself. */
const containerHosts = ["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]", "localhost", "[::1]"];

function isTrustedAddress(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname, username, password } = new URL(address);
  if (username !== "" || password !== "") return false;
  const isLocal = containerHosts.includes(hostname) || /^127\.\d+\.\d+\.\d+$/.test(hostname);
  return protocol === "https:" || protocol === "http:" && isLocal;
}

async function askContainer(runtime: CloudRuntime, url: string): Promise<IssuedToken<AwsKeys>> {
  const endpoint = containerEndpoint;
  const path = findVariable(runtime, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
  const subject = "The file in AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE";
  const authorization = path === undefined
    ? findVariable(runtime, "AWS_CONTAINER_AUTHORIZATION_TOKEN")
    : await readTokenFile(subject, { path, runtime });
  if (authorization !== undefined) runtime.addSecret?.(authorization);
  const response = await callIssuer({
    endpoint,
    url,
    method: "GET",
    headers: { accept: "application/json", ...(authorization === undefined ? {} : { authorization }) },
    maxWaitMs: containerLimitMs,
    tries,
    isLocal: url.startsWith("http:"),
  }, runtime);
  return toIssued(endpoint, readIssuedJson({ endpoint }, response), { response, runtime });
}

const metadataEndpoint = "The EC2 metadata service";

async function askMetadata(runtime: CloudRuntime): Promise<IssuedToken<AwsKeys>> {
  const endpoint = metadataEndpoint;
  if (findVariable(runtime, "AWS_EC2_METADATA_DISABLED")?.toLowerCase() === "true") {
    throw new IssuerError(
      endpoint,
      "is disabled by AWS_EC2_METADATA_DISABLED, and there are no other credentials",
      "auth",
    );
  }
  const root = `${findMetadataAddress(runtime)}/latest`;
  const call = { endpoint, maxWaitMs: metadataLimitMs, tries, isLocal: true };
  const lifetime = { "x-aws-ec2-metadata-token-ttl-seconds": "21600" };
  const issued = await callIssuer({ ...call, url: `${root}/api/token`, method: "PUT", headers: lifetime }, runtime)
    .catch(explainHops);
  const token = readMetadataText(issued);
  runtime.addSecret?.(token);
  const headers = { "x-aws-ec2-metadata-token": token };
  const roles = `${root}/meta-data/iam/security-credentials/`;
  const listed = await callIssuer({ ...call, url: roles, method: "GET", headers }, runtime);
  if (listed.status === 404) throw new IssuerError(endpoint, "knows no role: attach one to the instance", "auth");
  const [role = ""] = readMetadataText(listed).split("\n");
  const url = `${roles}${encodeURIComponent(role.trim())}`;
  const response = await callIssuer({ ...call, url, method: "GET", headers }, runtime);
  return toIssued(endpoint, readIssuedJson({ endpoint }, response), { response, runtime });
}

/** A response is dropped on its way into a container unless the instance permits one more hop. */
function explainHops(error: unknown): never {
  if (!(error instanceof IssuerError) || error.kind !== "server") throw error;
  const { endpoint, reason } = error;
  throw new IssuerError(endpoint, `${reason} (in a container, the hop limit of the instance has to be 2)`, error.kind);
}

function readMetadataText(response: IssuerResponse): string {
  checkIssued(metadataEndpoint, response);
  const text = response.text.trim();
  if (/^[\x20-\x7e\n]+$/.test(text)) return text;
  throw new IssuerError(metadataEndpoint, "answered without a token or a role", "invalid_response");
}

function findMetadataAddress(runtime: CloudRuntime): string {
  const own = findVariable(runtime, "AWS_EC2_METADATA_SERVICE_ENDPOINT");
  if (own !== undefined) return stripTrailing(own, "/");
  const mode = findVariable(runtime, "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE")?.toLowerCase();
  return mode === "ipv6" ? "http://[fd00:ec2::254]" : "http://169.254.169.254";
}

/** The credentials in a response of any of the three. */
function toIssued(
  endpoint: string,
  { Code, AccessKeyId, SecretAccessKey, Token, Expiration }: Readonly<Record<string, unknown>>,
  { response: { headers }, runtime }: { readonly response: IssuerResponse; readonly runtime: CloudRuntime },
): IssuedToken<AwsKeys> {
  if (typeof Code === "string" && Code !== "Success") {
    throw new IssuerError(endpoint, "issues no credentials for the role of this machine", "auth");
  }
  const sessionToken = Token ?? undefined;
  const hasKeys = isHeaderText(AccessKeyId) && isHeaderText(SecretAccessKey) &&
    (sessionToken === undefined || isHeaderText(sessionToken));
  if (!hasKeys) throw new IssuerError(endpoint, "answered without credentials", "invalid_response");
  runtime.addSecret?.(SecretAccessKey);
  if (sessionToken !== undefined) runtime.addSecret?.(sessionToken);
  const lifetimeMs = toLifetimeMs(Expiration, headers, runtime) ?? assumedLifetimeMs;
  const value = { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken };
  // during an outage, the service returns credentials that have expired, and AWS accepts them
  return { value, lifetimeMs: lifetimeMs > 0 ? lifetimeMs : expiredLifetimeMs, aheadMs };
}

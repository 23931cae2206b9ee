/**
 * AWS credentials: configured, of the environment, or of the machine's identity (a role), which AWS issues for hours.
 *
 * Source: https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html, read 2026-11-27.
 * @module
 */
import type { Runtime } from "../../src/contracts/runtime.ts";
import { TokenCache, type TokenWait } from "../../src/util/token_cache.ts";
import type { AwsKeys } from "../_aws_signature.ts";
import { type CloudRuntime, findVariable } from "./_environment.ts";

/** Attributes of a connector that configure credentials. */
interface AwsAttributes {
  readonly access_key_id?: unknown;
  readonly secret_access_key?: unknown;
  readonly session_token?: unknown;
}

/** Supplies credentials. */
export interface AwsKeySource {
  /** Returns valid credentials. */
  get(wait?: TokenWait): Promise<AwsKeys>;
  /** Returns others than rejected ones; undefined if these are all that there are. */
  renew(refused: AwsKeys, wait?: TokenWait): Promise<AwsKeys | undefined>;
}

/** How the environment announces that AWS issues credentials to this machine. */
const awsAnnouncements = [
  ["AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"],
  ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"],
  ["AWS_CONTAINER_CREDENTIALS_FULL_URI"],
  ["AWS_EC2_METADATA_SERVICE_ENDPOINT"],
] as const;

/**
 * Finds credentials, in this order: the connector's own, those of `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, those
 * that the environment announces, and those of the machine. Sends nothing yet.
 *
 * @param attributes The connector's attributes.
 * @returns Undefined if there are none.
 */
export function findAwsKeys(
  attributes: AwsAttributes,
  runtime: CloudRuntime,
  { region, isAmbient = false }: {
    /** The region of the service that issues credentials for a web identity. */
    readonly region?: string | undefined;
    /** Whether the machine is asked although the environment announces nothing. */
    readonly isAmbient?: boolean;
  } = {},
): AwsKeySource | undefined {
  const keys = readKeys(attributes, runtime);
  if (keys !== undefined) return { get: () => Promise.resolve(keys), renew: () => Promise.resolve(undefined) };
  // one of the two is missing
  if ((readText(attributes.access_key_id) ?? readText(attributes.secret_access_key)) !== undefined) return undefined;
  const isAnnounced = awsAnnouncements.some((names) => names.every((name) => findVariable(runtime, name)));
  if (!isAmbient && !isAnnounced) return undefined;
  const cache = new TokenCache<AwsKeys>(async () => {
    const { fetchAwsKeys } = await import("./_aws_sources.ts");
    return await fetchAwsKeys(runtime, region);
  }, runtime.clock);
  return { get: (wait) => cache.get(wait), renew: (refused, wait) => cache.renew(refused, wait) };
}

/**
 * Performs a call with credentials. If they were revoked before their end, it is repeated once with others.
 *
 * @param perform Signs and performs the call.
 * @param isExpired Whether the response says that the credentials are no longer valid.
 */
export async function callWithKeys<Response>(source: AwsKeySource, perform: (keys: AwsKeys) => Promise<Response>, {
  isExpired,
  discard,
  wait,
}: {
  readonly isExpired: (response: Response) => boolean;
  /** Releases a response that is not used. */
  readonly discard?: (response: Response) => Promise<unknown> | undefined;
  readonly wait?: TokenWait;
}): Promise<Response> {
  const keys = await source.get(wait);
  const response = await perform(keys);
  if (!isExpired(response)) return response;
  const others = await source.renew(keys, wait);
  if (others === undefined) return response;
  await discard?.(response);
  return await perform(others);
}

/** Matches error codes of credentials that are no longer valid. */
export const expiredCodes: RegExp = /^(ExpiredToken|InvalidToken|TokenRefreshRequired)/;

function readKeys(attributes: AwsAttributes, runtime: Pick<Runtime, "env">): AwsKeys | undefined {
  const ownId = readText(attributes.access_key_id);
  const accessKeyId = ownId ?? findVariable(runtime, "AWS_ACCESS_KEY_ID");
  const secretAccessKey = readText(attributes.secret_access_key) ?? findVariable(runtime, "AWS_SECRET_ACCESS_KEY");
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  const ownToken = readText(attributes.session_token);
  // a session token belongs to the credentials it was issued with
  const sessionToken = ownId === undefined ? ownToken ?? findVariable(runtime, "AWS_SESSION_TOKEN") : ownToken;
  return { accessKeyId, secretAccessKey, sessionToken };
}

function readText(value: unknown): string | undefined {
  return typeof value === "string" ? value.trim() || undefined : undefined;
}

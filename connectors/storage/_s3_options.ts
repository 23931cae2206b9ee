/**
 * Settings of a bucket, which the storage and the log sink in S3 share.
 * @module
 */
import { type AwsKeySource, findAwsKeys } from "../clouds/aws.ts";
import { failAttribute, type GivenAttributes, textSetting, withCredentials } from "./_attributes.ts";
import type { RemoteRuntime } from "./_remote.ts";
import type { BucketOptions } from "./_s3.ts";
import { bucketAttributes } from "./declarations.ts";

/**
 * Reads the settings of a bucket. Region, endpoint and credentials default to those of the environment, credentials then to
 * those of the role that it announces. The role of the machine is used if `credentials` is `ambient`.
 *
 * @param attributes All settings of a connector.
 * @param runtime The environment, and the network for credentials.
 * @param section The section of the configuration.
 * @throws {ConfigError} If one is missing or invalid. Values are never quoted.
 */
export function readBucketOptions(
  attributes: GivenAttributes,
  runtime: RemoteRuntime,
  section: string = "storage",
): BucketOptions {
  const { env } = runtime;
  const isAmbient = attributes.credentials === "ambient";
  const settings = withCredentials(
    isAmbient ? { ...attributes, credentials: undefined } : attributes,
    ["access_key_id", "secret_access_key", "session_token"],
    section,
  );
  const fail = (name: string, message: string): never => failAttribute(name, message, section);
  const text = (name: string, variable?: string) =>
    textSetting(settings, name, section) ?? (variable === undefined ? undefined : env(variable) || undefined);
  const region = text("region", "AWS_REGION") ?? env("AWS_DEFAULT_REGION") ?? bucketAttributes.region.default;
  const endpoint = text("endpoint", "AWS_ENDPOINT_URL_S3");
  const { path_style = endpoint !== undefined } = settings;
  if (typeof path_style !== "boolean") fail("path_style", "expected true or false");
  if (endpoint !== undefined && !/^https?:\/\//.test(endpoint)) fail("endpoint", "expected an http or https URL");
  return {
    bucket: text("bucket") ?? fail("bucket", "missing: set the name of the bucket"),
    region,
    endpoint: endpoint ?? `https://s3.${region}.amazonaws.com`,
    isPathStyle: path_style as boolean,
    section,
    keys: findBucketKeys(settings, runtime, { section, region, isAmbient }),
  };
}

/** The credentials of a bucket. */
function findBucketKeys(settings: GivenAttributes, runtime: RemoteRuntime, { section, ...options }: {
  readonly section: string;
  readonly region: string;
  readonly isAmbient: boolean;
}): AwsKeySource {
  const fail = (name: string, message: string): never => failAttribute(name, message, section);
  const [accessKeyId] = ["access_key_id", "secret_access_key", "session_token"]
    .map((name) => textSetting(settings, name, section));
  const keys = findAwsKeys(settings, runtime, options);
  if (keys !== undefined) return keys;
  if (accessKeyId !== undefined || runtime.env("AWS_ACCESS_KEY_ID")) {
    return fail("secret_access_key", "missing, and so is AWS_SECRET_ACCESS_KEY");
  }
  const advice = 'for the role of an EC2 instance, set "credentials: ambient"';
  return fail("access_key_id", `missing, and so is AWS_ACCESS_KEY_ID; ${advice}`);
}

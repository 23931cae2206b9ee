/**
 * Settings of a bucket, which the storage and the log sink in S3 share.
 * @module
 */
import { failAttribute, type GivenAttributes, textSetting, withCredentials } from "./_attributes.ts";
import type { RemoteRuntime } from "./_remote.ts";
import type { BucketOptions } from "./_s3.ts";
import { bucketAttributes } from "./declarations.ts";

/**
 * Reads the settings of a bucket. Region, endpoint and credentials default to those of the environment.
 *
 * @param attributes All settings of a connector.
 * @param runtime The environment.
 * @param section The section of the configuration.
 * @throws {ConfigError} If one is missing or invalid. Values are never quoted.
 */
export function readBucketOptions(
  attributes: GivenAttributes,
  { env }: Pick<RemoteRuntime, "env">,
  section: string = "storage",
): BucketOptions {
  const settings = withCredentials(attributes, ["access_key_id", "secret_access_key", "session_token"], section);
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
    accessKeyId: text("access_key_id", "AWS_ACCESS_KEY_ID") ??
      fail("access_key_id", "missing, and so is AWS_ACCESS_KEY_ID"),
    secretAccessKey: text("secret_access_key", "AWS_SECRET_ACCESS_KEY") ??
      fail("secret_access_key", "missing, and so is AWS_SECRET_ACCESS_KEY"),
    sessionToken: text("session_token", "AWS_SESSION_TOKEN"),
  };
}

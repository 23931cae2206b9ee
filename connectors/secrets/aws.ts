/**
 * AWS Secrets Manager. Source: docs.aws.amazon.com/secretsmanager/latest/apireference, read 2026-11.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { SecretStore } from "../../src/contracts/secret_store.ts";
import { ConfigError, ConnectorError } from "../../src/errors.ts";
import { type AwsKeys, signRequest } from "../_aws_signature.ts";
import { type AwsKeySource, findAwsKeys } from "../clouds/aws.ts";
import { address, asksForAmbient, attribute, variable, Vendor, type VendorResponse } from "./_vendor.ts";
import { awsDeclaration } from "./declarations.ts";

const { id } = awsDeclaration;

/**
 * AWS Secrets Manager. Settings: `region` (defaults to `AWS_REGION`), `endpoint` (overrides the URL), `credentials`
 * (`ambient` for the role of an EC2 instance). Requests are signed with `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and,
 * if set, `AWS_SESSION_TOKEN`, otherwise with credentials of the role that the environment announces. A deleted secret can
 * be restored during AWS's recovery window; setting it again does so.
 */
export const awsSecrets: Connector<"secretStore"> = {
  ...awsDeclaration,
  create(settings, runtime) {
    const region = attribute(settings.region, "region") ?? variable(runtime, "AWS_REGION", "AWS_DEFAULT_REGION");
    if (region === undefined || !/^[a-z0-9-]+$/.test(region)) {
      throw new ConfigError([{ path: "secrets.region", message: `${id} requires a region such as "eu-central-1"` }]);
    }
    const suffix = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
    const own = attribute(settings.endpoint, "endpoint");
    const url = own === undefined ? `https://secretsmanager.${region}.${suffix}` : address(own, "endpoint");
    const isAmbient = asksForAmbient(settings.credentials);
    const access = "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and their permissions";
    const vendor = new Vendor(id, runtime, access);
    return createAwsStore(new Aws(vendor, `${url}/`, { region, isAmbient }));
  },
};

function createAwsStore(aws: Aws): Required<SecretStore> {
  return {
    async get(name) {
      const task = `look up the secret "${name}"`;
      const { code, body } = await aws.call(task, "GetSecretValue", { input: { SecretId: name }, expected: absent });
      if (code !== undefined) return undefined;
      if (typeof body.SecretString === "string") return body.SecretString;
      throw new ConnectorError(`${id}: cannot ${task}: it is binary, but must be a string`);
    },
    async set(name, value) {
      const task = `store the secret "${name}"`;
      const put = { SecretId: name, SecretString: value, ClientRequestToken: crypto.randomUUID() };
      const { code } = await aws.call(task, "PutSecretValue", { input: put, expected: absent });
      if (code === undefined) return;
      if (code === "ResourceNotFoundException") {
        const { SecretId, ...secret } = put;
        return void await aws.call(task, "CreateSecret", { input: { Name: SecretId, ...secret } });
      }
      await aws.call(task, "RestoreSecret", { input: { SecretId: name } }); // it was deleted, and is still in the recovery window
      await aws.call(task, "PutSecretValue", { input: put });
    },
    list: () =>
      aws.vendor.names(async (next) => {
        const page = { MaxResults: 100, ...(next === undefined ? {} : { NextToken: next }) };
        const { body } = await aws.call("list secrets", "ListSecrets", { input: page });
        const secrets = Array.isArray(body.SecretList) ? body.SecretList as { Name?: unknown }[] : [];
        return { names: secrets.map(({ Name }) => Name), next: body.NextToken };
      }),
    async delete(name) {
      const task = `delete the secret "${name}"`;
      const target = { input: { SecretId: name }, expected: absent };
      const existing = await aws.call(task, "DescribeSecret", target);
      if (existing.code !== undefined || typeof existing.body.DeletedDate === "number") return false;
      const { code } = await aws.call(task, "DeleteSecret", target);
      return code === undefined;
    },
  };
}

/** The secret does not exist, or is marked for deletion. */
const absent = ["ResourceNotFoundException", "InvalidRequestException"];

/** Signs and sends requests. */
class Aws {
  readonly vendor: Vendor;
  readonly #url: string;
  readonly #region: string;
  /** Undefined without credentials. */
  readonly #keys: AwsKeySource | undefined;

  constructor(vendor: Vendor, url: string, { region, isAmbient }: {
    readonly region: string;
    readonly isAmbient: boolean;
  }) {
    this.vendor = vendor;
    this.#url = url;
    this.#region = region;
    this.#keys = findAwsKeys({}, vendor.runtime, { region, isAmbient });
  }

  async call(
    task: string,
    action: string,
    { input, expected = [] }: { readonly input: object; readonly expected?: readonly string[] },
  ): Promise<VendorResponse> {
    if (this.#keys === undefined) {
      const advice = 'for the role of an EC2 instance, set "secrets.credentials" to "ambient"';
      throw this.vendor.error(task, `set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; ${advice}`);
    }
    const keys = await this.#keys.get({ purpose: task }).catch((error) => {
      throw this.vendor.unauthorized(task, error);
    });
    const body = JSON.stringify(input);
    const headers = await this.#sign(action, { keys, body });
    return await this.vendor.call({ task, url: this.#url, headers, body, expected });
  }

  async #sign(
    action: string,
    { keys, body }: { readonly keys: AwsKeys; readonly body: string },
  ): Promise<Record<string, string>> {
    const call = {
      method: "POST",
      url: this.#url,
      headers: { "content-type": "application/x-amz-json-1.1", "x-amz-target": `secretsmanager.${action}` },
      body,
    };
    const now = this.vendor.runtime.clock.now();
    return await signRequest(call, { keys, region: this.#region, service: "secretsmanager", now });
  }
}

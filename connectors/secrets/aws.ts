/**
 * AWS Secrets Manager. Source: docs.aws.amazon.com/secretsmanager/latest/apireference, read 2026-11.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { Runtime } from "../../src/contracts/runtime.ts";
import type { SecretStore } from "../../src/contracts/secret_store.ts";
import { ConfigError, ConnectorError } from "../../src/errors.ts";
import { signRequest } from "../_aws_signature.ts";
import { address, attribute, variable, Vendor, type VendorResponse } from "./_vendor.ts";
import { awsDeclaration } from "./declarations.ts";

const { id } = awsDeclaration;

/**
 * AWS Secrets Manager. Settings: `region` (defaults to `AWS_REGION`), `endpoint` (overrides the URL). Requests are
 * signed with `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and, if set, `AWS_SESSION_TOKEN`. A deleted secret can be
 * restored during AWS's recovery window; setting it again does so.
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
    return createAwsStore(new Aws(runtime, `${url}/`, region));
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

  constructor(runtime: Runtime, url: string, region: string) {
    this.vendor = new Vendor(id, runtime, "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and their permissions");
    this.#url = url;
    this.#region = region;
  }

  async call(
    task: string,
    action: string,
    { input, expected = [] }: { readonly input: object; readonly expected?: readonly string[] },
  ): Promise<VendorResponse> {
    const body = JSON.stringify(input);
    const headers = await this.#signed(task, action, body);
    return await this.vendor.call({ task, url: this.#url, headers, body, expected });
  }

  async #signed(task: string, action: string, body: string): Promise<Record<string, string>> {
    const { runtime } = this.vendor;
    const accessKeyId = variable(runtime, "AWS_ACCESS_KEY_ID");
    const secretAccessKey = variable(runtime, "AWS_SECRET_ACCESS_KEY");
    const sessionToken = variable(runtime, "AWS_SESSION_TOKEN");
    if (accessKeyId === undefined || secretAccessKey === undefined) {
      throw this.vendor.error(task, "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
    }
    const call = {
      method: "POST",
      url: this.#url,
      headers: { "content-type": "application/x-amz-json-1.1", "x-amz-target": `secretsmanager.${action}` },
      body,
    };
    const keys = { accessKeyId, secretAccessKey, sessionToken };
    return await signRequest(call, { keys, region: this.#region, service: "secretsmanager", now: runtime.clock.now() });
  }
}

/**
 * AWS Secrets Manager. Source: docs.aws.amazon.com/secretsmanager/latest/apireference, read 2026-11.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { Runtime } from "../../src/contracts/runtime.ts";
import type { SecretStore } from "../../src/contracts/secret_store.ts";
import { ConfigError, ConnectorError } from "../../src/errors.ts";
import { signed } from "../_aws_signature.ts";
import { address, attribute, variable, Vendor, type VendorResponse } from "./_vendor.ts";
import { awsDeclaration } from "./declarations.ts";

const { id } = awsDeclaration;

/**
 * Secrets of AWS Secrets Manager; settings: `region` (else `AWS_REGION`), `endpoint` (another address). Signed with the
 * keys in `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and, where there is one, `AWS_SESSION_TOKEN`. What is deleted
 * can be restored for as long as AWS keeps it; setting it again does so.
 */
export const awsSecrets: Connector<"secretStore"> = {
  ...awsDeclaration,
  create(settings, runtime) {
    const region = attribute(settings.region, "region") ?? variable(runtime, "AWS_REGION", "AWS_DEFAULT_REGION");
    if (region === undefined || !/^[a-z0-9-]+$/.test(region)) {
      throw new ConfigError([{ path: "secrets.region", message: `${id} needs a region such as "eu-central-1"` }]);
    }
    const suffix = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
    const own = attribute(settings.endpoint, "endpoint");
    const url = own === undefined ? `https://secretsmanager.${region}.${suffix}` : address(own, "endpoint");
    return storeOf(new Aws(runtime, `${url}/`, region));
  },
};

function storeOf(aws: Aws): Required<SecretStore> {
  return {
    async get(name) {
      const task = `look up the secret "${name}"`;
      const { code, body } = await aws.call(task, "GetSecretValue", { SecretId: name }, absent);
      if (code !== undefined) return undefined;
      if (typeof body.SecretString === "string") return body.SecretString;
      throw new ConnectorError(`${id}: cannot ${task}: it is binary, and a key is a text`);
    },
    async set(name, value) {
      const task = `store the secret "${name}"`;
      const put = { SecretId: name, SecretString: value, ClientRequestToken: crypto.randomUUID() };
      const { code } = await aws.call(task, "PutSecretValue", put, absent);
      if (code === undefined) return;
      if (code === "ResourceNotFoundException") {
        const { SecretId, ...made } = put;
        await aws.call(task, "CreateSecret", { Name: SecretId, ...made });
        return;
      }
      await aws.call(task, "RestoreSecret", { SecretId: name }); // it was deleted, and AWS still keeps it
      await aws.call(task, "PutSecretValue", put);
    },
    list: () =>
      aws.vendor.names(async (next) => {
        const page = { MaxResults: 100, ...(next === undefined ? {} : { NextToken: next }) };
        const { body } = await aws.call("list secrets", "ListSecrets", page);
        const secrets = Array.isArray(body.SecretList) ? body.SecretList as { Name?: unknown }[] : [];
        return { names: secrets.map(({ Name }) => Name), next: body.NextToken };
      }),
    async delete(name) {
      const there = await aws.call(`delete the secret "${name}"`, "DescribeSecret", { SecretId: name }, absent);
      if (there.code !== undefined || typeof there.body.DeletedDate === "number") return false;
      const { code } = await aws.call(`delete the secret "${name}"`, "DeleteSecret", { SecretId: name }, absent);
      return code === undefined;
    },
  };
}

/** There is none, or it is marked for deletion. */
const absent = ["ResourceNotFoundException", "InvalidRequestException"];

/** Signs and sends. */
class Aws {
  readonly vendor: Vendor;
  readonly #url: string;
  readonly #region: string;

  constructor(runtime: Runtime, url: string, region: string) {
    this.vendor = new Vendor(id, runtime, "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and what they may do");
    this.#url = url;
    this.#region = region;
  }

  async call(task: string, action: string, input: object, expected: readonly string[] = []): Promise<VendorResponse> {
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
    return await signed(call, { keys, region: this.#region, service: "secretsmanager", now: runtime.clock.now() });
  }
}

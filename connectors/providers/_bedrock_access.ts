/**
 * Endpoints and credentials of Bedrock.
 * @module
 */
import type { ProviderSettings } from "../../src/contracts/connector.ts";
import type { CallOptions } from "../../src/contracts/provider.ts";
import type { Runtime, UpstreamResponse } from "../../src/contracts/runtime.ts";
import { ConfigError, UpstreamError } from "../../src/errors.ts";
import { stripTrailing } from "../../src/util/strip_trailing.ts";
import { type AwsKeys, signRequest, type UnsignedCall } from "../_aws_signature.ts";
import { type AwsKeySource, callWithKeys, expiredCodes, findAwsKeys } from "../clouds/aws.ts";

const signingName = "bedrock";

const missingKeys =
  "There is neither an api_key nor AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and the environment " +
  'announces no role. For the role of an EC2 instance, set "auth.method" to "ambient"';

/** Endpoints, and authorization of calls. */
export class BedrockAccess {
  readonly #settings: ProviderSettings;
  readonly #runtime: Runtime;
  readonly #region: string | undefined;
  /** Undefined without credentials. */
  readonly #keys: AwsKeySource | undefined;
  /** Base URL for model calls, without a trailing slash. */
  readonly modelsUrl: string;
  /** Base URL for model lists, without a trailing slash. */
  readonly listsUrl: string;

  /**
   * @param settings Settings of the provider entry.
   * @param runtime Clock and environment.
   * @throws {ConfigError} If neither a region nor a base URL is configured.
   */
  constructor(settings: ProviderSettings, runtime: Runtime) {
    this.#settings = settings;
    this.#runtime = runtime;
    this.#region = this.#read("region", "AWS_REGION") ?? this.#read("region", "AWS_DEFAULT_REGION");
    const own = settings.baseUrl && stripTrailing(settings.baseUrl, "/");
    if (own === undefined && !/^[a-z]{2}[a-z0-9-]+$/.test(this.#region ?? "")) {
      throw new ConfigError([{
        path: `providers.${settings.id}.config.region`,
        message: 'Bedrock needs a region such as "eu-central-1": set it, or the variable AWS_REGION',
      }]);
    }
    this.#keys = findAwsKeys(
      {
        access_key_id: this.#own("access_key_id"),
        secret_access_key: this.#own("secret_access_key"),
        session_token: this.#own("session_token"),
      },
      runtime,
      { region: this.#region, isAmbient: settings.isAmbient ?? false },
    );
    const suffix = this.#region?.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
    this.modelsUrl = own ?? `https://bedrock-runtime.${this.#region}.${suffix}`;
    this.listsUrl = own ?? `https://bedrock.${this.#region}.${suffix}`;
  }

  /**
   * Sends a call with authorization: a Bedrock API key if there is one, otherwise an AWS signature.
   *
   * @param call The call without authorization.
   * @param options How it is sent, and the Bedrock API key, if configured.
   * @throws {UpstreamError} `auth` without credentials; `misconfigured` without a region to sign for.
   */
  async send(call: UnsignedCall, { send, credential, signal }: CallOptions): Promise<UpstreamResponse> {
    const { method, url, body } = call;
    const sendWith = (headers: Readonly<Record<string, string>>) =>
      send({ method, url, headers, ...(body === undefined ? {} : { body }) });
    if (credential !== undefined) return await sendWith({ ...call.headers, authorization: `Bearer ${credential}` });
    const region = this.#region;
    if (region === undefined) {
      throw new UpstreamError("No region is configured to sign the call for", { kind: "misconfigured" });
    }
    if (this.#keys === undefined) throw new UpstreamError(missingKeys, { kind: "auth" });
    const perform = async (keys: AwsKeys) => {
      const now = this.#runtime.clock.now();
      return await sendWith(await signRequest(call, { keys, region, service: signingName, now }));
    };
    const isExpired = ({ headers }: UpstreamResponse) => expiredCodes.test(headers.get("x-amzn-errortype") ?? "");
    const discard = (response: UpstreamResponse) => response.reader()?.cancel().catch(() => {}); // only its status matters
    return await callWithKeys(this.#keys, perform, { isExpired, discard, wait: { signal } });
  }

  #read(name: string, variable: string): string | undefined {
    return this.#own(name) ?? (this.#runtime.env?.(variable)?.trim() || undefined);
  }

  #own(name: string): string | undefined {
    const value = this.#settings[name] ?? (this.#settings.config as Record<string, unknown> | undefined)?.[name];
    return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
  }
}

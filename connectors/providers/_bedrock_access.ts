/**
 * Endpoints and credentials of Bedrock.
 * @module
 */
import type { ProviderSettings } from "../../src/contracts/connector.ts";
import type { Runtime } from "../../src/contracts/runtime.ts";
import { ConfigError, UpstreamError } from "../../src/errors.ts";
import { stripTrailing } from "../../src/util/strip_trailing.ts";
import { type AwsKeys, signRequest, type UnsignedCall } from "../_aws_signature.ts";

const signingName = "bedrock";

/** Endpoints, and authorization of calls. */
export class BedrockAccess {
  readonly #settings: ProviderSettings;
  readonly #runtime: Runtime;
  readonly #region: string | undefined;
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
    const suffix = this.#region?.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
    this.modelsUrl = own ?? `https://bedrock-runtime.${this.#region}.${suffix}`;
    this.listsUrl = own ?? `https://bedrock.${this.#region}.${suffix}`;
  }

  /**
   * Adds authorization headers to a call: a Bedrock API key if there is one, otherwise an AWS signature.
   *
   * @param call The call without authorization.
   * @param credential The Bedrock API key, if configured.
   * @throws {UpstreamError} `auth` without credentials; `misconfigured` without a region to sign for.
   */
  async authorized(call: UnsignedCall, credential: string | undefined): Promise<Readonly<Record<string, string>>> {
    if (credential !== undefined) return { ...call.headers, authorization: `Bearer ${credential}` };
    if (this.#region === undefined) {
      throw new UpstreamError("No region is configured to sign the call for", { kind: "misconfigured" });
    }
    const now = this.#runtime.clock.now();
    return await signRequest(call, { keys: this.#keys(), region: this.#region, service: signingName, now });
  }

  #keys(): AwsKeys {
    const accessKeyId = this.#read("access_key_id", "AWS_ACCESS_KEY_ID");
    const secretAccessKey = this.#read("secret_access_key", "AWS_SECRET_ACCESS_KEY");
    if (accessKeyId === undefined || secretAccessKey === undefined) {
      throw new UpstreamError("There is neither an api_key nor AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", {
        kind: "auth",
      });
    }
    // a session token belongs to the credentials it was issued with
    const isConfigured = this.#own("access_key_id") !== undefined;
    const sessionToken = isConfigured ? this.#own("session_token") : this.#read("session_token", "AWS_SESSION_TOKEN");
    return { accessKeyId, secretAccessKey, sessionToken };
  }

  #read(name: string, variable: string): string | undefined {
    return this.#own(name) ?? (this.#runtime.env?.(variable)?.trim() || undefined);
  }

  #own(name: string): string | undefined {
    const value = this.#settings[name] ?? (this.#settings.config as Record<string, unknown> | undefined)?.[name];
    return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
  }
}

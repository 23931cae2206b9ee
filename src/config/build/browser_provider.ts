/**
 * Builds the configuration of a provider that a program in a browser defines.
 * @module
 */
import { capabilityTree } from "../../capability/tree.ts";
import type { BrowserProviderConfig, BrowserProviderOptions } from "../../contracts/browser_provider.ts";
import type { ModelInfo } from "../../contracts/provider.ts";
import { ConfigError, type ConfigProblem } from "../../errors.ts";
import { stripTrailing } from "../../util/strip_trailing.ts";
import { defaultRetry } from "../settings/defaults.ts";
import { apiKeyProblem, mergeCodes } from "./explicit.ts";

const checks: Readonly<Record<keyof BrowserProviderOptions, (value: unknown) => true | string>> = {
  id: (value) => matchesText(value, /^[^\s/]{1,100}$/) || "expected a name without spaces and slashes",
  baseUrl: checkAddress,
  apiKey: (value) => apiKeyProblem(value) ?? true,
  models: (value) => isList(value) && value.length > 0 || "expected at least one name",
  capabilities: (value) => isList(value) || "expected a list of names",
  timeout: (value) => isInteger(value, 1, Infinity) || "expected an integer of ms, more than 0",
  maxRetries: (value) => isInteger(value, 0, 10) || "expected an integer from 0 to 10",
  authMethod: (value) =>
    matchesText(value, /^(api_key|x-api-key|api-key|none)$/) || "expected api_key, x-api-key, api-key or none",
  retryableCodes: checkStatusCodes,
  nonRetryableCodes: checkStatusCodes,
  proxyUrl: checkAddress,
};

/**
 * Creates the configuration of a `BrowserBaseProvider`: validated, complete and frozen.
 *
 * @throws {ConfigError} If the options are invalid; reports all errors at once, and never quotes a key.
 *
 * @example A provider at a custom URL
 * ```ts
 * import { createBrowserProviderConfig } from "@modelmesh/core/browser";
 *
 * const config = createBrowserProviderConfig({ baseUrl: "https://api.acme.example/v1", models: ["acme-small"] });
 * console.log(config.maxRetries); // 2
 * ```
 *
 * @example Through a ModelMesh proxy, which holds the API keys
 * ```ts
 * import { createBrowserProviderConfig } from "@modelmesh/core/browser";
 *
 * const config = createBrowserProviderConfig({ proxyUrl: "http://127.0.0.1:8080", models: ["chat-completion"] });
 * console.log(config.baseUrl); // http://127.0.0.1:8080/v1
 * ```
 */
export function createBrowserProviderConfig(options: BrowserProviderOptions): BrowserProviderConfig {
  const problems: ConfigProblem[] = [];
  const collect: Collect = (path, result) => {
    if (result !== true) problems.push({ path, message: result });
  };
  if (typeof options !== "object" || options === null) {
    collect("", "expected an object such as { baseUrl, apiKey, models }");
  } else checkOptionMembers(options, collect);
  const models = problems.length === 0 ? buildBrowserModels(options, collect) : [];
  if (problems.length > 0) throw new ConfigError(problems);
  return completeOptions(options, models);
}

type Collect = (path: string, result: true | string) => void;

function completeOptions(options: BrowserProviderOptions, models: readonly ModelInfo[]): BrowserProviderConfig {
  const { capabilities = defaultCapabilities, authMethod = "api_key" } = options;
  const { retryableCodes, nonRetryableCodes } = mergeCodes(options);
  const plain = (url: string | undefined) => url && stripTrailing(url, "/");
  const proxyUrl = plain(options.proxyUrl);
  return Object.freeze({
    id: options.id,
    baseUrl: plain(options.baseUrl) ?? proxyUrl?.replace(/(\/v1)?$/, "/v1") ?? "",
    apiKey: options.apiKey,
    models: Object.freeze(models),
    capabilities: Object.freeze([...capabilities]),
    timeout: options.timeout,
    maxRetries: options.maxRetries ?? defaultRetry.maxAttempts,
    authMethod,
    retryableCodes: Object.freeze([...retryableCodes]),
    nonRetryableCodes: Object.freeze([...nonRetryableCodes]),
    proxyUrl,
  });
}

const defaultCapabilities: readonly string[] = ["chat-completion"];

function checkOptionMembers(options: BrowserProviderOptions, collect: Collect): void {
  for (const name of new Set(["models", ...Object.keys(options)])) {
    const value = options[name as keyof BrowserProviderOptions];
    if (value === undefined && name !== "models") continue;
    const check = Object.hasOwn(checks, name) ? checks[name as keyof BrowserProviderOptions] : undefined;
    collect(name, check?.(value) ?? `unknown option; known are ${Object.keys(checks).join(", ")}`);
  }
  const { retryableCodes, nonRetryableCodes, authMethod, apiKey } = options;
  if (isList(retryableCodes) && isList(nonRetryableCodes)) {
    const both = retryableCodes.filter((code) => nonRetryableCodes.includes(code));
    if (both.length > 0) collect("nonRetryableCodes", `${both} is also in "retryableCodes"`);
  }
  if (authMethod === "none" && apiKey !== undefined) {
    collect("authMethod", '"none" sends no key, but "apiKey" is set');
  }
}

function buildBrowserModels(
  { models, capabilities = defaultCapabilities }: BrowserProviderOptions,
  collect: Collect,
): ModelInfo[] {
  const tree = capabilityTree();
  const check = (names: readonly string[], path: string) => {
    collect(path, checks.capabilities(names));
    if (isList(names)) {
      names.forEach((name, index) => collect(`${path}[${index}]`, checkBrowserCapability(tree.matches(name))));
    }
  };
  check(capabilities, "capabilities");
  const ids = new Set<string>();
  return models.map((model, index) => {
    const path = `models[${index}]`;
    const info = typeof model === "string" ? { id: model } : model;
    const isNamed = typeof info?.id === "string" && info.id.trim() !== "";
    collect(path, isNamed || 'expected an id, or an object with an "id"');
    if (isNamed && ids.size === ids.add(info.id).size) collect(path, "is in the list twice");
    if (info?.capabilities !== undefined) check(info.capabilities, `${path}.capabilities`);
    return Object.freeze({ ...info, capabilities: info?.capabilities ?? capabilities });
  });
}

function checkBrowserCapability(paths: readonly string[]): true | string {
  return paths.length === 1 || (paths.length > 1 ? `is ambiguous: use ${paths.join(" or ")}` : "is not a capability");
}

function checkAddress(value: unknown): true | string {
  return matchesText(value, /^https?:\/\/[^\s\\/@?#]+(\/[^\s\\?#]*)?$/i) ||
    "expected an http or https URL without credentials, query and fragment";
}

function checkStatusCodes(value: unknown): true | string {
  return isList(value) && value.every((code) => isInteger(code, 100, 599)) || "expected a list of HTTP statuses";
}

function matchesText(value: unknown, pattern: RegExp): boolean {
  return typeof value === "string" && pattern.test(value);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function isInteger(value: unknown, min: number, max: number): boolean {
  return Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
}

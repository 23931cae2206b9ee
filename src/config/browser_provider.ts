/**
 * The configuration of a provider that a program in a browser makes itself.
 * @module
 */
import { capabilityTree } from "../capability/tree.ts";
import type { AuthMethod, BrowserProviderConfig, BrowserProviderOptions } from "../contracts/browser_provider.ts";
import type { ModelInfo } from "../contracts/provider.ts";
import { ConfigError } from "../errors.ts";
import { capabilityProblem } from "./_capability_names.ts";
import { baseUrlProblem } from "./_checks.ts";
import { mergeCodes } from "./_codes.ts";
import { keyProblem } from "./_keys.ts";
import { quoted, Report, show, suggest, under } from "./_report.ts";
import { defaultRetry } from "./defaults.ts";

const authMethods: readonly AuthMethod[] = ["api_key", "x-api-key", "api-key", "none"];
const mostRetries = 10;

/** What is wrong with a value; undefined when nothing is. */
type Check = (value: unknown) => string | undefined;

const checks: Readonly<Record<keyof BrowserProviderOptions, Check>> = {
  id: (value) => /^[^\s/]{1,100}$/.test(`${value}`) ? undefined : "expected a text without spaces and slashes",
  baseUrl: addressProblem,
  apiKey: keyProblem,
  models: (value) => isList(value) && value.length > 0 ? undefined : 'name at least one, such as ["acme-small"]',
  capabilities: (value) => isList(value) ? undefined : 'expected a list such as ["chat-completion"]',
  timeout: (value) => isInteger(value, 1, Infinity) ? undefined : "expected a whole number of ms, more than 0",
  maxRetries: (value) => isInteger(value, 0, mostRetries) ? undefined : `expected an integer from 0 to ${mostRetries}`,
  authMethod: (value) =>
    authMethods.some((one) => one === value) ? undefined : `expected one of ${quoted(authMethods)}`,
  retryableCodes: codesProblem,
  nonRetryableCodes: codesProblem,
  proxyUrl: addressProblem,
};

/**
 * A complete configuration for a `BrowserBaseProvider`, checked and frozen.
 *
 * @param options What is special about the provider; `models` at least.
 * @throws {ConfigError} With everything that is wrong. It shows no key.
 *
 * @example A provider at an address of its own
 * ```ts
 * import { createBrowserProviderConfig } from "@modelmesh/core/browser";
 *
 * const config = createBrowserProviderConfig({ baseUrl: "https://api.acme.example/v1", models: ["acme-small"] });
 * console.log(config.maxRetries); // 2
 * ```
 *
 * @example Through a ModelMesh proxy, which keeps the keys
 * ```ts
 * import { createBrowserProviderConfig } from "@modelmesh/core/browser";
 *
 * const config = createBrowserProviderConfig({ proxyUrl: "http://127.0.0.1:8080", models: ["chat-completion"] });
 * console.log(config.baseUrl); // http://127.0.0.1:8080/v1
 * ```
 */
export function createBrowserProviderConfig(options: BrowserProviderOptions): BrowserProviderConfig {
  const report = new Report();
  if (typeof options !== "object" || options === null) {
    report.problem("", "expected an object such as { baseUrl, apiKey, models }");
  } else checkMembers(options, report);
  const models = report.problems.length === 0 ? modelsOf(options, report) : [];
  if (report.problems.length > 0) throw new ConfigError(report.problems);
  return complete(options, models);
}

function complete(given: BrowserProviderOptions, models: readonly ModelInfo[]): BrowserProviderConfig {
  const { id, apiKey, timeout, capabilities = defaultCapabilities, authMethod = "api_key" } = given;
  const { retryable, nonRetryable } = mergeCodes([
    { retryable: given.retryableCodes, nonRetryable: given.nonRetryableCodes },
  ]);
  const proxyUrl = given.proxyUrl?.replace(/\/+$/, "");
  const baseUrl = given.baseUrl?.replace(/\/+$/, "") ?? proxyUrl?.replace(/(\/v1)?$/, "/v1") ?? "";
  return Object.freeze({
    id,
    baseUrl,
    apiKey,
    models: Object.freeze(models),
    capabilities: Object.freeze([...capabilities]),
    timeout,
    maxRetries: given.maxRetries ?? defaultRetry.maxAttempts,
    authMethod,
    retryableCodes: Object.freeze([...retryable]),
    nonRetryableCodes: Object.freeze([...nonRetryable]),
    proxyUrl,
  });
}

const defaultCapabilities: readonly string[] = ["chat-completion"];

function checkMembers(given: BrowserProviderOptions, report: Report): void {
  for (const name of new Set([...Object.keys(given), "models"])) {
    const value: unknown = Reflect.get(given, name);
    const check = Object.hasOwn(checks, name) ? checks[name as keyof BrowserProviderOptions] : undefined;
    if (value === undefined && name !== "models") continue;
    const problem = check === undefined ? `unknown option${suggest(name, Object.keys(checks))}` : check(value);
    if (problem !== undefined) report.problem(under("", name), problem);
  }
  const { retryableCodes, nonRetryableCodes, authMethod, apiKey } = given;
  const both = isList(retryableCodes) && isList(nonRetryableCodes)
    ? retryableCodes.filter((code) => nonRetryableCodes.includes(code))
    : [];
  if (both.length > 0) report.problem("nonRetryableCodes", `${both} is in "retryableCodes" too: give it once`);
  if (authMethod === "none" && apiKey !== undefined) {
    report.problem("authMethod", '"none" sends no key: leave one of "apiKey" and "authMethod" out');
  }
}

function modelsOf({ models, capabilities = defaultCapabilities }: BrowserProviderOptions, report: Report): ModelInfo[] {
  const tree = capabilityTree();
  const check = (names: unknown, path: string) => {
    if (!isList(names)) return report.problem(path, "expected a list of names");
    names.forEach((name, place) => {
      const problem = capabilityProblem(`${name}`, tree);
      if (problem !== undefined) report.problem(`${path}[${place}]`, problem);
    });
  };
  check(capabilities, "capabilities");
  return models.map((model, place) => {
    const path = `models[${place}]`;
    const info = typeof model === "string" ? { id: model } : model;
    const id: unknown = info?.id;
    if (typeof id !== "string" || id.trim() === "") {
      report.problem(path, `expected an id or an object with an "id", found ${show(model)}`);
    } else if (models.findIndex((other) => other === id || (other as ModelInfo)?.id === id) < place) {
      report.problem(path, `${show(id)} is in the list twice`);
    }
    if (info?.capabilities !== undefined) check(info.capabilities, `${path}.capabilities`);
    return Object.freeze({ ...info, capabilities: info?.capabilities ?? capabilities });
  });
}

function addressProblem(value: unknown): string | undefined {
  return baseUrlProblem(typeof value === "string" ? value : "");
}

function codesProblem(value: unknown): string | undefined {
  return isList(value) && value.every((code) => isInteger(code, 100, 599))
    ? undefined
    : "expected a list of HTTP statuses, such as [429]";
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function isInteger(value: unknown, least: number, greatest: number): boolean {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= greatest;
}

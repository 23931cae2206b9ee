/**
 * The configuration of a provider that a program in a browser makes itself.
 * @module
 */
import { type CapabilityTree, capabilityTree } from "../capability/tree.ts";
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
  id: (value) =>
    isText(value) && /^[^\s/]{1,100}$/.test(value) ? undefined : "expected a text without spaces and slashes",
  baseUrl: addressProblem,
  apiKey: keyProblem,
  models: (value) => Array.isArray(value) && value.length > 0 ? undefined : 'name at least one, such as ["acme-small"]',
  capabilities: (value) => isListOf(value, isText) ? undefined : 'expected a list such as ["chat-completion"]',
  timeout: (value) => isNumber(value) && value > 0 ? undefined : "expected a number of ms, more than 0",
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
  const isObject = typeof options === "object" && options !== null;
  if (!isObject) report.problem("", "expected an object such as { baseUrl, apiKey, models }");
  const given: Partial<BrowserProviderOptions> = isObject ? options : {};
  checkMembers(given, report);
  if (isObject && given.models === undefined) report.problem("models", checks.models(undefined)!);
  const models = report.isBlamed("models") || report.isBlamed("capabilities") ? [] : modelsOf(given, report);
  if (report.problems.length > 0) throw new ConfigError(report.problems);
  return complete(given, models);
}

function complete(given: Partial<BrowserProviderOptions>, models: readonly ModelInfo[]): BrowserProviderConfig {
  const { id, apiKey, timeout, retryableCodes, nonRetryableCodes } = given;
  const codes = mergeCodes([{ retryable: retryableCodes, nonRetryable: nonRetryableCodes }]);
  const proxyUrl = given.proxyUrl?.replace(/\/+$/, "");
  return Object.freeze({
    ...(id === undefined ? {} : { id }),
    baseUrl: given.baseUrl?.replace(/\/+$/, "") ?? (proxyUrl === undefined ? "" : proxyUrl.replace(/(\/v1)?$/, "/v1")),
    ...(apiKey === undefined ? {} : { apiKey }),
    models: Object.freeze(models),
    capabilities: Object.freeze([...given.capabilities ?? defaultCapabilities]),
    ...(timeout === undefined ? {} : { timeout }),
    maxRetries: given.maxRetries ?? defaultRetry.maxAttempts,
    authMethod: given.authMethod ?? "api_key",
    retryableCodes: Object.freeze([...codes.retryable]),
    nonRetryableCodes: Object.freeze([...codes.nonRetryable]),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
  });
}

const defaultCapabilities: readonly string[] = ["chat-completion"];

function checkMembers(given: Partial<BrowserProviderOptions>, report: Report): void {
  const names = Object.keys(checks);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const check = Object.hasOwn(checks, name) ? checks[name as keyof BrowserProviderOptions] : undefined;
    const problem = check === undefined ? `unknown option${suggest(name, names)}` : check(value);
    if (problem !== undefined) report.problem(under("", name), problem);
  }
  const { retryableCodes, nonRetryableCodes, authMethod, apiKey } = given;
  const both = isListOf(retryableCodes, isNumber) && isListOf(nonRetryableCodes, isNumber)
    ? retryableCodes.filter((code) => nonRetryableCodes.includes(code))
    : [];
  if (both.length > 0) {
    report.problem("nonRetryableCodes", `${both.join(", ")} is in "retryableCodes" too: give it once`);
  }
  if (authMethod === "none" && apiKey !== undefined) {
    report.problem("authMethod", '"none" sends no key: leave one of "apiKey" and "authMethod" out');
  }
}

function modelsOf(
  { models = [], capabilities = defaultCapabilities }: Partial<BrowserProviderOptions>,
  report: Report,
) {
  const tree = capabilityTree();
  checkCapabilities(capabilities, "capabilities", tree, report);
  const infos = models.map((model, place): ModelInfo => {
    const path = `models[${place}]`;
    const info = isText(model) ? { id: model } : model;
    if (typeof info !== "object" || info === null || !isText(info.id) || info.id.trim() === "") {
      report.problem(path, `expected an id or an object with an "id", found ${show(model)}`);
      return { id: "" };
    }
    if (info.capabilities === undefined) return Object.freeze({ ...info, capabilities });
    if (!isListOf(info.capabilities, isText)) report.problem(`${path}.capabilities`, "expected a list of names");
    else checkCapabilities(info.capabilities, `${path}.capabilities`, tree, report);
    return Object.freeze({ ...info });
  });
  infos.forEach(({ id }, place) => {
    if (id !== "" && infos.findIndex((other) => other.id === id) < place) {
      report.problem(`models[${place}]`, `${show(id)} is in the list twice`);
    }
  });
  return infos;
}

function checkCapabilities(names: readonly string[], path: string, tree: CapabilityTree, report: Report): void {
  names.forEach((name, place) => {
    const problem = capabilityProblem(name, tree);
    if (problem !== undefined) report.problem(`${path}[${place}]`, problem);
  });
}

function addressProblem(value: unknown): string | undefined {
  return baseUrlProblem(isText(value) ? value : "");
}

function codesProblem(value: unknown): string | undefined {
  return isListOf(value, (code) => isInteger(code, 100, 599))
    ? undefined
    : "expected a list of HTTP statuses, such as [429]";
}

function isListOf<Item>(value: unknown, isItem: (item: unknown) => item is Item): value is readonly Item[];
function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean;
function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function isInteger(value: unknown, least: number, greatest: number): boolean {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= greatest;
}

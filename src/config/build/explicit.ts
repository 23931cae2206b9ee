/**
 * Builds settings from providers that a program passes as instances. Reads neither documents nor the environment, so
 * that browser bundles exclude their parsers.
 * @module
 */
import type { ApiKey, GivenProvider, InstanceSettings } from "../../contracts/browser_provider.ts";
import type { Connector, PluggableConnector, ProviderConnector } from "../../contracts/connector.ts";
import type { SelectionStrategy } from "../../contracts/rotation.ts";
import { ConfigError, type ConfigProblem, NoProvidersError } from "../../errors.ts";
import {
  defaultCooldownMs,
  defaultDeadlineMs,
  defaultNonRetryableCodes,
  defaultRetry,
  defaultRetryableCodes,
  defaultRetryBudget,
  defaultRetryLimit,
  defaultTimeouts,
} from "../settings/defaults.ts";
import { resolveStrategy } from "../settings/known.ts";
import type { ProviderEntry, RetrySettings, SecretSettings, Settings } from "../settings/settings.ts";

/** Settings, with the connectors of the instances. */
export interface SettingsPlan {
  readonly settings: Settings;
  readonly connectors: readonly PluggableConnector[];
}

interface KnownParts {
  readonly path: string;
  readonly id: string;
  readonly provider: GivenProvider;
  readonly own: InstanceSettings;
  /** Name of its first secret, by which {@linkcode keySecrets} looks up its API key. */
  readonly secret: string;
}

/**
 * Builds settings and connectors from instances of providers and of a strategy, in place of a document.
 *
 * @throws {NoProvidersError} If there is no provider.
 * @throws {ConfigError} If the options are invalid; reports all errors at once.
 */
export function explicitPlan(options: {
  /** Providers, in order of preference. */
  readonly providers?: readonly (string | GivenProvider)[];
  readonly strategy?: string | SelectionStrategy | Connector<"strategy">;
  /** Rejected: an instance has its own models. */
  readonly models?: unknown;
  /** Rejected: an instance has its own API key. */
  readonly apiKeys?: unknown;
}, { builtIn, ids }: {
  /** The default: an id, or a connector. */
  readonly builtIn: string | Connector<"strategy">;
  /** Valid ids. */
  readonly ids: readonly string[];
}): SettingsPlan {
  const { providers, strategy = builtIn } = options;
  if (!Array.isArray(providers) || providers.length === 0) throw noProviders();
  const problems: ConfigProblem[] = [];
  const parts = readProviders(providers, problems);
  for (const path of ["models", "apiKeys"] as const) {
    if (options[path] !== undefined) {
      problems.push({ path, message: "applies to provider names only: an instance has its own" });
    }
  }
  const isConnector = has(strategy, "create");
  const used = isConnector ? strategy.id : typeof strategy === "string" ? resolveStrategy(strategy, ids) : strategy;
  if (used === undefined || typeof used !== "string" && !has(used, "select")) {
    problems.push({ path: "strategy", message: strategyHint(strategy, ids) });
  }
  if (problems.length > 0) throw new ConfigError(problems);
  const connectors = parts.map(createInstanceConnector);
  return {
    connectors: [...connectors, createKeyStore(parts), ...(isConnector ? [strategy] : [])],
    settings: buildExplicitSettings(parts, used!),
  };
}

function buildExplicitSettings(parts: readonly KnownParts[], strategy: string | SelectionStrategy): Settings {
  const hasFunctions = parts.some(({ own }) => typeof own.apiKey === "function");
  return {
    ...(hasFunctions ? { secrets: keySecrets } : {}),
    providers: new Map(
      parts.map((part) => [part.id, buildProviderEntry(part, hasFunctions ? referenceTo(part) : part.own.apiKey)]),
    ),
    models: new Map(),
    pools: new Map(),
    defaultRouting: {
      strategy,
      modelPriority: [],
      providerPriority: [],
      retry: buildInstanceRetry({}),
      providerRetry: new Map(parts.map(({ id, own }) => [id, buildInstanceRetry(own)])),
      deactivation: { retryLimit: defaultRetryLimit, errorCodes: new Set() },
      recovery: { cooldownMs: defaultCooldownMs },
    },
    aliases: new Map(),
    capabilities: [],
    deadlineMs: defaultDeadlineMs,
    observability: [],
    warnings: [],
  };
}

function readProviders(
  providers: readonly (string | GivenProvider)[],
  problems: ConfigProblem[],
): readonly KnownParts[] {
  const parts: KnownParts[] = [];
  providers.forEach((provider, index) => {
    const path = `providers[${index}]`;
    const blame = (message: string, member = "") => void problems.push({ path: path + member, message });
    if (!has(provider, "complete")) {
      return blame(`expected an instance such as openai({ apiKey }), found ${describeKind(provider)}`);
    }
    const own = provider.instanceSettings ?? {};
    const id = provider.id || `provider-${index + 1}`;
    const other = parts.find((part) => part.id === id);
    if (other !== undefined) blame(`has the id ${JSON.stringify(id)} of ${other.path}: use another`);
    if (!own.models?.length && !own.facts?.local) blame("has no models: list them in its instanceSettings");
    const problem = own.apiKey === undefined ? undefined : apiKeyProblem(own.apiKey);
    if (problem !== undefined) blame(problem, ".apiKey");
    parts.push({ path, id, provider, own, secret: `providers.${index}` });
  });
  return parts;
}

/** Strings that are not API keys: blanks, control characters, and placeholders from examples. */
const placeholderKey = /^$|[^\x21-\x7e]|\.\.\.|^[<$*]|^(?:sk-)?x+$|^(?:your|insert|enter|replace|paste)[-_]/i;

/** Why a string cannot be an API key, without a request to the provider; undefined if it may be one. */
export function apiKeyProblem(apiKey: unknown): string | undefined {
  if (typeof apiKey === "function" || typeof apiKey === "string" && !placeholderKey.test(apiKey)) return undefined;
  return "expected an API key: not blank, not a placeholder, without spaces and non-ASCII characters";
}

/** Both lists of HTTP statuses, with defaults. */
type CodeLists = Required<Pick<InstanceSettings, "retryableCodes" | "nonRetryableCodes">>;

/** The lists in effect: a configured list removes its statuses from the built-in opposite list. */
export function mergeCodes({ retryableCodes, nonRetryableCodes }: Partial<CodeLists>): CodeLists {
  return {
    retryableCodes: retryableCodes ?? without(nonRetryableCodes, defaultRetryableCodes),
    nonRetryableCodes: nonRetryableCodes ?? without(retryableCodes, defaultNonRetryableCodes),
  };
}

function without(taken: readonly number[] = [], codes: readonly number[]): readonly number[] {
  return codes.filter((code) => !taken.includes(code));
}

/** A connector that returns the instance, so that all providers are handled alike. */
function createInstanceConnector({ id, provider, own: { models = [], facts } }: KnownParts): ProviderConnector {
  return {
    ...facts,
    kind: "provider",
    id,
    vendor: id,
    keyless: true,
    models: models.map((info) => ({
      ...info,
      defaultFor: info.defaultFor ?? info.capabilities ?? ["chat-completion"],
    })),
    create(_settings, runtime) {
      provider.attach?.(runtime);
      return provider;
    },
  };
}

/** A secret store of the API keys that functions of the program look up. */
const keySecrets: SecretSettings = {
  store: "program.keys.v1",
  failOnMissing: true,
  config: {},
  cacheTtlMs: 0,
  reloadOnRotation: false,
};

function createKeyStore(parts: readonly KnownParts[]): Connector<"secretStore"> {
  const get = (name: string) => askForKey(parts.find(({ secret }) => secret === name)!);
  return { kind: "secretStore", id: keySecrets.store, create: () => ({ get }) };
}

async function askForKey({ id, path, own: { apiKey } }: KnownParts): Promise<string> {
  const key = typeof apiKey === "function" ? (await apiKey())?.trim() : apiKey;
  const problem = key ? apiKeyProblem(key) : `the function returned no API key for ${JSON.stringify(id)}`;
  if (problem !== undefined) throw new ConfigError([{ path: `${path}.apiKey`, message: problem }]);
  return key!;
}

function referenceTo({ secret, own }: KnownParts): string | undefined {
  return own.apiKey === undefined ? undefined : `\${secrets:${secret}}`;
}

function buildProviderEntry({ id, own: { timeout } }: KnownParts, apiKey: ApiKey | undefined): ProviderEntry {
  return {
    id,
    connector: id,
    enabled: true,
    apiKeys: typeof apiKey === "string" ? [apiKey] : [],
    source: "create",
    timeoutMs: timeout ?? defaultTimeouts.response,
    silenceMs: timeout ?? defaultTimeouts.silence,
    configuredSilenceMs: timeout,
    connectTimeoutMs: defaultTimeouts.connect,
    retryBudget: defaultRetryBudget,
    config: {},
  };
}

function buildInstanceRetry(own: InstanceSettings): RetrySettings {
  const { retryableCodes, nonRetryableCodes } = mergeCodes(own);
  return {
    ...defaultRetry,
    maxAttempts: own.maxRetries ?? defaultRetry.maxAttempts,
    retryableCodes: new Set(retryableCodes),
    nonRetryableCodes: new Set(nonRetryableCodes),
  };
}

/** A page has only the strategies that it imports: ids and short names of others are unknown. */
function strategyHint(strategy: unknown, ids: readonly string[]): string {
  if (ids.length > 0) return `expected an instance, or one of ${ids.join(", ")}`;
  const [, name = ""] = /^(?:mesh\.)?([a-z][a-z-]*-[a-z]+)(?:\.v1)?$/.exec(String(strategy)) ?? [];
  const imported = name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()) || "roundRobin";
  return `import one from "@modelmesh/core/browser" and pass it, such as { strategy: ${imported} }`;
}

/** Validates types: JavaScript programs may pass anything. */
function has<Value, Name extends PropertyKey>(
  value: Value,
  name: Name,
): value is Extract<Value, { readonly [Key in Name]: unknown }> {
  return typeof value === "object" && value !== null && name in value;
}

function describeKind(value: unknown): string {
  return value === null ? "null" : typeof value;
}

function noProviders(): NoProvidersError {
  return new NoProvidersError(
    "No provider was passed. Pass one: providers: [openai({ apiKey })], or " +
      "[new BrowserBaseProvider(createBrowserProviderConfig({ baseUrl, apiKey, models }))]",
  );
}

/**
 * The settings that providers given by the program make up. Nothing is read from a document or an environment, so that
 * what reads those stays out of a browser's bundle.
 * @module
 */
import type { ApiKey, GivenProvider, InstanceSettings } from "../../contracts/browser_provider.ts";
import type { Connector, ProviderConnector } from "../../contracts/connector.ts";
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

/** Providers and strategy as instances, in place of a document. */
interface ExplicitOptions {
  /** In order of preference. */
  readonly providers?: readonly (string | GivenProvider)[];
  readonly strategy?: string | SelectionStrategy | Connector<"strategy">;
  /** Refused: an instance has its models. */
  readonly models?: unknown;
  /** Refused: an instance has its key. */
  readonly apiKeys?: unknown;
}

/** Strategies beside the one that a program gives. */
interface KnownStrategies {
  /** Default: an id, or a connector. */
  readonly builtIn: string | Connector<"strategy">;
  /** Ids that may be named. */
  readonly ids: readonly string[];
}

/** Settings, and connectors that belong to them. */
export interface SettingsPlan {
  readonly settings: Settings;
  readonly connectors: readonly Connector[];
}

interface Known {
  readonly path: string;
  readonly id: string;
  readonly provider: GivenProvider;
  readonly own: InstanceSettings;
  /** Name of its first secret, under which {@linkcode keySecrets} finds its key. */
  readonly secret: string;
}

/**
 * Makes settings and connectors of instances that a program constructed.
 *
 * @param known Strategies beside the one that is given.
 * @throws {NoProvidersError} When there is no provider.
 * @throws {ConfigError} With everything else that is wrong.
 */
export function explicitPlan(options: ExplicitOptions, { builtIn, ids }: KnownStrategies): SettingsPlan {
  const { providers, strategy = builtIn } = options;
  if (!Array.isArray(providers) || providers.length === 0) throw nothingGiven();
  const problems: ConfigProblem[] = [];
  const known = readProviders(providers, problems);
  for (const path of ["models", "apiKeys"] as const) {
    if (options[path] !== undefined) {
      problems.push({ path, message: "goes with names of providers: an instance has it" });
    }
  }
  const isConnector = has(strategy, "create");
  const used = isConnector ? strategy.id : typeof strategy === "string" ? resolveStrategy(strategy, ids) : strategy;
  if (used === undefined || typeof used !== "string" && !has(used, "select")) {
    problems.push({ path: "strategy", message: strategyHint(strategy, ids) });
  }
  if (problems.length > 0) throw new ConfigError(problems);
  const connectors = known.map(connectorOf);
  return {
    connectors: [...connectors, keyStoreOf(known), ...(isConnector ? [strategy] : [])],
    settings: settingsOf(known, used!),
  };
}

function settingsOf(known: readonly Known[], strategy: string | SelectionStrategy): Settings {
  const hasFunctions = known.some(({ own }) => typeof own.apiKey === "function");
  return {
    ...(hasFunctions ? { secrets: keySecrets } : {}),
    providers: new Map(known.map((one) => [one.id, entryOf(one, hasFunctions ? referenceTo(one) : one.own.apiKey)])),
    models: new Map(),
    pools: new Map(),
    defaultRouting: {
      strategy,
      modelPriority: [],
      providerPriority: [],
      retry: retryOf({}),
      providerRetry: new Map(known.map(({ id, own }) => [id, retryOf(own)])),
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

function readProviders(given: readonly (string | GivenProvider)[], problems: ConfigProblem[]): readonly Known[] {
  const known: Known[] = [];
  given.forEach((provider, index) => {
    const path = `providers[${index}]`;
    const blame = (message: string, member = "") => void problems.push({ path: path + member, message });
    if (!has(provider, "complete")) {
      return blame(`expected an instance such as openai({ apiKey }), found ${kindOf(provider)}`);
    }
    const own = provider.instanceSettings ?? {};
    const id = provider.id || `provider-${index + 1}`;
    const other = known.find((one) => one.id === id);
    if (other !== undefined) blame(`has the id ${JSON.stringify(id)} of ${other.path}: give it another`);
    if (!own.models?.length && !own.facts?.local) blame("has no models: name them in its instanceSettings");
    const problem = own.apiKey === undefined ? undefined : apiKeyProblem(own.apiKey);
    if (problem !== undefined) blame(problem, ".apiKey");
    known.push({ path, id, provider, own, secret: `providers.${index}` });
  });
  return known;
}

/** What no key has: blanks, controls, and what people leave in from examples. */
const noKey = /^$|[^\x21-\x7e]|\.\.\.|^[<$*]|^(?:sk-)?x+$|^(?:your|insert|enter|replace|paste)[-_]/i;

/** Why a string cannot be an API key, without asking the provider; undefined when it may be one. */
export function apiKeyProblem(apiKey: unknown): string | undefined {
  if (typeof apiKey === "function" || typeof apiKey === "string" && !noKey.test(apiKey)) return undefined;
  return "expected a key: not blank, no example's, without spaces and characters beyond ASCII";
}

/** Both lists of statuses, with defaults. */
type CodeLists = Required<Pick<InstanceSettings, "retryableCodes" | "nonRetryableCodes">>;

/** The lists in effect: a given list removes its codes from the built-in other one. */
export function codesOf({ retryableCodes, nonRetryableCodes }: Partial<CodeLists>): CodeLists {
  return {
    retryableCodes: retryableCodes ?? without(nonRetryableCodes, defaultRetryableCodes),
    nonRetryableCodes: nonRetryableCodes ?? without(retryableCodes, defaultNonRetryableCodes),
  };
}

function without(taken: readonly number[] = [], codes: readonly number[]): readonly number[] {
  return codes.filter((code) => !taken.includes(code));
}

/** A connector that hands out the instance: from here on all providers are alike. */
function connectorOf({ id, provider, own: { models = [], facts } }: Known): ProviderConnector {
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

/** Keys that functions of the program find are the secrets of a store of its own. */
const keySecrets: SecretSettings = {
  store: "program.keys.v1",
  failOnMissing: true,
  config: {},
  cacheTtlMs: 0,
  reloadOnRotation: false,
};

function keyStoreOf(known: readonly Known[]): Connector<"secretStore"> {
  const get = (name: string) => askForKey(known.find(({ secret }) => secret === name)!);
  return { kind: "secretStore", id: keySecrets.store, create: () => ({ get }) };
}

async function askForKey({ id, path, own: { apiKey } }: Known): Promise<string> {
  const key = typeof apiKey === "function" ? (await apiKey())?.trim() : apiKey;
  const problem = key ? apiKeyProblem(key) : `the function found no key for ${JSON.stringify(id)}`;
  if (problem !== undefined) throw new ConfigError([{ path: `${path}.apiKey`, message: problem }]);
  return key!;
}

function referenceTo({ secret, own }: Known): string | undefined {
  return own.apiKey === undefined ? undefined : `\${secrets:${secret}}`;
}

function entryOf({ id, own: { timeout } }: Known, apiKey: ApiKey | undefined): ProviderEntry {
  return {
    id,
    connector: id,
    enabled: true,
    apiKeys: typeof apiKey === "string" ? [apiKey] : [],
    source: "create",
    timeoutMs: timeout ?? defaultTimeouts.answer,
    silenceMs: timeout ?? defaultTimeouts.silence,
    connectTimeoutMs: defaultTimeouts.connect,
    retryBudget: defaultRetryBudget,
    config: {},
  };
}

function retryOf(own: InstanceSettings): RetrySettings {
  const { retryableCodes, nonRetryableCodes } = codesOf(own);
  return {
    ...defaultRetry,
    maxAttempts: own.maxRetries ?? defaultRetry.maxAttempts,
    retryableCodes: new Set(retryableCodes),
    nonRetryableCodes: new Set(nonRetryableCodes),
  };
}

/** A page has the strategies that it imports: an id or a short name alone stands for none. */
function strategyHint(strategy: unknown, ids: readonly string[]): string {
  if (ids.length > 0) return `expected an instance, or one of ${ids.join(", ")}`;
  const [, name = ""] = /^(?:mesh\.)?([a-z]+(?:-[a-z]+)+)(?:\.v1)?$/.exec(String(strategy)) ?? [];
  const imported = name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()) || "roundRobin";
  return `import one from "@modelmesh/core/browser" and pass it, such as { strategy: ${imported} }`;
}

/** Programs in plain JavaScript pass what they like. */
function has<Value, Name extends PropertyKey>(
  value: Value,
  name: Name,
): value is Extract<Value, { readonly [Key in Name]: unknown }> {
  return typeof value === "object" && value !== null && name in value;
}

function kindOf(value: unknown): string {
  return value === null ? "null" : typeof value;
}

function nothingGiven(): NoProvidersError {
  return new NoProvidersError(
    "No provider was given. Pass one: providers: [openai({ apiKey })], or " +
      "[new BrowserBaseProvider(createBrowserProviderConfig({ baseUrl, apiKey, models }))]",
  );
}

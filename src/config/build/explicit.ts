/**
 * The settings that providers given by the program make up. Nothing is read from a document or an environment, so that
 * what reads those stays out of a browser's bundle.
 * @module
 */
import type { InstanceSettings, ProviderInstance } from "../../contracts/browser_provider.ts";
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
import type { ProviderEntry, ResolvedSettings, RetrySettings, Settings } from "../settings/settings.ts";

/** What a program gives. */
export interface ExplicitOptions {
  /** Instances, in order of preference. */
  readonly providers?: readonly ProviderInstance[];
  /** Strategy of every pool. */
  readonly strategy?: SelectionStrategy | Connector<"strategy">;
}

/** What that makes up. */
export interface ExplicitPlan {
  /** The settings: no pools, they are made on demand. */
  readonly settings: Settings;
  /** The providers' connectors, and the strategy's. */
  readonly connectors: readonly Connector[];
}

/** A provider that holds. */
interface Known {
  readonly path: string;
  readonly id: string;
  readonly provider: ProviderInstance;
  readonly says: InstanceSettings;
}

/**
 * Makes settings of providers.
 *
 * @param options What a program gives.
 * @param builtIn The strategy in use when it gives none.
 * @throws {NoProvidersError} When there is no provider.
 * @throws {ConfigError} With everything else that is wrong.
 */
export function explicitPlan(options: ExplicitOptions, builtIn: Connector<"strategy">): ExplicitPlan {
  const { providers, strategy = builtIn } = options;
  if (!Array.isArray(providers) || providers.length === 0) throw nothingGiven();
  const problems: ConfigProblem[] = [];
  const known = readProviders(providers, problems);
  const isConnector = has(strategy, "create");
  if (!isConnector && !has(strategy, "select")) {
    problems.push({ path: "strategy", message: strategyHint(strategy) });
  }
  if (problems.length > 0) throw new ConfigError(problems);
  const connectors = known.map(connectorOf);
  return {
    connectors: isConnector ? [...connectors, strategy] : connectors,
    settings: settingsOf(known, isConnector ? strategy.id : strategy),
  };
}

function settingsOf(known: readonly Known[], strategy: string | SelectionStrategy): Settings {
  return {
    secrets: { store: "", failOnMissing: true, config: {}, resolve: (settings) => readKeys(settings, known) },
    providers: new Map(known.map((one) => [one.id, entryOf(one)])),
    models: new Map(),
    pools: new Map(),
    defaultRouting: {
      strategy,
      modelPriority: [],
      providerPriority: [],
      retry: retryOf({}),
      providerRetry: new Map(known.map(({ id, says }) => [id, retryOf(says)])),
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

function readProviders(given: readonly ProviderInstance[], problems: ConfigProblem[]): readonly Known[] {
  const known: Known[] = [];
  given.forEach((provider, place) => {
    const path = `providers[${place}]`;
    const blame = (message: string, member = "") => void problems.push({ path: path + member, message });
    if (!has(provider, "complete")) {
      return blame(`expected an instance such as openai({ apiKey }), found ${kindOf(provider)}`);
    }
    const says = provider.instanceSettings ?? {};
    const id = provider.id || `provider-${place + 1}`;
    const other = known.find((one) => one.id === id);
    if (other !== undefined) blame(`has the id ${JSON.stringify(id)} of ${other.path}: give it another`);
    if (!says.models?.length && !says.facts?.local) blame("has no models: name them in its instanceSettings");
    const problem = says.apiKey === undefined ? undefined : apiKeyProblem(says.apiKey);
    if (problem !== undefined) blame(problem, ".apiKey");
    known.push({ path, id, provider, says });
  });
  return known;
}

/** What no key has: blanks, controls, and what people leave in from examples. */
const noKey = /^$|[^\x21-\x7e]|\.\.\.|^[<$*]|^(?:sk-)?x+$|^(?:your|insert|enter|replace|paste)[-_]/i;

/**
 * What is wrong with a key, as far as can be known before it is asked for.
 *
 * @param apiKey What was given.
 */
export function apiKeyProblem(apiKey: unknown): string | undefined {
  if (typeof apiKey === "function" || typeof apiKey === "string" && !noKey.test(apiKey)) return undefined;
  return "expected a key: not blank, no example's, without spaces and characters beyond ASCII";
}

/** Statuses and what to do after them. */
export type CodeLists = Required<Pick<InstanceSettings, "retryableCodes" | "nonRetryableCodes">>;

/**
 * The lists that hold: one that is given takes its codes out of the other one that is built in.
 *
 * @param given A provider's own lists.
 */
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
function connectorOf({ id, provider, says: { models = [], facts } }: Known): ProviderConnector {
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

function entryOf({ id, says: { apiKey, timeout } }: Known): ProviderEntry {
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

function retryOf(says: InstanceSettings): RetrySettings {
  const { retryableCodes, nonRetryableCodes } = codesOf(says);
  return {
    ...defaultRetry,
    maxAttempts: says.maxRetries ?? defaultRetry.maxAttempts,
    retryableCodes: new Set(retryableCodes),
    nonRetryableCodes: new Set(nonRetryableCodes),
  };
}

/** Fills in the keys that have to be asked for. */
async function readKeys(settings: Settings, known: readonly Known[]): Promise<ResolvedSettings> {
  const problems: ConfigProblem[] = [];
  const providers = new Map(settings.providers);
  await Promise.all(known.map(async ({ id, path, says: { apiKey } }) => {
    if (typeof apiKey !== "function") return;
    const key = (await apiKey())?.trim();
    const problem = key ? apiKeyProblem(key) : `the function found no key for ${JSON.stringify(id)}`;
    if (problem !== undefined) return void problems.push({ path: `${path}.apiKey`, message: problem });
    providers.set(id, { ...providers.get(id)!, apiKeys: [key!] });
  }));
  if (problems.length > 0) throw new ConfigError(problems);
  return { settings: { ...settings, providers } };
}

/** A page has the strategies that it imports: an id or a short name alone stands for none. */
function strategyHint(strategy: unknown): string {
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

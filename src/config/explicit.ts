/**
 * The settings that providers given by the program make up. Nothing is read from a document or an environment, so that
 * what reads those stays out of a browser's bundle.
 * @module
 */
import type { ProviderConnector } from "../contracts/connector.ts";
import type { SelectionStrategy } from "../contracts/rotation.ts";
import type { SecretStore } from "../contracts/secret_store.ts";
import { ConfigError, SecretNotFoundError } from "../errors.ts";
import { mergeCodes } from "./_codes.ts";
import {
  type ExplicitProvider,
  type GivenKeys,
  type GivenProvider,
  needsKey,
  readProviders,
} from "./_explicit_providers.ts";
import { keyProblem } from "./_keys.ts";
import { type ChosenModel, findModels } from "./_provider_names.ts";
import { Report, show, suggest } from "./_report.ts";
import {
  defaultCooldownMs,
  defaultCors,
  defaultProxy,
  defaultRetry,
  defaultRetryLimit,
  defaultStrategy,
  defaultWeight,
} from "./defaults.ts";
import { resolveStrategy, shortNameOf } from "./known.ts";
import type { ConfiguredModel, ProviderEntry, ResolvedSettings, RoutingSettings, Settings } from "./settings.ts";

export type { GivenKeys, GivenProvider } from "./_explicit_providers.ts";

/** What a program gives. */
export interface ExplicitOptions {
  /** Instances, and vendors' connectors. */
  readonly providers?: readonly GivenProvider[];
  /** Keys of the latter. */
  readonly apiKeys?: GivenKeys;
  /** The only models, by name; the providers' defaults when left out. */
  readonly models?: readonly string[];
  /** Strategy of every pool: an id, a short name, or an instance. */
  readonly strategy?: string | SelectionStrategy;
  /** Where keys are that `apiKeys` lacks, by variable. */
  readonly secrets?: SecretStore;
}

/** What that makes up. */
export interface ExplicitPlan {
  /** The settings: no pools, they are made on demand. */
  readonly settings: Settings;
  /** The providers' connectors. */
  readonly connectors: readonly ProviderConnector[];
}

/**
 * Makes settings of providers.
 *
 * @param options What a program gives.
 * @param strategies Ids of the strategies there are.
 * @throws {NoProvidersError} When there is no provider.
 * @throws {ConfigError} With everything else that is wrong.
 */
export function explicitPlan(options: ExplicitOptions, strategies: readonly string[]): ExplicitPlan {
  const report = new Report();
  const { apiKeys = {}, secrets } = options;
  const providers = readProviders(options.providers, apiKeys, { hasStore: secrets !== undefined, report });
  const strategy = readStrategy(options.strategy ?? defaultStrategy, strategies, report);
  const chosen = options.models?.flatMap((name, place) => findModels(name, `models[${place}]`, providers, report));
  for (const { connector } of providers) checkModels(connector, chosen, report);
  if (report.problems.length > 0) throw new ConfigError(report.problems);
  const settings: Settings = {
    secrets: {
      store: "",
      failOnMissing: true,
      config: {},
      resolve: (written) => resolveKeys(written, providers, secrets),
    },
    providers: new Map(providers.map(({ entry }) => [entry.id, entry])),
    models: new Map(chosen?.map((model) => [model.name, configuredModel(model)])),
    pools: new Map(),
    defaultRouting: routingOf(providers, strategy),
    aliases: new Map(),
    capabilities: [],
    only: chosen && [...new Set(chosen.map(({ name }) => name))],
    proxy: { ...defaultProxy, tokens: [], tokenRequired: false, cors: defaultCors, allowedHosts: [] },
    observability: [],
    warnings: report.warnings,
  };
  return { settings, connectors: providers.map(({ connector }) => connector) };
}

function configuredModel(model: ChosenModel): ConfiguredModel {
  return { ...model, delivery: {}, features: {}, constraints: {}, limits: {}, weight: defaultWeight };
}

function readStrategy(
  strategy: string | SelectionStrategy,
  strategies: readonly string[],
  report: Report,
): string | SelectionStrategy {
  if (typeof strategy !== "string") return strategy;
  const id = resolveStrategy(strategy, strategies);
  if (id === undefined) {
    report.problem("strategy", `no strategy ${show(strategy)}${suggest(strategy, strategies.map(shortNameOf))}`);
  }
  return id ?? strategy;
}

/** A provider whose models nobody names would never be asked. */
function checkModels(
  { id, models, local }: ProviderConnector,
  chosen: readonly { provider: string }[] | undefined,
  report: Report,
): void {
  if (models.length > 0 || local || chosen?.some(({ provider }) => provider === id)) return;
  report.problem("models", `the provider ${show(id)} does not say which it has: name them, such as "${id}.small"`);
}

function routingOf(providers: readonly ExplicitProvider[], strategy: string | SelectionStrategy): RoutingSettings {
  const retries = new Map(providers.map(({ entry, instance = {} }) => {
    const { maxRetries = defaultRetry.maxAttempts, retryableCodes, nonRetryableCodes } = instance;
    const codes = mergeCodes([{ retryable: retryableCodes, nonRetryable: nonRetryableCodes }]);
    return [entry.id, {
      ...defaultRetry,
      maxAttempts: maxRetries,
      retryableCodes: new Set(codes.retryable),
      nonRetryableCodes: new Set(codes.nonRetryable),
    }];
  }));
  return {
    strategy,
    modelPriority: [],
    providerPriority: [],
    retry: (provider) => retries.get(provider)!,
    deactivation: { retryLimit: defaultRetryLimit, errorCodes: new Set() },
    recovery: { cooldownMs: defaultCooldownMs },
  };
}

/** Fills in the keys that are in the store. */
async function resolveKeys(
  settings: Settings,
  providers: readonly ExplicitProvider[],
  store: SecretStore | undefined,
): Promise<ResolvedSettings> {
  const missing: string[] = [];
  const report = new Report();
  const entries = await Promise.all(providers.map(async ({ connector, entry }): Promise<ProviderEntry> => {
    const names = connector.detection?.keys ?? [];
    if (store === undefined || entry.apiKeys.length > 0 || !needsKey(connector)) return entry;
    const key = await firstOf(names, store);
    if (key === undefined) missing.push(names[0] ?? connector.id);
    const problem = key === undefined ? undefined : keyProblem(key);
    if (problem !== undefined) report.problem(`secrets.${names[0]}`, problem);
    return { ...entry, apiKeys: key === undefined ? [] : [key] };
  }));
  if (missing.length > 0) throw new SecretNotFoundError(missing, "secrets");
  if (report.problems.length > 0) throw new ConfigError(report.problems);
  const keys = new Set(entries.flatMap(({ apiKeys }) => apiKeys));
  return { settings: { ...settings, providers: new Map(entries.map((entry) => [entry.id, entry])) }, secrets: keys };
}

async function firstOf(names: readonly string[], store: SecretStore): Promise<string | undefined> {
  for (const name of names) {
    const value = (await store.get(name))?.trim();
    if (value !== undefined && value !== "") return value;
  }
  return undefined;
}

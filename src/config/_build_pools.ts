/**
 * Pools of the document and how their routing is merged: the pool's own settings, those of `*`, a provider's lists
 * of codes, the built-in ones.
 * @module
 */
import type { CapabilityTree } from "../capability/tree.ts";
import { checkCapability, checkCodes, type ConnectorOf } from "./_build_providers.ts";
import { unknownCapability } from "./_capability_names.ts";
import { type CodeLists, mergeCodes } from "./_codes.ts";
import type { ModelNames } from "./_model_names.ts";
import { type Report, show, suggest, under } from "./_report.ts";
import { deepFreeze } from "./_tree.ts";
import { defaultCooldownMs, defaultRetry, defaultRetryLimit, defaultStrategy } from "./defaults.ts";
import { resolveStrategy, shortNameOf } from "./known.ts";
import type { PoolValues } from "./schema_pools.ts";
import type { CodeValues } from "./schema_providers.ts";
import type { PoolSettings, ProviderEntry, RetrySettings, RoutingSettings } from "./settings.ts";
import { formatDuration } from "./units.ts";

/** What pools refer to. */
export interface PoolParts {
  readonly entries: ReadonlyMap<string, ProviderEntry>;
  readonly connectorOf: ConnectorOf;
  /** The lists of codes of providers that have any. */
  readonly codesOf: (provider: string) => CodeValues | undefined;
  readonly models: ModelNames;
  readonly tree: CapabilityTree;
  readonly strategies: readonly string[];
  readonly report: Report;
}

/** The name of what holds for all pools. */
export const everyPool = "*";

/**
 * The pools of the document, and the routing of pools made on demand.
 *
 * @param values As read.
 * @param parts What they refer to.
 */
export function buildPools(
  values: ReadonlyMap<string, PoolValues>,
  parts: PoolParts,
): { pools: Map<string, PoolSettings>; defaultRouting: RoutingSettings } {
  const common = values.get(everyPool) ?? {};
  const pools = new Map<string, PoolSettings>();
  for (const [name, value] of values) {
    checkRouting(value, common, under("pools", name), parts);
    if (name === everyPool) checkCommon(value, parts.report);
    else pools.set(name, buildPool(name, value, common, parts));
  }
  return { pools, defaultRouting: mergeRouting([common], parts) };
}

function buildPool(name: string, value: PoolValues, common: PoolValues, parts: PoolParts): PoolSettings {
  const path = under("pools", name);
  checkTarget(name, value, path, parts);
  checkModels(value.models, `${path}.models`, parts);
  checkProviders(value.providers, `${path}.providers`, parts);
  checkProviders(value.excluded_providers, `${path}.excluded_providers`, parts);
  const providers = expandProviders(value.providers, parts);
  const excludedProviders = expandProviders(value.excluded_providers, parts);
  for (const id of providers.filter((one) => excludedProviders.includes(one))) {
    parts.report.problem(`${path}.excluded_providers`, `${show(id)} is in "providers" too: give one of them`);
  }
  return {
    name,
    capability: value.capability ?? (value.models === undefined ? name : undefined),
    models: value.models ?? [],
    providers,
    excludedProviders,
    routing: mergeRouting([value, common], parts),
  };
}

function checkTarget(name: string, value: PoolValues, path: string, { tree, report }: PoolParts): void {
  if (value.capability !== undefined) checkCapability(value.capability, `${path}.capability`, tree, report);
  if (value.capability !== undefined || value.models !== undefined) return;
  if (report.isBlamed(`${path}.capability`) || report.isBlamed(`${path}.models`)) return;
  if (tree.matches(name).length > 0) return checkCapability(name, path, tree, report);
  report.problem(path, `needs "capability" or "models": ${show(name)} ${unknownCapability(name, tree)}`);
}

function checkModels(names: readonly string[] = [], path: string, { models, report }: PoolParts): void {
  names.forEach((name, place) => {
    if (models.has(name)) return;
    report.problem(`${path}[${place}]`, `no model ${show(name)}${suggest(name, models.all())}`);
  });
}

function checkProviders(names: readonly string[] = [], path: string, parts: PoolParts): void {
  names.forEach((name, place) => {
    if (expandProviders([name], parts).length > 0) return;
    parts.report.problem(`${path}[${place}]`, `no provider ${show(name)}${suggest(name, [...parts.entries.keys()])}`);
  });
}

/** Entry ids; a connector's id or a vendor stands for all of its entries. */
function expandProviders(names: readonly string[] = [], { entries, connectorOf }: PoolParts): string[] {
  const ids = names.flatMap((name) => {
    if (entries.has(name)) return [name];
    const meant = [...entries.values()].filter((entry) => {
      return entry.connector === name || connectorOf(entry)?.vendor === name;
    });
    return meant.map(({ id }) => id);
  });
  return [...new Set(ids)];
}

function checkCommon(value: PoolValues, report: Report): void {
  for (const key of ["capability", "models", "providers", "excluded_providers"] as const) {
    if (value[key] !== undefined) {
      report.problem(`pools.${everyPool}.${key}`, "cannot hold for all pools: give it to one");
    }
  }
}

function checkRouting(value: PoolValues, common: PoolValues, path: string, parts: PoolParts): void {
  const { report, strategies } = parts;
  for (const key of ["strategy", "fallback_strategy"] as const) {
    const name = value[key];
    if (typeof name !== "string" || resolveStrategy(name, strategies) !== undefined) continue;
    const names = name.includes(".") ? strategies : strategies.map(shortNameOf);
    report.problem(`${path}.${key}`, `no strategy ${show(name)} is registered${suggest(name, names)}`);
  }
  checkModels(value.model_priority, `${path}.model_priority`, parts);
  checkProviders(value.provider_priority, `${path}.provider_priority`, parts);
  checkCodes(value.retry, `${path}.retry`, report);
  const { initial_delay: initial, max_delay: longest } = value.retry ?? {};
  if (initial === undefined && longest === undefined) return;
  const initialMs = initial ?? common.retry?.initial_delay ?? defaultRetry.initialDelayMs;
  const longestMs = longest ?? common.retry?.max_delay ?? defaultRetry.maxDelayMs;
  if (longestMs >= initialMs) return;
  const delays = `"max_delay" (${formatDuration(longestMs)}) is less than "initial_delay" (${
    formatDuration(initialMs)
  })`;
  report.problem(`${path}.retry.${longest === undefined ? "initial_delay" : "max_delay"}`, delays);
}

/**
 * The routing of a pool.
 *
 * @param layers Settings, the strongest first.
 * @param parts What they refer to.
 */
function mergeRouting(layers: readonly PoolValues[], parts: PoolParts): RoutingSettings {
  function first<Value>(pick: (layer: PoolValues) => Value | undefined): Value | undefined {
    return layers.map(pick).find((value) => value !== undefined);
  }
  const strategy = first((layer) => layer.strategy) ?? defaultStrategy;
  const fallback = first((layer) => layer.fallback_strategy);
  return Object.freeze({
    strategy: typeof strategy === "string" ? resolveStrategy(strategy, parts.strategies) ?? strategy : strategy,
    fallbackStrategy: fallback === undefined ? undefined : resolveStrategy(fallback, parts.strategies),
    modelPriority: deepFreeze(first((layer) => layer.model_priority) ?? []),
    providerPriority: deepFreeze(expandProviders(first((layer) => layer.provider_priority), parts)),
    retry: retryByProvider(layers, first, parts.codesOf),
    deactivation: deepFreeze({
      retryLimit: first((layer) => layer.deactivation?.retry_limit) ?? defaultRetryLimit,
      errorCodes: new Set(first((layer) => layer.deactivation?.error_codes)),
    }),
    recovery: deepFreeze({ cooldownMs: first((layer) => layer.recovery?.cooldown) ?? defaultCooldownMs }),
  });
}

function retryByProvider(
  layers: readonly PoolValues[],
  first: <Value>(pick: (layer: PoolValues) => Value | undefined) => Value | undefined,
  codesOf: PoolParts["codesOf"],
): RoutingSettings["retry"] {
  const common = {
    maxAttempts: first(({ retry }) => retry?.max_attempts) ?? defaultRetry.maxAttempts,
    backoff: first(({ retry }) => retry?.backoff) ?? defaultRetry.backoff,
    initialDelayMs: first(({ retry }) => retry?.initial_delay) ?? defaultRetry.initialDelayMs,
    maxDelayMs: first(({ retry }) => retry?.max_delay) ?? defaultRetry.maxDelayMs,
    scope: first(({ retry }) => retry?.scope) ?? defaultRetry.scope,
    honorRetryAfter: first(({ retry }) => retry?.honor_retry_after) ?? defaultRetry.honorRetryAfter,
  };
  const byProvider = new Map<string | undefined, RetrySettings>();
  return (provider) => {
    const codes = codesOf(provider);
    const key = codes === undefined ? undefined : provider;
    const known = byProvider.get(key);
    if (known !== undefined) return known;
    const { retryable, nonRetryable } = mergeCodes([...layers.map(({ retry }) => retry), codes].map(listsOf));
    const settings = deepFreeze({
      ...common,
      retryableCodes: new Set(retryable),
      nonRetryableCodes: new Set(nonRetryable),
    });
    byProvider.set(key, settings);
    return settings;
  };
}

function listsOf(codes: CodeValues | undefined): CodeLists {
  return { retryable: codes?.retryable_codes, nonRetryable: codes?.non_retryable_codes };
}

/**
 * Builds the pools of the document: the settings of each are merged from its own, those of `*`, the retry lists of a
 * provider, and the defaults.
 * @module
 */
import { everyPool, mergeLayers, pool, type PoolValues } from "../schema/pools.ts";
import {
  checkCapability,
  checkCodes,
  checkProviders,
  expandProviders,
  type ModelNames,
  type ProviderParts,
  unknownCapability,
} from "../check/names.ts";
import type { CapabilityTree } from "../../capability/tree.ts";
import { checkContradictions, type RoutingFacts } from "../check/contradictions.ts";
import { mergeBudgets, toNanoUsd } from "../schema/budget.ts";
import { type Report, show, suggest, under } from "../schema/report.ts";
import { resolveStrategy, toShortName } from "../settings/known.ts";
import type {
  BudgetSettings,
  DeactivationSettings,
  HedgeSettings,
  PoolSettings,
  RetrySettings,
  RoutingSettings,
} from "../settings/settings.ts";
import { parseHedgeDelay } from "../schema/units.ts";
import { complete, type Completed } from "../schema/complete.ts";
import { parseCron } from "../../util/cron.ts";
import { deepFreeze } from "../schema/tree.ts";
import { type CodeValues, provider, type ProviderValues } from "../schema/providers.ts";
import { defaultNonRetryableCodes, defaultRetryableCodes } from "../settings/defaults.ts";

interface PoolParts extends RoutingParts, RoutingFacts {
  readonly tree: CapabilityTree;
}

/** Merges each pool's settings with those of `*` and the defaults, and validates them. */
export function buildPools(values: ReadonlyMap<string, PoolValues>, parts: PoolParts): {
  /** In document order. */
  readonly pools: Map<string, PoolSettings>;
  readonly defaultRouting: RoutingSettings;
  readonly defaultBudget?: BudgetSettings;
} {
  const common = values.get(everyPool) ?? {};
  const others = [...values.values()].filter((value) => value !== common);
  const everywhere = [[common], ...others.map((value) => [value, common])];
  const pools = new Map<string, PoolSettings>();
  for (const [name, value] of values) {
    const path = under("pools", name);
    checkRouting(value, path, parts);
    if (name === everyPool) checkCommon(value, parts.report);
    else pools.set(name, buildPool(name, value, { common, parts }));
    checkContradictions(value, path, { layers: name === everyPool ? everywhere : [[value, common]], facts: parts });
  }
  return { pools, defaultRouting: mergeRouting([common], parts), defaultBudget: mergeBudgets([common.budget]) };
}

function buildPool(
  name: string,
  value: PoolValues,
  { common, parts }: { readonly common: PoolValues; readonly parts: PoolParts },
): PoolSettings {
  const path = under("pools", name);
  checkTarget(name, value, { path, parts });
  checkModels(value.models, `${path}.models`, parts);
  checkProviders(value.providers, `${path}.providers`, parts);
  checkProviders(value.excluded_providers, `${path}.excluded_providers`, parts);
  const providers = expandProviders(value.providers, parts);
  const excludedProviders = expandProviders(value.excluded_providers, parts);
  for (const id of providers.filter((provider) => excludedProviders.includes(provider))) {
    parts.report.problem(`${path}.excluded_providers`, `${show(id)} is also in "providers": remove one of them`);
  }
  return {
    name,
    capability: value.capability ?? (value.models === undefined ? name : undefined),
    models: value.models?.map((model) => parts.models.toTarget(model)) ?? [],
    providers,
    excludedProviders,
    routing: mergeRouting([value, common], parts),
    budget: mergeBudgets([value.budget, common.budget]),
  };
}

function checkTarget(
  name: string,
  value: PoolValues,
  { path, parts: { tree, report } }: { readonly path: string; readonly parts: PoolParts },
): void {
  if (value.capability !== undefined) checkCapability(value.capability, `${path}.capability`, { tree, report });
  if (value.capability !== undefined || value.models !== undefined) return;
  if (report.hasProblemAt(`${path}.capability`) || report.hasProblemAt(`${path}.models`)) return;
  if (tree.matches(name).length > 0) return checkCapability(name, path, { tree, report });
  report.problem(path, `needs "capability" or "models": ${show(name)} ${unknownCapability(name, tree)}`);
}

function checkModels(names: readonly string[] = [], path: string, { models, report }: PoolParts): void {
  names.forEach((name, index) => {
    const at = `${path}[${index}]`;
    const target = models.toTarget(name);
    if (models.has(target)) return;
    if (target === name) return report.problem(at, models.describeUnknown(name));
    report.problem(at, `is an alias of ${show(target)}, which is not a model`);
  });
}

function checkCommon(value: PoolValues, report: Report): void {
  for (const key of ["capability", "models", "providers", "excluded_providers"] as const) {
    if (value[key] !== undefined) {
      report.problem(`pools.${everyPool}.${key}`, "cannot apply to all pools: set it for a single pool");
    }
  }
}

function checkRouting(value: PoolValues, path: string, parts: PoolParts): void {
  const { report, strategies } = parts;
  for (const key of ["strategy", "fallback_strategy"] as const) {
    const name = value[key];
    if (typeof name !== "string" || resolveStrategy(name, strategies) !== undefined) continue;
    const names = name.includes(".") ? strategies : strategies.map(toShortName);
    report.problem(`${path}.${key}`, `no strategy ${show(name)} is registered${suggest(name, names)}`);
  }
  checkModels(value.model_priority, `${path}.model_priority`, parts);
  checkProviders(value.provider_priority, `${path}.provider_priority`, parts);
  checkCodes(value.retry, `${path}.retry`, parts.report);
}

interface RoutingParts extends ProviderParts {
  /** Parsed provider entries, which may have retry settings of their own. */
  readonly providerValues: ReadonlyMap<string, ProviderValues>;
  readonly strategies: readonly string[];
  readonly models: ModelNames;
}

/**
 * Merges layers key by key, with defaults for missing keys.
 *
 * @param layers Layers, highest precedence first.
 */
function mergeRouting(layers: readonly PoolValues[], parts: RoutingParts): RoutingSettings {
  const { capability: _, models: __, providers: ___, excludedProviders: ____, budget: _____, ...settings } = complete(
    pool,
    mergeLayers(layers),
  );
  const { strategy, fallbackStrategy: fallback } = settings;
  const withOwnRetry = [...parts.providerValues].filter(([, { error, execution }]) => error ?? execution?.max_retries);
  return deepFreeze({
    ...settings,
    strategy: typeof strategy === "string" ? resolveStrategy(strategy, parts.strategies) ?? strategy : strategy,
    fallbackStrategy: fallback === undefined ? undefined : resolveStrategy(fallback, parts.strategies),
    modelPriority: settings.modelPriority?.map((name) => parts.models.toTarget(name)) ?? [],
    providerPriority: expandProviders(settings.providerPriority, parts),
    retry: buildRetry(layers, settings.retry),
    providerRetry: new Map(withOwnRetry.map(([id, value]) => [id, buildRetry(layers, settings.retry, value)])),
    hedge: buildHedge(settings.hedge),
    guards: mergeGuards(layers),
    deactivation: buildDeactivation(settings.deactivation),
    providerDeactivation: new Set(settings.providerDeactivation),
  });
}

/** Guards of all pools come before those of one, which cannot remove them. */
function mergeGuards(layers: readonly PoolValues[]): readonly string[] | undefined {
  let names: readonly string[] = [];
  for (const { guards } of layers) if (guards !== undefined) names = [...guards, ...names];
  return names.length === 0 ? undefined : [...new Set(names)];
}

function buildHedge(settings: Completed<typeof pool.fields.hedge> | undefined): HedgeSettings | undefined {
  const after = settings && parseHedgeDelay(settings.after);
  return after && { after, maxShare: settings.maxShare };
}

function buildDeactivation(settings: Completed<typeof pool.fields.deactivation>): DeactivationSettings {
  const { errorCodes, budgetLimit, maintenanceWindow, maintenanceDurationMs, ...others } = settings;
  const { errorRateThreshold: threshold, errorRateWindowMs, errorRateMinRequests, ...limits } = others;
  return {
    ...limits,
    errorCodes: new Set(errorCodes),
    errorRate: threshold === undefined
      ? undefined
      : { threshold, windowMs: errorRateWindowMs, minRequests: errorRateMinRequests },
    budgetLimitNanoUsd: budgetLimit === undefined ? undefined : toNanoUsd(budgetLimit),
    maintenance: maintenanceWindow === undefined
      ? undefined
      : { cron: parseCron(maintenanceWindow), durationMs: maintenanceDurationMs },
  };
}

function buildRetry(
  layers: readonly PoolValues[],
  settings: Completed<typeof pool.fields.retry>,
  value: Pick<ProviderValues, "error" | "execution"> = {},
): RetrySettings {
  const { retryable, nonRetryable } = mergeCodeLayers(
    [...layers.map(({ retry }) => retry), value.error].map(toCodeLists),
  );
  const { maxRetries } = complete(provider.fields.execution, value.execution);
  return {
    ...settings,
    maxAttempts: (settings.maxAttempts + 1) * (maxRetries + 1) - 1, // a provider's own retries apply within each attempt
    retryableCodes: new Set(retryable),
    nonRetryableCodes: new Set(nonRetryable),
  };
}

function toCodeLists(codes: CodeValues | undefined): CodeLayer {
  return { retryable: codes?.retryable_codes, nonRetryable: codes?.non_retryable_codes };
}

/** The lists of one layer; an omitted list inherits from the layer below. */
interface CodeLayer {
  readonly retryable?: readonly number[];
  readonly nonRetryable?: readonly number[];
}

/**
 * Merges the layers: a list replaces those below it, and removes its statuses from the opposite list.
 *
 * @param layers Layers, highest precedence first; the built-in lists are below them.
 */
function mergeCodeLayers(layers: readonly CodeLayer[]): Required<CodeLayer> {
  let retryable = defaultRetryableCodes;
  let nonRetryable = defaultNonRetryableCodes;
  for (const { retryable: more, nonRetryable: less } of [...layers].reverse()) {
    if (more !== undefined) {
      retryable = more;
      nonRetryable = nonRetryable.filter((code) => !more.includes(code));
    }
    if (less !== undefined) {
      nonRetryable = less;
      retryable = retryable.filter((code) => !less.includes(code));
    }
  }
  return { retryable, nonRetryable };
}

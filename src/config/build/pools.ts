/**
 * Builds the pools of the document.
 * @module
 */
import { everyPool } from "../schema/pools.ts";
import { checkCapability } from "../check/capability_names.ts";
import { checkCodes, checkProviders, expandProviders } from "../check/provider_names.ts";
import type { CapabilityTree } from "../../capability/tree.ts";
import { mergeRouting, type RoutingParts } from "./routing.ts";
import { unknownCapability } from "../check/capability_names.ts";
import { checkContradictions, type RoutingFacts } from "../check/routing.ts";
import { mergeBudgets } from "../schema/money.ts";
import { type Report, show, suggest, under } from "../schema/report.ts";
import { resolveStrategy, toShortName } from "../settings/known.ts";
import type { PoolValues } from "../schema/pools.ts";
import type { BudgetSettings, PoolSettings, RoutingSettings } from "../settings/settings.ts";

interface PoolParts extends RoutingParts, RoutingFacts {
  readonly tree: CapabilityTree;
}

/** Configured pools, and the settings of on-demand pools. */
interface Pools {
  /** In document order. */
  readonly pools: Map<string, PoolSettings>;
  readonly defaultRouting: RoutingSettings;
  readonly defaultBudget?: BudgetSettings;
}

/** Merges each pool's settings with those of `*` and the defaults, and validates them. */
export function buildPools(values: ReadonlyMap<string, PoolValues>, parts: PoolParts): Pools {
  const common = values.get(everyPool) ?? {};
  const others = [...values.values()].filter((value) => value !== common);
  const everywhere = [[common], ...others.map((value) => [value, common])];
  const pools = new Map<string, PoolSettings>();
  for (const [name, value] of values) {
    const path = under("pools", name);
    checkRouting(value, path, parts);
    if (name === everyPool) checkCommon(value, parts.report);
    else pools.set(name, buildPool(name, value, common, parts));
    checkContradictions(value, path, name === everyPool ? everywhere : [[value, common]], parts);
  }
  return { pools, defaultRouting: mergeRouting([common], parts), defaultBudget: mergeBudgets([common.budget]) };
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

function checkTarget(name: string, value: PoolValues, path: string, { tree, report }: PoolParts): void {
  if (value.capability !== undefined) checkCapability(value.capability, `${path}.capability`, tree, report);
  if (value.capability !== undefined || value.models !== undefined) return;
  if (report.hasProblemAt(`${path}.capability`) || report.hasProblemAt(`${path}.models`)) return;
  if (tree.matches(name).length > 0) return checkCapability(name, path, tree, report);
  report.problem(path, `needs "capability" or "models": ${show(name)} ${unknownCapability(name, tree)}`);
}

function checkModels(names: readonly string[] = [], path: string, { models, report }: PoolParts): void {
  names.forEach((name, index) => {
    const at = `${path}[${index}]`;
    const target = models.toTarget(name);
    if (models.has(target)) return;
    if (target === name) return report.problem(at, `no model ${show(name)}${suggest(name, models.all())}`);
    report.problem(at, `is an alias of ${show(target)}, which is no model`);
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

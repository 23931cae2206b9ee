/**
 * Checks routing settings and budgets that contradict each other, or cannot have an effect; contradictions that cannot
 * work are problems, odd ones are warnings.
 * @module
 */
import { createLookup, everyPool, type First, pool, type PoolValues } from "../schema/pools.ts";
import { isEndless } from "../schema/formats.ts";
import { quoted, type Report, under } from "../schema/report.ts";
import { defaultRetry } from "../settings/defaults.ts";
import { formatDuration } from "../schema/units.ts";
import { servesOperation } from "../../capability/operations.ts";
import { hasPrice, mergePricing, pricingIn } from "../../util/pricing.ts";
import type { Members } from "./pool_members.ts";
import { type BudgetValues, countHours, type LimitValues, listLimits, toNanoUsd } from "../schema/budget.ts";
import type { DocumentValues } from "../schema/schema.ts";
import type { TokenValues } from "../schema/proxy.ts";
import type { ConfiguredModel, PoolSettings } from "../settings/settings.ts";
import { requireResult } from "../../util/once.ts";

export interface RoutingFacts {
  readonly strategies: readonly string[];
  readonly hasHealthProbes: boolean;
  readonly report: Report;
}

/**
 * Reports contradictions in the routing of one pool, or of `*`.
 *
 * @param value The parsed settings.
 */
export function checkContradictions(
  value: PoolValues,
  path: string,
  { layers, facts }: {
    /** The layers of each pool that includes `value`, highest precedence first. */
    readonly layers: readonly (readonly PoolValues[])[];
    readonly facts: RoutingFacts;
  },
): void {
  if (value.deactivation?.error_rate_threshold === 0) {
    facts.report.warn(
      `${path}.deactivation.error_rate_threshold`,
      "is 0: models go into standby even without a failure",
    );
  }
  const first = createLookup(layers[0] ?? [value]);
  checkMaintenance(value, path, { first, report: facts.report });
  checkProviderRecovery(value, path, { first, facts });
  checkDelays(value, path, { first, report: facts.report });
}

function checkMaintenance(
  { deactivation }: PoolValues,
  path: string,
  { first, report }: { readonly first: First; readonly report: Report },
): void {
  const { maintenance_window: own, maintenance_duration: ownMs } = deactivation ?? {};
  const start = first((layer) => layer.deactivation?.maintenance_window);
  if (own === undefined && ownMs === undefined || start === undefined) return;
  const durationMs = first((layer) => layer.deactivation?.maintenance_duration) ??
    pool.fields.deactivation.fields.maintenance_duration.default;
  if (!isEndless(start, durationMs)) return;
  report.problem(
    `${path}.deactivation.${ownMs === undefined ? "maintenance_window" : "maintenance_duration"}`,
    `maintenance of ${formatDuration(durationMs)} lasts until it starts again: it would never end`,
  );
}

function checkProviderRecovery(
  value: PoolValues,
  path: string,
  { first, facts }: { readonly first: First; readonly facts: RoutingFacts },
): void {
  const { report, hasHealthProbes } = facts;
  if (value.provider_recovery !== "on_probe_success" || hasHealthProbes) return;
  if (first(({ recovery }) => recovery?.probe_interval) !== undefined) return;
  if (report.hasProblemAt(`${path}.recovery`) || report.hasProblemAt("discovery.health")) return;
  report.problem(
    `${path}.provider_recovery`,
    '"on_probe_success" never occurs: set "recovery.probe_interval" or "discovery.health.interval"',
  );
}

function checkDelays(
  { retry, rate_limit: rate }: PoolValues,
  path: string,
  { first, report }: { readonly first: First; readonly report: Report },
): void {
  const initialMs = first((layer) => layer.retry?.initial_delay) ?? defaultRetry.initialDelayMs;
  const maxMs = first((layer) => layer.retry?.max_delay) ?? defaultRetry.maxDelayMs;
  const maxDelay = `"max_delay" (${formatDuration(maxMs)})`;
  if (maxMs < initialMs && (retry?.initial_delay ?? retry?.max_delay) !== undefined) {
    const key = retry?.max_delay === undefined ? "initial_delay" : "max_delay";
    report.problem(`${path}.retry.${key}`, `${maxDelay} is less than "initial_delay" (${formatDuration(initialMs)})`);
  }
  const deltaMs = first((layer) => layer.rate_limit?.min_delta) ?? 0;
  if (deltaMs > maxMs && (rate?.min_delta ?? retry?.max_delay) !== undefined) {
    const key = rate?.min_delta === undefined ? "retry.max_delay" : "rate_limit.min_delta";
    const delta = `"min_delta" (${formatDuration(deltaMs)})`;
    report.warn(`${path}.${key}`, `${delta} is longer than ${maxDelay}, the maximum that a request waits for it`);
  }
}

interface BudgetParts {
  readonly members: Members;
  readonly pools: ReadonlyMap<string, PoolSettings>;
  readonly report: Report;
}

interface Limit {
  readonly path: string;
  readonly holdsFor: (model: ConfiguredModel) => boolean;
}

/** Reports contradictory limits, and models with a budget but no known price. */
export function checkBudgets(values: DocumentValues, parts: BudgetParts): void {
  const { members, report } = parts;
  const common = values.pools?.get(everyPool);
  checkBudget("budget", [values.budget], report);
  for (const [id, { budget }] of values.providers ?? []) {
    checkBudget(`${under("providers", id)}.budget`, [budget], report);
  }
  for (const [name, { budget, deactivation }] of values.pools ?? []) {
    const path = under("pools", name);
    checkBudget(`${path}.budget`, [budget, common?.budget], report);
    checkNothing(deactivation?.budget_limit, `${path}.deactivation.budget_limit`, report);
  }
  for (const { path, budget } of listLimited(values)) checkBudget(`${path}.budget`, [budget], report);
  const limits = collectLimits(values, parts);
  for (const model of members.usable) {
    const limit = limits.find(({ holdsFor }) => holdsFor(model));
    const path = under("models", model.name);
    const missing = limit && !report.hasProblemAt(path) ? missingPrice(model, values, members) : undefined;
    if (missing !== undefined) report.problem(`${path}.pricing`, `missing: "${limit!.path}" needs ${missing}`);
  }
}

function collectLimits(values: DocumentValues, parts: BudgetParts): readonly Limit[] {
  const { budget, providers, pools } = values;
  const limits: Limit[] = [];
  if (isLimit(budget)) limits.push({ path: "budget", holdsFor: () => true });
  for (const [id, value] of providers ?? []) {
    if (!isLimit(value.budget)) continue;
    limits.push({ path: `${under("providers", id)}.budget`, holdsFor: ({ provider }) => provider === id });
  }
  for (const [name, value] of pools ?? []) {
    const pool = parts.pools.get(name);
    const inPool = new Set(pool && parts.members.configuredIn(pool));
    // settings of all pools also apply to on-demand pools, which may contain any model
    const holdsFor = (model: ConfiguredModel) => pool === undefined || inPool.has(model);
    const path = under("pools", name);
    if (isLimit(value.budget)) limits.push({ path: `${path}.budget`, holdsFor });
    if (value.deactivation?.budget_limit === undefined) continue;
    limits.push({ path: `${path}.deactivation.budget_limit`, holdsFor });
  }
  for (const { path, budget, pools: own } of listLimited(values)) {
    if (isLimit(budget)) limits.push({ path: `${path}.budget`, holdsFor: holdsIn(own, parts) });
  }
  return limits;
}

/** Returns the clients, teams, tags and end users, with their paths. A bare token is a client without limits. */
export function listLimited(
  { proxy, teams, tags, users }: DocumentValues,
): readonly (Pick<TokenValues, "budget" | "pools"> & { readonly path: string })[] {
  return [
    ...(proxy?.auth?.tokens ?? []).map((entry, index) => ({
      ...typeof entry === "string" ? {} : entry,
      path: `proxy.auth.tokens[${index}]`,
    })),
    ...[...teams ?? []].map(([name, team]) => ({ ...team, path: under("teams", name) })),
    ...[...tags ?? []].map(([name, limits]) => ({ ...limits, path: under("tags", name) })),
    ...(users === undefined ? [] : [{ ...users, path: "users" }]),
  ];
}

/** A client with access to all pools, or to an on-demand pool, may use any model. */
function holdsIn(names: readonly string[] | undefined, { pools, members }: BudgetParts): Limit["holdsFor"] {
  const own = names?.map((name) => pools.get(name));
  if (own === undefined || own.includes(undefined)) return () => true;
  const models = new Set(own.flatMap((pool) => [...members.configuredIn(pool!)]));
  return (model) => models.has(model);
}

function isLimit(budget: BudgetValues | undefined): boolean {
  return budget !== undefined && listLimits(budget).length > 0;
}

function checkBudget(path: string, layers: readonly (BudgetValues | undefined)[], report: Report): void {
  if (layers[0] === undefined) return;
  const lists = layers.map(listLimits);
  const [own = []] = lists;
  for (const { key, usd } of own) checkNothing(usd, path + key, report);
  const inForce = [...new Map(lists.flat().toReversed().map((limit) => [limit.id, limit])).values()];
  const reported = new Set<string>();
  for (const shorter of inForce) {
    for (const longer of inForce) {
      const isExceeding = countHours(shorter.id) < countHours(longer.id) && shorter.usd > longer.usd;
      const where = own.find((limit) => limit === shorter) ?? own.find((limit) => limit === longer);
      if (!isExceeding || where === undefined || reported.has(where.key)) continue;
      reported.add(where.key);
      report.warn(path + where.key, `${describeLimit(shorter)} is more than ${describeLimit(longer)}`);
    }
  }
}

function describeLimit({ key, window, usd }: LimitValues): string {
  return key.startsWith("[") ? `the limit of "${window}" (${usd})` : `"${key.slice(1)}" (${usd})`;
}

function checkNothing(usd: number | undefined, path: string, report: Report): void {
  if (usd !== undefined && toNanoUsd(usd) === 0) report.warn(path, "is 0: nothing may be spent");
}

/** The unknown prices of a model that a call may need. */
function missingPrice(model: ConfiguredModel, values: DocumentValues, members: Members): string | undefined {
  if (values.providers?.get(model.provider)?.credentials === "header") return undefined; // callers pay
  const listed = members.catalogued(model)?.pricing ?? queryInstancePricing(model, values);
  if (listed === undefined && model.pricing === undefined) {
    if (members.isLocal(model) || members.isCostStated(model) || members.isPriceQueried(model)) return undefined; // without a response: `no_price`
  }
  const prices = mergePricing(listed, model.pricing) ?? [{}];
  if (!members.findKnownLeaves(model).some((leaf) => servesOperation(leaf, "chat"))) {
    return prices.every(hasPrice) ? undefined : "a price";
  }
  const missing = (["input", "output"] as const).filter((key) => prices.some((price) => price[key] === undefined));
  return missing.length === 0 ? undefined : quoted(missing);
}

/** An instance of the program already exists, so its prices can be queried. */
function queryInstancePricing({ provider, id }: ConfiguredModel, { providers }: DocumentValues) {
  try {
    return pricingIn(requireResult(providers?.get(provider)?.instance?.getPricing(id)));
  } catch {
    return undefined;
  }
}

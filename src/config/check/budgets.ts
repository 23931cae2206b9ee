/**
 * Checks budgets: contradictory limits, and models with a budget but no known price.
 * @module
 */
import { everyPool } from "../schema/pools.ts";
import { servesOperation } from "../../capability/operations.ts";
import { pricingIn } from "../../util/pricing.ts";
import type { Members } from "./pool_members.ts";
import { toNanoUsd } from "../schema/money.ts";
import { quoted, type Report, under } from "../schema/report.ts";
import type { DocumentValues } from "../schema/schema.ts";
import type { BudgetValues } from "../schema/providers.ts";
import type { TokenValues } from "../schema/proxy.ts";
import type { ConfiguredModel, PoolSettings } from "../settings/settings.ts";
import { callNow } from "../../util/call_now.ts";

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
  listTokenClients(values).forEach(({ budget }, index) => {
    checkBudget(`proxy.auth.tokens[${index}].budget`, [budget], report);
  });
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
  listTokenClients(values).forEach(({ budget, pools: own }, index) => {
    if (isLimit(budget)) limits.push({ path: `proxy.auth.tokens[${index}].budget`, holdsFor: holdsIn(own, parts) });
  });
  return limits;
}

/** A bare token is a client without limits. */
function listTokenClients({ proxy }: DocumentValues): TokenValues[] {
  return (proxy?.auth?.tokens ?? []).map((entry) => typeof entry === "string" ? {} : entry);
}

/** A client with access to all pools, or to an on-demand pool, may use any model. */
function holdsIn(names: readonly string[] | undefined, { pools, members }: BudgetParts): Limit["holdsFor"] {
  const own = names?.map((name) => pools.get(name));
  if (own === undefined || own.includes(undefined)) return () => true;
  const models = new Set(own.flatMap((pool) => [...members.configuredIn(pool!)]));
  return (model) => models.has(model);
}

function isLimit(budget: BudgetValues | undefined): boolean {
  return (budget?.daily_limit ?? budget?.monthly_limit) !== undefined;
}

function checkBudget(path: string, layers: readonly (BudgetValues | undefined)[], report: Report): void {
  const [own] = layers;
  checkNothing(own?.daily_limit, `${path}.daily_limit`, report);
  checkNothing(own?.monthly_limit, `${path}.monthly_limit`, report);
  const daily = layers.find((layer) => layer?.daily_limit !== undefined)?.daily_limit ?? 0;
  const monthly = layers.find((layer) => layer?.monthly_limit !== undefined)?.monthly_limit ?? Infinity;
  if (!isLimit(own) || daily <= monthly) return;
  const key = own?.daily_limit === undefined ? "monthly_limit" : "daily_limit";
  report.warn(`${path}.${key}`, `"daily_limit" (${daily}) is more than "monthly_limit" (${monthly})`);
}

function checkNothing(usd: number | undefined, path: string, report: Report): void {
  if (usd !== undefined && toNanoUsd(usd) === 0) report.warn(path, "is 0: nothing may be spent");
}

/** The unknown prices of a model that a call may need. */
function missingPrice(model: ConfiguredModel, values: DocumentValues, members: Members): string | undefined {
  const known = members.catalogued(model)?.pricing ?? answeredPricing(model, values) ?? [];
  if (known.length === 0 && model.pricing === undefined) {
    if (members.isLocal(model) || members.isPriceQueried(model)) return undefined; // without an answer: `no_price`
  }
  const prices = (known.length === 0 ? [{}] : known).map((price) => ({ ...price, ...model.pricing }));
  if (!members.findKnownLeaves(model).some((leaf) => servesOperation(leaf, "chat"))) {
    const dates = new Set(["from", "above_tokens"]);
    return prices.every((price) => Object.keys(price).some((key) => !dates.has(key))) ? undefined : "a price";
  }
  const missing = (["input", "output"] as const).filter((key) => prices.some((price) => price[key] === undefined));
  return missing.length === 0 ? undefined : quoted(missing);
}

/** An instance of the program already exists, so its prices can be queried. */
function answeredPricing({ provider, id }: ConfiguredModel, { providers }: DocumentValues) {
  try {
    return pricingIn(callNow(() => providers?.get(provider)?.instance?.getPricing(id)));
  } catch {
    return undefined;
  }
}

/**
 * What a proxy serves, for its operator: what requests will use, and what that costs. Imported when it has started.
 * @module
 */
import { formatDuration } from "../config/schema/units.ts";
import type { DatedPricing, ModelInfo } from "../contracts/provider.ts";
import type { Engine } from "../engine/engine.ts";
import type { Member, Pool } from "../registry/registry.ts";
import { isListed } from "../rotation/tiers.ts";
import { selectionContext } from "../pipeline/apply_strategy.ts";
import { priceAt } from "../util/cost.ts";
import { groupBy } from "../util/entries.ts";
import { describePrice } from "../util/price_text.ts";
import { printable } from "../util/printable.ts";

/** A pool, and what its requests use. */
export interface ServedPool {
  readonly name: string;
  readonly capability: string | null;
  /** Id of its strategy. */
  readonly strategy: string;
  /** Its models, in the order in which they are tried while none has failed. */
  readonly models: readonly {
    readonly name: string;
    /** The provider's id in the configuration. */
    readonly provider: string;
    /** Its current prices in USD, those of tokens per million; null if they are unknown. */
    readonly pricing: DatedPricing | null;
  }[];
}

/** Functions that color text. */
interface Colors {
  readonly strong: (text: string) => string;
  readonly dim: (text: string) => string;
}

/** Maximum number of groups of pools, and of models of each, in the text. */
const [maxGroups, maxModels] = [12, 8];

/** Lists the pools of a mesh, with their models and prices. */
export function listServedPools({ registry, runtime }: Engine): readonly ServedPool[] {
  return registry.pools.map((pool) => ({
    name: pool.name,
    capability: pool.capability,
    strategy: pool.strategyId,
    models: sortMembers(pool, runtime).map(({ model: { name, info: { pricing }, instance } }) => ({
      name,
      provider: instance.entry.id,
      pricing: priceAt(pricing, runtime.clock.now(), 0) ?? null,
    })),
  }));
}

/** Lists the providers and pools of a mesh. */
export function listServed({ registry }: Engine): {
  readonly providers: readonly { readonly id: string; readonly source: string }[];
  readonly pools: readonly { readonly name: string; readonly models: number }[];
  /** The same as two lines of text. */
  readonly text: string;
  /** The pools as one line. */
  readonly poolList: string;
} {
  const providers = registry.instances.map(({ entry: { id, source } }) => ({ id, source }));
  const pools = registry.pools.map(({ name, members }) => ({ name, models: members.length }));
  const providerList = providers.map(({ id, source }) => `${id} (${source})`).join(", ");
  const poolList = pools.map(({ name, models }) => `${name} (${models})`).join(", ");
  return { providers, pools, poolList, text: `  providers: ${providerList}\n  pools: ${poolList}\n` };
}

/** Describes what requests to each pool use, what it costs, and what follows a failure. */
export function describeServed(mesh: Engine, { strong, dim }: Colors = plain): string {
  const { registry: { pools }, runtime } = mesh;
  if (pools.every(({ members }) => members.length === 0)) return describeNothing(mesh);
  const now = runtime.clock.now();
  const groups = [
    ...groupBy(pools.map((pool) => ({ pool, members: sortMembers(pool, runtime) })), toKey).values(),
  ];
  const isUniform = new Set(pools.map(describePolicy)).size === 1;
  const blocks = groups.slice(0, maxGroups).map((group) => {
    const { pool, members } = group[0]!;
    const names = group.map(({ pool: { name } }) => strong(name)).join(", ");
    const rest = members.length - maxModels;
    return `  ${names}\n${formatModels(members.slice(0, maxModels), { dim, now })}` +
      (rest > 0 ? `    … and ${rest} more\n` : "") +
      (isUniform ? "" : dim(indent(describePolicy(pool), "    ")));
  });
  const omitted = groups.length - maxGroups;
  if (omitted > 0) blocks.push(`  … and ${omitted} more ${omitted === 1 ? "pool" : "pools"}\n`);
  if (isUniform) blocks.push(indent(describePolicy(pools[0]!), "  "));
  if (omitted > 0 || pools.some(({ members }) => members.length > maxModels)) {
    blocks.push('  Everything: "modelmesh pools" and "modelmesh models", or --json at the start\n');
  }
  return `\nModels of each pool, in this order; prices in USD, those of tokens per million:\n\n${blocks.join("\n")}`;
}

const plain: Colors = { strong: (text) => text, dim: (text) => text };

/** Pools with the same models, in the same order and with the same strategy, are shown together. */
function toKey({ pool, members }: { readonly pool: Pool; readonly members: readonly Member[] }): string {
  return JSON.stringify([members.map(({ model: { name } }) => name), describePolicy(pool)]);
}

function describeNothing({ registry: { instances } }: Engine): string {
  const problems = instances.flatMap(({ entry: { id }, listProblem }) =>
    listProblem === undefined ? [] : `  ${id} ${listProblem}\n`
  );
  const reason = instances.length === 0 ? "no provider is configured" : "no pool has a model";
  return `\nNo request can be served yet: ${reason}\n${problems.join("")}`;
}

/** The members in the order of the strategy; those of the priority lists come first. */
function sortMembers(pool: Pool, runtime: Engine["runtime"]): readonly Member[] {
  const { routing, members, strategy, fallback = strategy } = pool;
  const load = { input: 1000, output: 1000 };
  const context = selectionContext({ pool, load, isConstrained: false }, runtime);
  const [listed, others] = [true, false].map((isOfTier) => {
    const tier = members.filter(({ state }) => isListed(state, routing) === isOfTier);
    const scores = new Map(tier.map(({ state }) => {
      try {
        return [state, Number((isOfTier ? strategy : fallback).score(state, context))];
      } catch {
        return [state, 0]; // a strategy of the program that fails does not prevent a start
      }
    }));
    return tier.toSorted((first, second) => scores.get(second.state)! - scores.get(first.state)! || 0);
  });
  return [...listed!, ...others!];
}

/** How each strategy selects, by its name. */
const strategies: Readonly<Record<string, string>> = {
  "stick-until-failure": "one model for all requests until it fails to serve one",
  "round-robin": "the models take turns",
  "cost-first": "the cheapest model for each request",
  "latency-first": "the fastest model",
  "priority-selection": "the first model that is active",
  "rate-limit-aware": "one model until it approaches its rate limits",
  "load-balanced": "by what is left of the rate limits",
  "session-stickiness": "one model for each session",
};

function describeStrategy({ strategyId, routing: { modelPriority, providerPriority } }: Pool): string {
  const name = /^mesh\.([\w-]+)\.v\d+$/.exec(strategyId)?.[1] ?? strategyId;
  const how = strategies[name];
  const priority = modelPriority.length + providerPriority.length > 0 ? ", those with priority first" : "";
  return `${name}${how === undefined ? "" : `: ${how}`}${name === "priority-selection" ? "" : priority}`;
}

function formatModels(
  members: readonly Member[],
  { dim, now }: Pick<Colors, "dim"> & { readonly now: number },
): string {
  if (members.length === 0) return "    no model yet\n";
  const rows = members.map(({ model: { name, info, instance } }) => [
    printable(name), // a provider may have listed it
    printable(instance.entry.id),
    describeCost(info, now),
  ]);
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map(([name = "", provider = "", price]) =>
    `    ${name.padEnd(widths[0]!)}  ${dim(provider.padEnd(widths[1]!))}  ${price}\n`
  ).join("");
}

function describeCost({ pricing, assumedPricing }: ModelInfo, now: number): string {
  if (pricing === undefined && assumedPricing !== undefined) return "price stated with each response";
  return describePrice(priceAt(pricing, now, 0));
}

/** Describes how a pool selects a model, and what follows a failed attempt; a line each. */
function describePolicy(pool: Pool): string {
  const { retry: { maxAttempts, scope }, deactivation: { retryLimit }, recovery: { cooldownMs } } = pool.routing;
  const tries = maxAttempts === 0 ? "no retry" : maxAttempts === 1 ? "1 retry" : `up to ${maxAttempts} retries`;
  const next = scope === "same_model"
    ? "and no other model"
    : `then the next model${scope === "same_provider" ? " of its provider" : ""}`;
  const failures = retryLimit === 1 ? "a failed request" : `${retryLimit} failed requests in a row`;
  return `${describeStrategy(pool)}\n` +
    `after a failure: ${tries}, ${next}; after ${failures}, ${formatDuration(cooldownMs)} of standby\n`;
}

function indent(text: string, space: string): string {
  return text.replace(/^(?=.)/gm, space);
}

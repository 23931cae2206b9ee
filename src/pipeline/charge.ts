/**
 * What a call costs, by the usage that its response reports.
 * @module
 */
import type { FurtherCall } from "../contracts/usage.ts";
import type { Member, ModelEntry } from "../registry/registry.ts";
import type { Usage } from "../state/counters/usage.ts";
import type { Load } from "../state/model/usage.ts";
import { type Charge, priceUsage, type Quantities } from "../util/cost.ts";
import { toTier } from "../util/pricing.ts";
import type { RouteDeps } from "./request.ts";

/** Models whose price was not known for all of their usage: each is reported once. */
const incomplete = /* @__PURE__ */ new WeakSet<object>();

/**
 * Returns the cost of a call. One that is not covered by the prices of the model costs the dearest known price, and is
 * reported once per model.
 *
 * @param member The model that responded.
 */
export function charge(
  quantities: Quantities,
  member: Member,
  { plan: { load }, deps: { runtime, hub } }: {
    /** The estimated usage of the request. */
    readonly plan: { readonly load: Load };
    readonly deps: RouteDeps;
  },
): Pick<Usage, "costNanoUsd" | "estimated"> {
  const found = findTotal(quantities, { member, load, now: runtime.clock.now() });
  if (found?.unpriced === undefined) return { costNanoUsd: found?.nanoUsd };
  reportUnpriced(member.model, found.unpriced, hub);
  return { costNanoUsd: found.nanoUsd, estimated: true };
}

/**
 * Reports that the prices of a model do not cover all of its usage, once per model.
 *
 * @param unpriced What they do not cover.
 */
export function reportUnpriced(model: ModelEntry, unpriced: string, hub: RouteDeps["hub"]): void {
  if (incomplete.has(model)) return;
  incomplete.add(model);
  const message = `No price of "${model.name}" is known for ${unpriced}: the dearest known price is charged`;
  const names = { provider: model.instance.entry.id, model: model.info.id };
  hub.notice({ level: "warning", component: "pricing", message, ...names });
}

/** Number of writes to a prompt cache without a read, after which a model is reported. */
const maxUnreadWrites = 20;

/** Calls that have written to the prompt cache of a model since it was last read. */
const unreadWrites = /* @__PURE__ */ new WeakMap<object, number>();

/**
 * Counts a call that has used a prompt cache. Writes that are never read cost more than no cache: a model with many of
 * them is reported, and again after a read.
 */
export function countCacheUse(
  { cacheWrite, cached }: Pick<Quantities, "cacheWrite" | "cached">,
  model: ModelEntry,
  hub: RouteDeps["hub"],
): void {
  if (cached) return void unreadWrites.delete(model);
  const writes = cacheWrite ? (unreadWrites.get(model) ?? 0) + 1 : 0;
  if (writes === 0) return;
  unreadWrites.set(model, writes);
  if (writes !== maxUnreadWrites) return;
  const message =
    `The last ${writes} writes to the prompt cache of "${model.name}" were not read: they cost more than ` +
    "input without a cache. Prompts may begin differently each time, or come after the cache has ended";
  const names = { provider: model.instance.entry.id, model: model.info.id };
  hub.notice({ level: "warning", component: "pricing", message, ...names });
}

/** What the price of a call depends on, besides its usage. */
interface ChargedCall {
  /** The model that responded. */
  readonly member: Member;
  /** The estimated usage of the request. */
  readonly load: Load;
  /** Wall-clock ms. */
  readonly now: number;
}

/** Prices a call, and those that the vendor made for it. The cost that a vendor states includes them. */
function findTotal(reported: Quantities, call: ChargedCall): Charge | undefined {
  const { furtherCalls, cost, region = call.member.model.instance.provider?.region } = reported;
  const own = region === reported.region ? reported : { ...reported, region };
  const charge = findCharge(own, call);
  if (furtherCalls === undefined || cost !== undefined) return charge;
  return furtherCalls.reduce(
    (sum, furtherCall) => addCharges(sum, priceFurtherCall(furtherCall, own, call)),
    charge,
  );
}

function addCharges(furtherCall: Charge | undefined, other: Charge | undefined): Charge | undefined {
  if (furtherCall === undefined || other === undefined) return undefined;
  const nanoUsd = Math.min(furtherCall.nanoUsd + other.nanoUsd, Number.MAX_SAFE_INTEGER);
  return { nanoUsd, unpriced: furtherCall.unpriced ?? other.unpriced };
}

/** Prices a call by the model that served it; by the one that responded, if the catalogue does not know it. */
function priceFurtherCall(
  { model: id, ...usage }: FurtherCall,
  { tier, region }: Quantities,
  call: ChargedCall,
): Charge | undefined {
  const { model: { info, instance } } = call.member;
  const quantities = { input: 0, output: 0, ...usage, tier, region, hasFees: true as const };
  if (id === undefined || isVersion(id, info.id)) return findCharge(quantities, call);
  const other = instance.connector?.models.find((candidate) => isVersion(id, candidate.id));
  const found = other && priceUsage(quantities, other.pricing, call.now);
  if (found !== undefined) return found;
  const assumed = findCharge(quantities, call);
  return assumed && { ...assumed, unpriced: `the model "${id}"` };
}

/** Whether an id means a model, which it may follow by a date. */
function isVersion(id: string, model: string): boolean {
  return id === model || id.startsWith(model) && /^[-@]\d{8}$/.test(id.slice(model.length));
}

/** The tokens of a call, and of those that the vendor made for it. */
export function sumTokens(
  { input, output, cached = 0, furtherCalls = [] }: Quantities,
): Pick<Quantities, "input" | "output" | "cached"> {
  const sums: { input: number; output: number; cached: number | undefined } = { input, output, cached };
  for (const call of furtherCalls) {
    sums.input += call.input ?? 0;
    sums.output += call.output ?? 0;
    sums.cached = (sums.cached ?? 0) + (call.cached ?? 0);
  }
  if (sums.cached === 0) sums.cached = undefined;
  return sums;
}

/**
 * Prices one call. One that requested a tier with a price of its own, and whose response does not name its tier, costs
 * the dearer of both.
 */
function findCharge(quantities: Quantities, { member, load: { units }, now }: ChargedCall): Charge | undefined {
  const { pricing, assumedPricing } = member.model.info;
  const found = priceUsage(quantities, pricing, now);
  if (found === undefined && pricing === undefined && assumedPricing !== undefined) {
    const assumed = priceUsage(quantities, assumedPricing, now);
    return assumed && { ...assumed, unpriced: "a response that does not state its cost" };
  }
  const requested = toTier(units?.tier);
  const isSilent = quantities.tier === undefined && pricing?.some(({ tier }) => tier === requested);
  if (requested === undefined || !isSilent) return found;
  const dearer = priceUsage({ ...quantities, tier: requested }, pricing, now);
  if (found === undefined || dearer === undefined || dearer.nanoUsd <= found.nanoUsd) return found;
  return { ...dearer, unpriced: `a response without a tier, after a request for "${requested}"` };
}

/**
 * What a call costs, by the usage that its response reports.
 * @module
 */
import type { Member } from "../registry/registry.ts";
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
 * @param plan The estimated usage of the request.
 */
export function charge(
  quantities: Quantities,
  member: Member,
  { load }: { readonly load: Load },
  { runtime, hub }: RouteDeps,
): Pick<Usage, "costNanoUsd" | "estimated"> {
  const found = findCharge(quantities, { member, load, now: runtime.clock.now() });
  if (found?.unpriced === undefined) return { costNanoUsd: found?.nanoUsd };
  const { model } = member;
  if (!incomplete.has(model)) {
    incomplete.add(model);
    const message = `No price of "${model.name}" is known for ${found.unpriced}: the dearest known price is charged`;
    const names = { provider: model.instance.entry.id, model: model.info.id };
    hub.notice({ level: "warning", component: "pricing", message, ...names });
  }
  return { costNanoUsd: found.nanoUsd, estimated: true };
}

/**
 * Prices a call. One that requested a tier with a price of its own, and whose response does not name its tier, costs the
 * dearer of both.
 */
function findCharge(
  quantities: Quantities,
  { member, load: { units }, now }: { readonly member: Member; readonly load: Load; readonly now: number },
): Charge | undefined {
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

/**
 * Hedging in a simulated world: which pools hedge, and what must hold of it.
 * @module
 */
import type { RoutingRecord } from "../../mod.ts";
import { Chance } from "./chance.ts";
import type { Journey } from "./journeys.ts";
import { second } from "./_times.ts";
import type { VendorCall } from "./vendors.ts";

/** The hedging of a pool. */
export interface HedgePlan {
  readonly after: string;
  /** The delay, ms; undefined for a percentile. */
  readonly afterMs?: number;
  readonly maxShare: number;
}

/** Plans the hedging of a pool; undefined for most. Nothing else in a world depends on it. */
export function planHedge(seed: number, pool: string): HedgePlan | undefined {
  const chance = new Chance(seed, `hedging of ${pool}`);
  if (!chance.happens(0.4)) return undefined;
  const maxShare = chance.pick([0.05, 0.2, 0.5, 1]);
  if (chance.happens(0.3)) return { after: chance.pick(["p50", "p95"]), maxShare };
  const afterMs = chance.pick([100, 0.5 * second, 2 * second, 10 * second]);
  return { after: `${afterMs}ms`, afterMs, maxShare };
}

/** Requests of one pool. */
interface Count {
  requests: number;
  hedged: number;
}

/** Holds hedges to their rules. */
export class HedgeRules {
  readonly #counts = new Map<string, Count>();
  /** Requests of which two calls at different models were seen at once. */
  readonly #seen = new Set<number>();
  /** Requests whose records say that they were hedged. */
  readonly #recorded = new Set<number>();

  /** A request has arrived at a pool. */
  arrived({ pool }: Journey): void {
    if (pool.hedge !== undefined) this.#count(pool.name).requests++;
  }

  /**
   * A call is made. Two calls are under way only in a pool that hedges, once a request, and after the delay.
   *
   * @param at Monotonic ms, and whether the model was asked before.
   */
  called(
    journey: Journey,
    { model }: VendorCall,
    { now, isRetry }: { readonly now: number; readonly isRetry: boolean },
  ): string | undefined {
    const { pool: { hedge }, arrival: { id }, underWay, asks } = journey;
    const others = [...underWay].filter((call) => call.model !== model && !call.wire.signal.aborted);
    const [other] = others;
    if (other === undefined) return undefined;
    const what = `request ${id} asks ${model.name} while it waits for ${other.model.name}`;
    if (hedge === undefined || others.length > 1) return `${what}, expected one call at a time`;
    if (isRetry) return undefined;
    if (this.#seen.has(id)) return `${what}, expected one hedge`;
    this.#seen.add(id);
    if (journey.isCommitted) return `${what}, expected none after its first content`;
    const waitedMs = now - asks.get(other.model.name)!.now;
    return waitedMs >= (hedge.afterMs ?? 0) ? undefined : `${what} after ${waitedMs} ms, expected ${hedge.after}`;
  }

  /** A request is over. Hedges are recorded, and never more than their share, of whatever number of first requests. */
  routed({ arrival: { id }, pool: { name, hedge } }: Journey, record: RoutingRecord): string | undefined {
    if (record.hedged !== true) {
      return this.#seen.has(id) ? `request ${id} asked two models at once, which its record lacks` : undefined;
    }
    if (hedge === undefined) return `request ${id} to ${name} was hedged, expected no hedge`;
    this.#recorded.add(id);
    const count = this.#count(name);
    count.hedged++;
    if (count.hedged <= hedge.maxShare * count.requests + 1e-9) return undefined;
    return `${count.hedged} of ${count.requests} requests to ${name} were hedged, expected a share of ${hedge.maxShare}`;
  }

  /** Whether a request that is over was hedged. */
  isHedged({ arrival: { id } }: Journey): boolean {
    return this.#recorded.has(id);
  }

  #count(pool: string): Count {
    const existing = this.#counts.get(pool);
    if (existing !== undefined) return existing;
    const created = { requests: 0, hedged: 0 };
    this.#counts.set(pool, created);
    return created;
  }
}

/** A budget as a mesh reports it, nano-dollars. */
interface BudgetNow {
  readonly scope: string;
  readonly id: string;
  readonly spent: number;
  readonly reserved: number;
}

/** The money of a world in which no request is under way. */
interface Money {
  readonly budgets: readonly BudgetNow[];
  /** Sum of all routing records, nano-dollars. */
  readonly recorded: number;
  /** Whether all of it was spent on the present UTC day. */
  readonly isToday: boolean;
}

/** Nothing is reserved any more, and what was spent is what the records say, no call twice and none left out. */
export function moneyRule({ budgets, recorded, isToday }: Money): string | undefined {
  const left = budgets.find(({ reserved }) => reserved !== 0);
  if (left !== undefined) {
    return `${left.reserved} nano-dollars of ${left.scope} ${left.id} are reserved, expected none`;
  }
  const wrong = isToday && budgets.find(({ scope, spent }) => scope === "all" && spent !== recorded);
  return wrong ? `${wrong.spent} nano-dollars are spent, expected ${recorded} as recorded` : undefined;
}

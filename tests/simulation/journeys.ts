/**
 * What every request of a simulated world has been through, as seen from outside the mesh.
 * @module
 */
import type { CallEnd, VendorCall } from "./vendors.ts";
import type { Arrival } from "./_traffic.ts";
import type { PoolPlan } from "./_pool_plans.ts";
import type { ModelPlan } from "./scenario.ts";
import type { Trouble } from "./_troubles.ts";

/** The moment at which a request goes to a model. */
export interface Ask {
  /** Changes of states before. */
  readonly order: number;
  /** Wall clock, ms. */
  readonly wall: number;
  /** Monotonic ms. */
  readonly now: number;
}

/** One request on its way. */
export interface Journey {
  readonly arrival: Arrival;
  readonly pool: PoolPlan;
  /** Monotonic ms. */
  readonly startedAt: number;
  /** Time for which the process was stopped before it, ms. */
  readonly stoppedMs: number;
  /** Reloads before it: the engine that answers it knows no later state. */
  readonly reloads: number;
  /** Models asked, in order, each once. */
  readonly asked: string[];
  /** When each of them was asked first, by its name. */
  readonly asks: Map<string, Ask>;
  /** Providers that can serve no model of theirs in this request. */
  readonly ruledOut: Set<string>;
  /** Providers that refused the key, or whose account is empty. */
  readonly refusedBy: Set<string>;
  /** What the last call ran into. */
  lastTrouble?: Trouble;
  /** Models that found fault with the request. */
  readonly faulted: Set<string>;
  /** Provider of the model asked first. */
  home?: string;
  /** Models that served it, in order: an empty response costs something, and is followed by another. */
  readonly served: ModelPlan[];
  /** Calls over the network. */
  sends: number;
  /** Its client's; aborted once the client has left. */
  client?: AbortSignal;
  /** Calls under way. */
  readonly underWay: Set<VendorCall>;
  /** A stream's first content is there. */
  isCommitted: boolean;
}

/** A request that has just arrived. */
export function createJourney(
  arrival: Arrival,
  pool: PoolPlan,
  { startedAt, stoppedMs, reloads }: Pick<Journey, "startedAt" | "stoppedMs" | "reloads">,
): Journey {
  return {
    arrival,
    pool,
    startedAt,
    stoppedMs,
    reloads,
    asked: [],
    asks: new Map(),
    ruledOut: new Set(),
    refusedBy: new Set(),
    faulted: new Set(),
    served: [],
    sends: 0,
    underWay: new Set(),
    isCommitted: false,
  };
}

/** Notes a call; whether it is a retry of the model that was asked last, or with a hedge of any of both. */
export function noteCall(journey: Journey, call: VendorCall, at: Ask): boolean {
  const { name, provider } = call.model;
  const isRetry = journey.pool.hedge === undefined ? journey.asked.at(-1) === name : journey.asked.includes(name);
  journey.underWay.add(call);
  journey.home ??= provider;
  if (isRetry) return true;
  journey.asked.push(name);
  journey.asks.set(name, at);
  return false;
}

/** Notes how a call ended, and what that means for the rest of the request. */
export function noteEnd(journey: Journey, call: VendorCall, end: CallEnd): void {
  journey.underWay.delete(call);
  journey.lastTrouble = call.trouble;
  if (end === "served") journey.served.push(call.model);
  if (end !== "failed") return;
  const { trouble, model, arrival } = call;
  if (trouble?.kind === "auth" || trouble?.kind === "quota") journey.refusedBy.add(model.provider);
  if (trouble !== undefined && ["auth", "quota", "refused"].includes(trouble.kind)) {
    journey.ruledOut.add(model.provider);
  } else if (arrival.isFaulty) journey.faulted.add(model.name);
}

/** A fault of the request itself is carried to three models at most. */
export function isFaulty({ faulted }: Journey): boolean {
  return faulted.size >= 3;
}

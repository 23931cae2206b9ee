/**
 * Latency first: the model that is quickest to answer.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { ModelView, SelectionContext, SelectionStrategy } from "../../src/contracts/rotation.ts";
import { fittest, type Merit } from "./_fittest.ts";
import { priority } from "./_priority.ts";

/** The share of requests that may look at a slow model again. */
const explorationRate = 0.02;
/** A model that has not been asked for so long may have changed, ms. */
const staleMs = 60_000;

/** Waits are compared in thousandths of a millisecond. */
const precision = 1000;
/** Decides between equal waits, and never more than that. */
const tieBreak = 1e-4;
/** No measure is shorter, or requests under way would count for nothing, ms. */
const shortest = 0.001;
/** No wait is longer, ms. */
const longest = 1e8;
/** Above every wait: a model to be measured. */
const toBeMeasured = 1;
/** Below every wait: a model that is being measured. */
const beingMeasured = -1e9;

/**
 * Takes the model with the shortest expected wait: its decaying latency times the requests that would be waiting,
 * this one included, as in the peak-EWMA load metric of Finagle (`PeakEwma.scala`). Failures show in the latency.
 * A model without a measure is tried first, but by one request at a time while others have theirs. Since the slow
 * ones would never be asked again, one request in fifty, failovers aside, goes to the model that has been left alone
 * longest, if that is a minute or more and it is idle. The score is the wait in ms, negative; over 0: to be measured.
 */
export const latencyFirst: Connector<"strategy"> = {
  id: "mesh.latency-first.v1",
  kind: "strategy",
  create: () => new LatencyFirst(),
};

class LatencyFirst implements SelectionStrategy {
  /** When each was chosen last, monotonic ms. */
  readonly #asked = new Map<string, number>();

  select(candidates: readonly ModelView[], context: SelectionContext): ModelView | undefined {
    const chosen = this.#explore(candidates, context) ?? fittest(candidates, context, merit);
    if (chosen !== undefined) this.#asked.set(chosen.name, context.now);
    return chosen;
  }

  score(candidate: ModelView, context: SelectionContext): number {
    return merit(candidate, context, 0) + tieBreak * priority(candidate, context);
  }

  /** The model left alone longest, if it is this request's lot to look at one. */
  #explore(candidates: readonly ModelView[], { now, tried, random }: SelectionContext): ModelView | undefined {
    if (candidates.length < 2 || tried.size > 0 || random() >= explorationRate) return undefined;
    let stalest: ModelView | undefined;
    let since = now - staleMs;
    for (const candidate of candidates) {
      if (!isMeasured(candidate)) {
        if (candidate.inFlight === 0) return undefined; // it comes first anyway
        continue;
      }
      const at = this.#asked.get(candidate.name) ?? -Infinity;
      if (candidate.inFlight > 0 || at > since || stalest !== undefined && at === since) continue;
      stalest = candidate;
      since = at;
    }
    return stalest;
  }
}

const merit: Merit = (candidate) => {
  const waiting = candidate.inFlight > 0 ? candidate.inFlight : 0;
  if (!isMeasured(candidate)) return waiting === 0 ? toBeMeasured : beingMeasured - waiting;
  const wait = Math.max(shortest, candidate.latencyMs) * (waiting + 1);
  return -Math.round(Math.min(wait, longest) * precision) / precision;
};

function isMeasured(view: ModelView): view is ModelView & { readonly latencyMs: number } {
  return view.latencyMs !== undefined && view.latencyMs >= 0;
}

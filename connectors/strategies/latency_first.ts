/**
 * Latency first: the model with the shortest expected latency.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { ModelView, SelectionContext, SelectionStrategy } from "../../src/contracts/rotation.ts";
import { highestMerit, type Merit } from "./_highest_merit.ts";
import { priority } from "./_priority.ts";

/** Fraction of requests that explore a slow model. */
const explorationRate = 0.02;
/** Age after which a latency may be outdated, ms. */
const staleMs = 60_000;

/** Rounding precision: latencies are compared in microseconds. */
const precision = 1000;
/** Breaks ties between latencies without outweighing any other difference. */
const tieBreak = 1e-4;
/** Minimum latency, ms: with less, requests in flight would not count. */
const minLatencyMs = 0.001;
/** Maximum latency, ms. */
const maxLatencyMs = 1e8;
/** Score of a model without a measurement: above all others. */
const toBeMeasured = 1;
/** Score of a model that is being measured: below all others. */
const beingMeasured = -1e9;

/**
 * Selects the model with the lowest expected latency: its decaying latency times its requests in flight including this
 * one, as in the peak EWMA load metric of Finagle (`PeakEwma.scala`). Failures count towards the latency. A model
 * without a measurement is tried first, but by one request at a time if others have measurements. Slow models would
 * otherwise never be selected again, so one request in fifty, except failovers, explores the model that was selected
 * least recently, if that was at least a minute ago and it is idle. The score is the negative latency in ms; a positive
 * score marks a model to be measured.
 */
export const latencyFirst: Connector<"strategy"> = {
  id: "mesh.latency-first.v1",
  kind: "strategy",
  create: () => new LatencyFirst(),
};

class LatencyFirst implements SelectionStrategy {
  /** Time of the last selection by model, monotonic ms. */
  readonly #selectedAt = new Map<string, number>();

  select(candidates: readonly ModelView[], context: SelectionContext): ModelView | undefined {
    const chosen = this.#explore(candidates, context) ?? highestMerit(candidates, context, merit);
    if (chosen !== undefined) this.#selectedAt.set(chosen.name, context.now);
    return chosen;
  }

  score(candidate: ModelView, context: SelectionContext): number {
    return merit(candidate, context, 0) + tieBreak * priority(candidate, context);
  }

  /** The least recently selected model, if this request explores. */
  #explore(candidates: readonly ModelView[], { now, tried, random }: SelectionContext): ModelView | undefined {
    if (candidates.length < 2 || tried.size > 0 || random() >= explorationRate) return undefined;
    let stalest: ModelView | undefined;
    let since = now - staleMs;
    for (const candidate of candidates) {
      if (!isMeasured(candidate)) {
        if (candidate.inFlight === 0) return undefined; // it is selected first anyway
        continue;
      }
      const at = this.#selectedAt.get(candidate.name) ?? -Infinity;
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
  const wait = Math.max(minLatencyMs, candidate.latencyMs) * (waiting + 1);
  return -Math.round(Math.min(wait, maxLatencyMs) * precision) / precision;
};

function isMeasured(view: ModelView): view is ModelView & { readonly latencyMs: number } {
  return view.latencyMs !== undefined && view.latencyMs >= 0;
}

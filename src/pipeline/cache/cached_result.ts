/**
 * The result of a request that was served without a model: from the cache.
 * @module
 */
import type { RoutingRecord } from "../../contracts/events.ts";
import type { Pool } from "../../registry/registry.ts";
import type { Outcome, Usage } from "../../state/counters/usage.ts";
import { formatUsd } from "../../util/cost.ts";
import { nanoPerUsd } from "../../util/pricing.ts";
import type { RouteDeps, RoutedRequest } from "../request.ts";
import type { ResponseEnd } from "../result.ts";
import { createRoutingRecord, emitRecord, readFault, type RecordedRequest } from "../routing_record.ts";
import type { CacheEntry } from "./cache_entry.ts";

/** A repeated response until it is settled. Nothing counts it but limits of requests. */
export class CachedResult {
  readonly requestId: string;
  readonly dropped: readonly string[];
  /** The model and its provider are those of the repeated response. */
  readonly routing: RoutingRecord;
  /** The header `x-mesh-cache`. */
  readonly cacheStatus: string;
  declare onSettled?: () => void;
  readonly #context: RecordedRequest;
  #isSettled = false;

  /** @param facts The pool of the request, and the age of the entry, ms. */
  constructor(request: RoutedRequest, { entry, pool, ageMs, startedAt, deps }: {
    readonly entry: CacheEntry;
    readonly pool: Pool;
    readonly ageMs: number;
    /** When the request arrived, monotonic ms. */
    readonly startedAt: number;
    readonly deps: RouteDeps;
  }) {
    const { model, provider, servedBy, costUsd, dropped = [] } = entry;
    const { clock } = deps.runtime;
    this.#context = {
      plan: { request, pool },
      deps,
      clock,
      startedAt,
      chain: [],
      tries: [],
      upstreamMs: 0,
      attempts: 0,
      queuedMs: undefined,
    };
    this.requestId = request.id;
    this.dropped = dropped;
    this.routing = {
      ...createRoutingRecord(this.#context),
      model,
      provider,
      ...(servedBy && { served_by: servedBy }),
      cached: true,
      ...(costUsd !== undefined && { saved_usd: costUsd }),
    };
    const saved = costUsd === undefined ? "" : `; saved=${formatUsd(Math.round(costUsd * nanoPerUsd))}`;
    this.cacheStatus = `HIT; age=${Math.floor(ageMs / 1000)}${saved}`;
    deps.hub.publish("request_started", undefined);
  }

  /** Emits the record of the request. Later calls have no effect. */
  settle(outcome: Outcome, { cause, text }: Pick<ResponseEnd, "cause" | "text">): Usage {
    const used = { costNanoUsd: 0, isReported: true };
    if (this.#isSettled) return used;
    this.#isSettled = true;
    const context = this.#context;
    const respondedAt = context.clock.monotonic();
    const fault = cause === undefined ? { status: 200 } : readFault(cause, context);
    emitRecord(this.routing, context, { ...fault, outcome, respondedAt, used, text });
    this.onSettled?.();
    return used;
  }
}

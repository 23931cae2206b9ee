/**
 * The result of a request that was served without a model: from the cache.
 * @module
 */
import type { RoutingRecord } from "../../contracts/events.ts";
import type { Pool } from "../../registry/registry.ts";
import type { Outcome, Usage } from "../../state/counters/usage.ts";
import { rememberRouting } from "../../observe/routing_of.ts";
import { formatUsd } from "../../util/cost.ts";
import { nanoPerUsd } from "../../util/pricing.ts";
import type { RouteDeps, RoutedRequest } from "../request.ts";
import type { ResponseEnd } from "../result.ts";
import { createRoutingRecord, emitRecord, readFault, type RecordedRequest } from "../routing_record.ts";
import type { CacheEntry } from "./cache_entry.ts";

/** Where a repeated response is from. */
type Origin = Pick<CacheEntry, "model" | "provider" | "servedBy" | "dropped" | "costUsd">;

/** A request that is served without a model. */
interface ServedRequest {
  readonly pool: Pool;
  /** When the request arrived, monotonic ms. */
  readonly startedAt: number;
  readonly deps: RouteDeps;
}

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
  constructor(
    request: RoutedRequest,
    { entry, ageMs, ...served }: ServedRequest & { readonly entry: Origin; readonly ageMs: number },
  ) {
    const { model, provider, servedBy, costUsd, dropped = [] } = entry;
    this.#context = createContext(request, served);
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
    this.cacheStatus = formatStatus("HIT", { ageMs, costUsd });
    served.deps.hub.publish("request_started", undefined);
  }

  /**
   * Emits the record of the request. Later calls have no effect.
   *
   * @param end Why it has not got the complete response; what that has saved, USD, if it was not complete before.
   */
  settle(
    outcome: Outcome,
    { cause, text, isPending, savedUsd }: Pick<ResponseEnd, "cause" | "text" | "isPending"> & {
      readonly savedUsd?: number | undefined;
    },
  ): Usage {
    const used = { costNanoUsd: 0, isReported: true };
    if (this.#isSettled || isPending) return used;
    this.#isSettled = true;
    if (savedUsd !== undefined) Object.assign(this.routing, { saved_usd: savedUsd });
    const context = this.#context;
    const respondedAt = context.clock.monotonic();
    const fault = cause === undefined ? { status: 200 } : readFault(cause, context);
    emitRecord(this.routing, context, { ...fault, outcome, respondedAt, used, text });
    this.onSettled?.();
    return used;
  }
}

/**
 * Returns the header `x-mesh-cache` of a response that was repeated, as far as the cache had it.
 *
 * @param facts Its age, ms, and what it had cost, USD.
 */
export function formatStatus(kind: "HIT" | "PARTIAL", { ageMs, costUsd }: {
  readonly ageMs: number;
  readonly costUsd: number | undefined;
}): string {
  const saved = costUsd === undefined ? "" : `; saved=${formatUsd(Math.round(costUsd * nanoPerUsd))}`;
  return `${kind}; age=${Math.floor(ageMs / 1000)}${saved}`;
}

function createContext(request: RoutedRequest, { pool, startedAt, deps }: ServedRequest): RecordedRequest {
  const { clock } = deps.runtime;
  const none = { chain: [], tries: [], upstreamMs: 0, attempts: 0, queuedMs: undefined };
  return { plan: { request, pool }, deps, clock, startedAt, ...none };
}

/** Emits the record of a request that has failed with the call of another one, or before its end. */
export function recordFailure(
  request: RoutedRequest,
  { error, ...served }: ServedRequest & { readonly error: unknown },
): void {
  const context = createContext(request, served);
  served.deps.hub.publish("request_started", undefined);
  const record = createRoutingRecord(context);
  const outcome = request.signal?.aborted ? "none" : "failure";
  emitRecord(record, context, { ...readFault(error, context), outcome });
  if (typeof error === "object" && error !== null) rememberRouting(error, record);
}

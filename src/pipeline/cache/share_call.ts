/**
 * Equal requests at once, which share one call of a model.
 * @module
 */
import type { RoutingRecord } from "../../contracts/events.ts";
import type { CompletionResponse } from "../../contracts/provider.ts";
import type { Outcome, Usage } from "../../state/counters/usage.ts";
import { BudgetExceededError, RateLimitError } from "../../errors.ts";
import { routingOf } from "../../observe/routing_of.ts";
import type { EventStream } from "../committed_stream.ts";
import type { ByteStream } from "../content_stream.ts";
import type { RouteDeps, RoutedRequest } from "../request.ts";
import type { ResponseEnd } from "../result.ts";
import { toCanonicalJson } from "./cache_key.ts";
import { CachedResult, recordFailure } from "./cached_result.ts";
import type { CachedRequest } from "./cached_request.ts";
import { type Begun, type OpenResult, PendingCall, type Settle } from "./pending_call.ts";
import type { OpenedResponse as JoinedResponse } from "./waiting_caller.ts";

/** Number of calls of others that a request shares, if they fail because of the limits of those others. */
const maxShares = 2;

/** A response before the guards of its request have seen it. */
export type OpenedResponse =
  & {
    /** Settled by its stream if it has one. */
    readonly result: OpenResult;
    /** Keeps the response. Called once it is complete and has passed the guards. */
    readonly keep?: () => void;
  }
  & (
    | { readonly kind: "complete"; readonly response: CompletionResponse<unknown>; readonly end: ResponseEnd }
    | { readonly kind: "stream"; readonly stream: EventStream }
    | { readonly kind: "content"; readonly stream: ByteStream }
  );

/** A request that shares a call. */
interface SharingRequest {
  readonly cached: CachedRequest;
  /** When it arrived, monotonic ms. */
  readonly startedAt: number;
  readonly deps: RouteDeps;
  /** Sends a request to a model. */
  readonly begin: (request: RoutedRequest, settle: (result: OpenResult) => Settle) => Promise<Begun>;
}

/**
 * Sends a request to a model, or lets it share the call of an equal one.
 *
 * @throws Its own abort reason or deadline, or the error of the call.
 */
export async function shareCall(sharing: SharingRequest): Promise<OpenedResponse> {
  const { cached: { request, caching }, deps: { runtime: { clock } }, startedAt } = sharing;
  const admission = request.scopes?.admit();
  if (admission !== undefined) await admission;
  const key = findCallKey(sharing.cached);
  for (let shares = caching.settings.coalesce ? maxShares : 0;; shares--) {
    const timeoutMs = Math.max(0, request.timeoutMs - (clock.monotonic() - startedAt));
    const pending = shares > 0 ? caching.calls.get(key) : undefined;
    if (pending?.isJoinable !== true) return await beginCall(key, sharing, timeoutMs);
    const shared = await repeatCall(pending, sharing, timeoutMs);
    if (shared !== undefined) return shared;
  }
}

/** Identifies the calls that a request may share: those that would be made as its own. */
function findCallKey(
  { key, control: { mode }, request: { routingConstraints, hasAlternative } }: CachedRequest,
): string {
  const { firstTokenMs, commit, priority } = routingConstraints ?? {}; // the key has the others
  return `${key} ${toCanonicalJson([firstTokenMs, commit?.at, priority, hasAlternative, mode])}`;
}

/** Begins a call, which equal requests may share. */
async function beginCall(
  key: string,
  { cached, deps, begin }: SharingRequest,
  timeoutMs: number,
): Promise<OpenedResponse> {
  const { request, caching: { calls, settings } } = cached;
  const call = new PendingCall({
    request,
    deps,
    maxChars: settings.maxEntry,
    begin,
    onOver: (call) => void (calls.get(key) === call && calls.delete(key)),
  });
  calls.set(key, call);
  try {
    const joined = await call.join({ ...request, timeoutMs }, (cause) => call.endFirst({ cause, isLogged: true }));
    return toOpened(joined, call, new FirstResult(call));
  } catch (cause) {
    call.endFirst({ cause, isLogged: false });
    throw cause;
  }
}

/** Repeats the response of a call for another request; undefined if it has failed for a reason of its first request. */
async function repeatCall(
  call: PendingCall,
  { cached, startedAt, deps }: SharingRequest,
  timeoutMs: number,
): Promise<OpenedResponse | undefined> {
  const { request, pool } = cached;
  const end = new StreamEnd();
  let joined: JoinedResponse;
  try {
    joined = await call.join({ ...request, timeoutMs }, (cause) => end.reach(cause));
  } catch (error) {
    if (isOfFirst(call.failure?.error)) return undefined;
    cached.countMiss();
    recordFailure(request, { pool, startedAt, deps, error });
    throw error;
  }
  const { routing: { model, provider, served_by: servedBy }, dropped } = call.result;
  const origin = { model: model!, provider: provider!, servedBy, dropped, costUsd: call.costUsd };
  const result = new CachedResult(request, { entry: origin, pool, ageMs: 0, startedAt, deps });
  if (joined.kind === "complete") cached.countHit(call.costUsd);
  end.follow((cause) => {
    const savedUsd = call.costUsd; // by now it has ended
    cached.countHit(savedUsd);
    result.settle(cause === undefined ? "success" : "none", { cause, savedUsd });
  });
  return toOpened(joined, call, result);
}

/** The end of a stream, which its result may have to learn later. */
class StreamEnd {
  #onEnd: ((cause: unknown) => void) | undefined;
  #ending: { readonly cause: unknown } | undefined;

  reach(cause: unknown): void {
    this.#ending = { cause };
    this.#onEnd?.(cause);
  }

  follow(onEnd: (cause: unknown) => void): void {
    this.#onEnd = onEnd;
    if (this.#ending !== undefined) onEnd(this.#ending.cause);
  }
}

/** Whether a call has failed because of the limits of the request that began it, before it was sent. */
function isOfFirst(error: unknown): boolean {
  const isLimit = BudgetExceededError.isInstance(error) || RateLimitError.isInstance(error);
  return isLimit && (routingOf(error)?.attempts ?? 0) === 0;
}

function toOpened(joined: JoinedResponse, call: PendingCall, result: OpenResult): OpenedResponse {
  const keep = () => call.keep();
  return joined.kind === "stream" ? { ...joined, result, keep } : { ...joined, result, keep, end: call.responseEnd };
}

/** The result of a call for the request that has begun it. */
class FirstResult implements OpenResult {
  onSettled?: () => void;
  readonly #call: PendingCall;

  constructor(call: PendingCall) {
    this.#call = call;
    call.result.onSettled = () => this.onSettled?.();
  }

  get requestId(): string {
    return this.#call.result.requestId;
  }

  get dropped(): readonly string[] {
    return this.#call.result.dropped;
  }

  get routing(): RoutingRecord {
    return this.#call.result.routing;
  }

  get cacheStatus(): string | undefined {
    return this.#call.result.cacheStatus;
  }

  settle(_outcome: Outcome, { cause, text }: ResponseEnd): Usage {
    return this.#call.endFirst({ cause, isLogged: text !== undefined });
  }
}

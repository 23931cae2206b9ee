/**
 * The routing record: how a request was routed, and how it ended.
 * @module
 */
import type { RoutingRecord } from "../contracts/events.ts";
import type { ServedBy } from "../contracts/provider.ts";
import {
  BudgetExceededError,
  DeadlineError,
  MeshError,
  NoActiveModelError,
  ProviderError,
  RateLimitError,
  StreamInterruptedError,
  UnsupportedRequestError,
} from "../errors.ts";
import type { Member } from "../registry/registry.ts";
import type { RequestPayloads } from "../observe/hub_events.ts";
import { type RoutedRequest, toClientFacts } from "./request.ts";
import type { RequestLabels } from "./routing_constraints.ts";
import { listTags } from "../util/entries.ts";
import { isOverload } from "../util/resource_lack.ts";
import type { Usage } from "../state/counters/usage.ts";
import type { Outcome } from "../state/counters/usage.ts";
import type { RequestPlan } from "./eligibility.ts";
import type { RequestContext } from "./request_context.ts";

/** Maximum length of a request's `user` in the log, characters. */
const maxUserLength = 256;

/** What a record says of a request; {@linkcode RequestContext} is assignable. */
export interface RecordedRequest extends
  Pick<
    RequestContext,
    "deps" | "clock" | "startedAt" | "chain" | "tries" | "upstreamMs" | "attempts" | "hedge" | "queuedMs"
  >,
  Partial<Pick<RequestContext, "possiblyBilled">> {
  readonly plan: Pick<RequestPlan, "request" | "pool" | "affinity" | "callerKeys">;
}

/** A record that is being written. */
type Draft = { -readonly [Name in keyof RoutingRecord]: RoutingRecord[Name] };

/** The fault with which a request ended. */
export interface RequestFault {
  /** HTTP status: of the response, or that it would have had if it had ended before its first byte. */
  readonly status: number;
  /** Error code; undefined if the request succeeded, or its client left. */
  readonly code?: string | undefined;
}

/**
 * Creates the routing record of a request. It is emitted at the end of the request.
 *
 * @param served The model that responded, and the actual one if its provider is a proxy; undefined if none did. Also the
 * time of the response, monotonic ms.
 */
export function createRoutingRecord(
  context: RecordedRequest,
  { member, by, now = context.clock.monotonic() }: {
    readonly member?: Member;
    readonly by?: ServedBy | undefined;
    readonly now?: number;
  } = {},
): RoutingRecord {
  const { plan, chain } = context;
  const { request, pool } = plan;
  const last = chain.at(-1);
  const model = member?.model.name ?? last?.model;
  const record: Draft = {
    type: "routing",
    timestamp: context.deps.hub.timestamp(),
    request_id: request.id,
    operation: request.operation.name,
    capability: pool.capability,
    pool: pool.name,
    model: model ?? null,
    provider: member?.model.instance.entry.id ?? last?.provider ?? null,
    delivery: request.delivery,
    fallback_chain: chain,
    routing_latency_ms: Math.max(
      0,
      Math.round((now - context.startedAt - context.upstreamMs) * 1000) / 1000,
    ),
    attempts: context.attempts,
  };
  // assigned one by one: V8 is slow to spread what is mostly empty
  if (request.original) record.dialect = request.original.dialect;
  if (last?.api) record.api = last.api;
  const chosenBy = plan.affinity?.findCause(model);
  if (chosenBy) record.chosen_by = chosenBy;
  if (by) record.served_by = by;
  if (member !== undefined) addServed(record, member, context);
  if (context.hedge) {
    record.hedged = true;
    record.hedge_won = context.hedge === "won";
  }
  if (context.queuedMs !== undefined) record.queued_ms = Math.round(context.queuedMs);
  if (context.possiblyBilled) record.possibly_billed = true;
  if (request.client) Object.assign(record, toClientFacts(request.client));
  if (request.labels) addLabels(record, request.labels, context.deps.redact);
  if (request.trace !== undefined) record.traceparent = request.trace.traceparent;
  return record;
}

/** Adds what the model that responded has replaced, and whether the caller pays for it. */
function addServed(record: Draft, { model: { name, instance } }: Member, { plan, chain }: RecordedRequest): void {
  const left = chain.length > 1 &&
    chain.findLast(({ model, outcome }) => model !== name && outcome !== "hedge_lost");
  if (left) {
    record.replaced_provider = left.provider;
    record.rotation_reason = left.outcome;
  }
  if (plan.callerKeys?.has(instance.entry.id)) record.byok = true;
}

/** Adds the team, tags and end user of a request. */
function addLabels(record: Draft, { team, tags, user }: RequestLabels, redact: (text: string) => string): void {
  if (team !== undefined) record.team = team;
  if (tags !== undefined) record.tags = listTags(tags).map(redact);
  if (user !== undefined) record.user = redact(user.slice(0, maxUserLength));
}

/**
 * Completes a record with the end of its request, and emits it.
 *
 * @param record A record, not yet emitted.
 * @param ending The end of the request.
 */
export function emitRecord(
  record: Draft,
  { startedAt, clock, deps, tries, plan: { request } }: RecordedRequest,
  { status, code, outcome, respondedAt, now = clock.monotonic(), used = {}, text }: RequestFault & {
    readonly outcome: Outcome;
    /** Time of the end, monotonic ms. */
    readonly now?: number;
    /** Time of the response, or of the first content of a stream, monotonic ms. */
    readonly respondedAt?: number;
    readonly used?: Usage;
    /** The response for the request log. */
    readonly text?: (() => string) | undefined;
  },
): void {
  const { input, output, costNanoUsd, estimated } = used;
  const latencyMs = respondedAt === undefined ? undefined : respondedAt - startedAt;
  record.status = status;
  if (code !== undefined) record.code = code;
  if (latencyMs !== undefined && request.delivery === "stream") record.ttft_ms = Math.round(latencyMs);
  record.duration_ms = Math.round(now - startedAt);
  if (input !== undefined) record.tokens_in = input;
  if (output !== undefined) record.tokens_out = output;
  if (costNanoUsd !== undefined) record.cost_usd = costNanoUsd / 1e9;
  if (estimated !== undefined) record.estimated = estimated;
  deps.hub.requestFinished({
    record,
    tries,
    outcome,
    latencyMs,
    tokensIn: input,
    tokensOut: output,
    costNanoUsd: record.byok ? undefined : costNanoUsd,
    callerCostNanoUsd: record.byok ? costNanoUsd : undefined,
    tokensCached: used.cached,
    tier: used.tier,
    tags: request.labels?.tags,
    payloads: deps.hub.logsRequests ? collectPayloads(request, text) : undefined,
  });
}

function collectPayloads(
  { body, text, labels }: RoutedRequest,
  response: () => string | undefined = () => undefined,
): RequestPayloads {
  return {
    user: labels?.user?.slice(0, maxUserLength),
    request: () => text ?? JSON.stringify(body),
    response,
  };
}

/**
 * Returns the fault of a routed request that failed, or whose response did not reach its end. A client that disconnects
 * or aborts with its own reason is not a server error; a shutdown of the server is.
 */
export function readFault(
  reason: unknown,
  { plan: { request: { signal, sharing } } }: Pick<RecordedRequest, "plan">,
): RequestFault {
  const error = sharing?.cause ?? reason;
  if (MeshError.isInstance(error)) return { status: statusFor(error), code: error.code };
  const hasLeft = error instanceof DOMException && error.name === "AbortError" ||
    signal?.aborted && error === signal.reason;
  return hasLeft ? { status: 499 } : { status: 500, code: "internal_error" };
}

function statusFor(error: MeshError): number {
  if (error.code === "shutting_down" || isOverload(error)) return 503;
  if (ProviderError.isInstance(error)) return error.status;
  if (UnsupportedRequestError.isInstance(error)) return 400; // blocked by a guard
  if (RateLimitError.isInstance(error) || BudgetExceededError.isInstance(error)) return 429;
  if (StreamInterruptedError.isInstance(error)) return 502;
  if (DeadlineError.isInstance(error)) return 504;
  return NoActiveModelError.isInstance(error) ? 503 : 500;
}

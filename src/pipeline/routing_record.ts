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

/** Members of a {@linkcode RoutingRecord} that are known at the end of the request. */
type End = Pick<
  RoutingRecord,
  "status" | "code" | "ttft_ms" | "duration_ms" | "tokens_in" | "tokens_out" | "cost_usd" | "estimated"
>;

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
 * @param served The model that responded, and the actual one if its provider is a proxy; undefined if none did.
 */
export function createRoutingRecord(
  context: RecordedRequest,
  served?: { readonly member: Member; readonly by?: ServedBy | undefined },
): RoutingRecord {
  const { plan, chain, clock } = context;
  const { request, pool, affinity } = plan;
  const last = chain.at(-1);
  const { member, by } = served ?? {};
  const left = member && chain.length > 1 &&
    chain.findLast(({ model, outcome }) => model !== member.model.name && outcome !== "hedge_lost");
  const model = member?.model.name ?? last?.model;
  const chosenBy = affinity?.findCause(model);
  return {
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
      Math.round((clock.monotonic() - context.startedAt - context.upstreamMs) * 1000) / 1000,
    ),
    attempts: context.attempts,
    // at the end: members after a spread are slow to add
    ...(request.original && { dialect: request.original.dialect }),
    ...(last?.api && { api: last.api }),
    ...(chosenBy && { chosen_by: chosenBy }),
    ...(by && { served_by: by }),
    ...(left && { replaced_provider: left.provider, rotation_reason: left.outcome }),
    ...(context.hedge && { hedged: true, hedge_won: context.hedge === "won" }),
    ...(context.queuedMs !== undefined && { queued_ms: Math.round(context.queuedMs) }),
    ...(context.possiblyBilled && { possibly_billed: true }),
    ...(member && plan.callerKeys?.has(member.model.instance.entry.id) && { byok: true }),
    ...(request.client && toClientFacts(request.client)),
    ...(request.labels && toLabelFacts(request.labels, context.deps.redact)),
    ...(request.trace !== undefined && { traceparent: request.trace.traceparent }),
  };
}

/** Returns the members of a record that name the team, tags and end user of a request. */
function toLabelFacts(
  { team, tags, user }: RequestLabels,
  redact: (text: string) => string,
): Pick<RoutingRecord, "team" | "tags" | "user"> {
  return {
    ...(team !== undefined && { team }),
    ...(tags !== undefined && { tags: listTags(tags).map(redact) }),
    ...(user !== undefined && { user: redact(user.slice(0, maxUserLength)) }),
  };
}

/**
 * Completes a record with the end of its request, and emits it.
 *
 * @param record A record, not yet emitted.
 * @param ending The end of the request.
 */
export function emitRecord(
  record: RoutingRecord,
  { startedAt, clock, deps, tries, plan: { request } }: RecordedRequest,
  { status, code, outcome, respondedAt, used = {}, text }: RequestFault & {
    readonly outcome: Outcome;
    /** Time of the response, or of the first content of a stream, monotonic ms. */
    readonly respondedAt?: number;
    readonly used?: Usage;
    /** The response for the request log. */
    readonly text?: (() => string) | undefined;
  },
): void {
  const { input, output, costNanoUsd, estimated } = used;
  const latencyMs = respondedAt === undefined ? undefined : respondedAt - startedAt;
  const end: End = {
    status,
    ...(code === undefined ? {} : { code }),
    ...(latencyMs === undefined || request.delivery !== "stream" ? {} : { ttft_ms: Math.round(latencyMs) }),
    duration_ms: Math.round(clock.monotonic() - startedAt),
    ...(input === undefined ? {} : { tokens_in: input }),
    ...(output === undefined ? {} : { tokens_out: output }),
    ...(costNanoUsd === undefined ? {} : { cost_usd: costNanoUsd / 1e9 }),
    ...(estimated === undefined ? {} : { estimated }),
  };
  Object.assign(record, end);
  deps.hub.requestFinished({
    record,
    tries,
    outcome,
    latencyMs,
    tokensIn: input,
    tokensOut: output,
    ...(record.byok ? { callerCostNanoUsd: costNanoUsd } : { costNanoUsd }),
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

/**
 * What a routing record says of the end of its request.
 * @module
 */
import type { RoutingRecord } from "../contracts/events.ts";
import {
  BudgetExceededError,
  DeadlineError,
  MeshError,
  NoActiveModelError,
  ProviderError,
  RateLimitError,
} from "../errors.ts";
import type { Usage } from "../state/meter.ts";
import type { RequestContext } from "./request_context.ts";

/** Members of a {@linkcode RoutingRecord} that are known when the request is over. */
type End = Pick<
  RoutingRecord,
  "status" | "ttft_ms" | "duration_ms" | "tokens_in" | "tokens_out" | "cost_usd" | "estimated"
>;

/** How a request ended. */
export interface RequestEnding {
  readonly status: number;
  /** When a stream's first content came, monotonic ms. */
  readonly contentAt?: number | undefined;
  /** What it took. */
  readonly used?: Usage;
}

/**
 * Writes into a record how its request ended.
 *
 * @param record Not emitted yet.
 * @param context What the request has done so far.
 * @param now Monotonic ms.
 * @param ending How it ended.
 */
export function endRecord(
  record: RoutingRecord,
  { startedAt }: Pick<RequestContext, "startedAt">,
  now: number,
  { status, contentAt, used = {} }: RequestEnding,
): void {
  const { input, output, costNano, estimated } = used;
  const end: End = {
    status,
    ...(contentAt === undefined ? {} : { ttft_ms: Math.round(contentAt - startedAt) }),
    duration_ms: Math.round(now - startedAt),
    ...(input === undefined ? {} : { tokens_in: input }),
    ...(output === undefined ? {} : { tokens_out: output }),
    ...(costNano === undefined ? {} : { cost_usd: costNano / 1e9 }),
    ...(estimated === undefined ? {} : { estimated }),
  };
  Object.assign(record, end);
}

/**
 * The HTTP status that stands for an error of a request that was routed.
 *
 * @param error What it was given up with.
 */
export function statusOfError(error: unknown): number {
  if (ProviderError.isInstance(error)) return error.status;
  if (RateLimitError.isInstance(error) || BudgetExceededError.isInstance(error)) return 429;
  if (DeadlineError.isInstance(error)) return 504;
  if (NoActiveModelError.isInstance(error)) return 503;
  return MeshError.isInstance(error) && error.code === "shutting_down" ? 503 : 500;
}

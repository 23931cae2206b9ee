/**
 * Converts a request to spans: one for the request, with a child span for each attempt.
 * @module
 */
import type { ModelTry, RoutingRecord } from "../../src/contracts/events.ts";
import { parseTraceparent, randomHex } from "../../src/util/request_id.ts";
import { type KeyValue, toAttributes, toNanos, toOperationName } from "./_otlp.ts";

/** A span in OTLP's JSON encoding. */
export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly KeyValue[];
  readonly status: { readonly code?: number; readonly message?: string };
}

const serverKind = 2;
const clientKind = 3;
const errorStatus = 2;

/** Outcomes of attempts that are not errors. */
const served: ReadonlySet<string> = new Set(["ok", "empty"]);

/**
 * The spans of a request. They continue the trace of its `traceparent`, if it has one: the caller's span is the parent.
 * The span of an attempt is the one that its provider received as parent.
 *
 * @param tries Every attempt.
 * @param endedAt End time, ms since the Unix epoch.
 * @returns None if the caller does not record its own span.
 */
export function toSpans(record: RoutingRecord, tries: readonly ModelTry[], endedAt: number): readonly OtlpSpan[] {
  const { status = 0, code = `status ${status}`, operation = "chat", dialect } = record;
  const parent = parseTraceparent(record.traceparent ?? "");
  if (parent?.isSampled === false) return [];
  const { traceId } = parent ?? parseTraceparent(tries[0]?.traceparent ?? "") ?? { traceId: randomHex(32) };
  const [requested, performed] = [toOperationName(operation, dialect), toOperationName(operation)];
  const returned = tries.findLast(({ model }) => model === record.model);
  const root: OtlpSpan = {
    traceId,
    spanId: randomHex(16),
    ...(parent && { parentSpanId: parent.spanId }),
    name: `${requested} ${record.pool}`,
    kind: serverKind,
    startTimeUnixNano: toNanos(endedAt - (record.duration_ms ?? 0)),
    endTimeUnixNano: toNanos(endedAt),
    attributes: requestAttributes(record, returned, requested),
    status: status >= 500 ? { code: errorStatus, message: code } : {},
  };
  const last = tries.at(-1);
  const children = tries.map((attempt): OtlpSpan => {
    // the attempt that opened a stream lasts as long as the stream
    const lastsOn = attempt === last && record.ttft_ms !== undefined;
    return {
      traceId,
      spanId: parseTraceparent(attempt.traceparent ?? "")?.spanId ?? randomHex(16),
      parentSpanId: root.spanId,
      name: `${performed} ${attempt.model}`,
      kind: clientKind,
      startTimeUnixNano: toNanos(attempt.startedAt),
      endTimeUnixNano: toNanos(lastsOn ? endedAt : attempt.startedAt + attempt.ms),
      attributes: tryAttributes(attempt, { usage: attempt === returned ? record : {}, record, operation: performed }),
      status: served.has(attempt.outcome) ? {} : { code: errorStatus, message: attempt.outcome },
    };
  });
  return [root, ...children];
}

function requestAttributes(
  record: RoutingRecord,
  returned: ModelTry | undefined,
  operation: string,
): readonly KeyValue[] {
  const { status = 0, code = String(status) } = record;
  return toAttributes({
    "gen_ai.operation.name": operation,
    "gen_ai.request.model": record.pool,
    "gen_ai.response.model": returned?.responseModel ?? returned?.upstreamModel ?? record.model,
    "gen_ai.provider.name": returned?.vendor ?? record.provider,
    "gen_ai.usage.input_tokens": record.tokens_in,
    "gen_ai.usage.output_tokens": record.tokens_out,
    "http.response.status_code": record.status,
    "error.type": status >= 400 ? code : undefined,
    "modelmesh.request.id": record.request_id,
    "modelmesh.pool": record.pool,
    "modelmesh.model": record.model,
    "modelmesh.provider": record.provider,
    "modelmesh.capability": record.capability,
    "modelmesh.client": record.client,
    "modelmesh.delivery": record.delivery,
    "modelmesh.attempts": record.attempts,
    "modelmesh.rotation.reason": record.rotation_reason,
    "modelmesh.overhead_ms": record.routing_latency_ms,
    "modelmesh.time_to_first_token_ms": record.ttft_ms,
    "modelmesh.cost_usd": record.cost_usd,
  });
}

function tryAttributes(attempt: ModelTry, { usage, record, operation }: {
  /** Token counts; they belong to the attempt that the client received. */
  readonly usage: Pick<RoutingRecord, "tokens_in" | "tokens_out">;
  readonly record: RoutingRecord;
  readonly operation: string;
}): readonly KeyValue[] {
  const { model, provider, outcome, status, upstreamModel = model, vendor = provider } = attempt;
  return toAttributes({
    "gen_ai.operation.name": operation,
    "gen_ai.provider.name": vendor,
    "gen_ai.request.model": upstreamModel,
    "gen_ai.response.model": attempt.responseModel,
    "gen_ai.usage.input_tokens": usage.tokens_in,
    "gen_ai.usage.output_tokens": usage.tokens_out,
    "http.response.status_code": status,
    "error.type": served.has(outcome) ? undefined : outcome,
    "modelmesh.request.id": record.request_id,
    "modelmesh.model": model,
    "modelmesh.provider": provider,
  });
}

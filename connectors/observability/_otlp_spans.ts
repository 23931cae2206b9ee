/**
 * Converts a request to spans: one for the request, with a child span for each attempt.
 * @module
 */
import type { ModelTry, RoutingRecord } from "../../src/contracts/events.ts";
import { newId } from "../../src/util/request_id.ts";
import { attributesOf, type KeyValue, nanosOf, operationNameOf } from "./_otlp.ts";

/** A span in OTLP's JSON encoding. */
export interface Span {
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
 * The spans of a request. They continue the trace of its `traceparent`, if it has one.
 *
 * @param record The completed request.
 * @param tries Every attempt.
 * @param endedAt End time, ms since the Unix epoch.
 */
export function spansOf(record: RoutingRecord, tries: readonly ModelTry[], endedAt: number): readonly Span[] {
  const { status = 0, delivery } = record;
  const [, traceId = hex(32), parentSpanId] =
    /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-/.exec(record.traceparent ?? "") ??
      [];
  const { operation = "chat", dialect } = record;
  const [requested, performed] = [operationNameOf(operation, dialect), operationNameOf(operation)];
  const startedAt = endedAt - (record.duration_ms ?? 0);
  const root: Span = {
    traceId,
    spanId: hex(16),
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    name: `${requested} ${record.pool}`,
    kind: serverKind,
    startTimeUnixNano: nanosOf(startedAt),
    endTimeUnixNano: nanosOf(endedAt),
    attributes: requestAttributes(record, requested),
    status: status >= 500 ? { code: errorStatus, message: `status ${status}` } : {},
  };
  const children = tries.map((one): Span => {
    const isServed = served.has(one.outcome);
    // the attempt that opened a stream lasts as long as the stream
    const lastsOn = one.outcome === "ok" && delivery === "stream";
    return {
      traceId,
      spanId: hex(16),
      parentSpanId: root.spanId,
      name: `${performed} ${one.model}`,
      kind: clientKind,
      startTimeUnixNano: nanosOf(one.startedAt),
      endTimeUnixNano: nanosOf(lastsOn ? endedAt : one.startedAt + one.ms),
      attributes: tryAttributes(one, record, performed),
      status: isServed ? {} : { code: errorStatus, message: one.outcome },
    };
  });
  return [root, ...children];
}

function requestAttributes(record: RoutingRecord, operation: string): readonly KeyValue[] {
  return attributesOf({
    "gen_ai.operation.name": operation,
    "gen_ai.request.model": record.pool,
    "gen_ai.response.model": record.model,
    "gen_ai.provider.name": record.provider,
    "gen_ai.usage.input_tokens": record.tokens_in,
    "gen_ai.usage.output_tokens": record.tokens_out,
    "http.response.status_code": record.status,
    "error.type": (record.status ?? 0) >= 400 ? String(record.status) : undefined,
    "modelmesh.request.id": record.request_id,
    "modelmesh.pool": record.pool,
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

/** Token counts belong to the successful attempt. */
function tryAttributes({ model, provider, outcome, status }: ModelTry, record: RoutingRecord, operation: string) {
  const hasUsage = outcome === "ok" && model === record.model;
  return attributesOf({
    "gen_ai.operation.name": operation,
    "gen_ai.provider.name": provider,
    "gen_ai.request.model": model,
    "gen_ai.usage.input_tokens": hasUsage ? record.tokens_in : undefined,
    "gen_ai.usage.output_tokens": hasUsage ? record.tokens_out : undefined,
    "http.response.status_code": status,
    "error.type": served.has(outcome) ? undefined : outcome,
    "modelmesh.request.id": record.request_id,
  });
}

function hex(length: number): string {
  return newId().replaceAll("-", "").slice(0, length);
}

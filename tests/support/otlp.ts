/**
 * Strict parser of OTLP's JSON encoding: members as in `opentelemetry-proto`, hexadecimal ids, 64-bit integers as
 * decimal strings. Unknown members are errors.
 * @module
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import definitions from "../fixtures/otlp/messages.json" with { type: "json" };

/** Attributes by key. */
export type Attributes = Readonly<Record<string, string | number>>;

/** One span. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly error: string | undefined;
}

/** One metric, its points with their attributes and number; of a histogram its count. */
export interface ReceivedMetric {
  readonly name: string;
  readonly unit: string;
  readonly kind: "sum" | "gauge" | "histogram";
  readonly points: readonly { readonly attributes: Attributes; readonly value: number }[];
}

// deno-lint-ignore no-explicit-any
type Json = any;

const messages: Readonly<Record<string, Readonly<Record<string, string>>>> = definitions.messages;
const enums: Readonly<Record<string, readonly number[]>> = definitions.enums;
const wholes: Readonly<Record<string, RegExp>> = {
  int64: /^-?\d{1,19}$/,
  sfixed64: /^-?\d{1,19}$/,
  uint64: /^\d{1,20}$/,
  fixed64: /^\d{1,20}$/,
};

/**
 * Checks an export against the definitions of `opentelemetry-proto`, in the JSON mapping that OTLP prescribes: names in
 * lowerCamelCase, ids as hex, enumerations as numbers, 64-bit integers as decimal strings. Unknown members are errors.
 *
 * @param value An object of the message.
 * @param type The message's name, such as `ExportTraceServiceRequest`.
 */
export function assertOtlp(value: Json, type: string, path: string = type): void {
  const fields = messages[type];
  if (fields === undefined) return assertScalar(value, type, path);
  assert(typeof value === "object" && value !== null && !Array.isArray(value), `${path} is no object`);
  for (const [name, member] of Object.entries(value)) {
    const of = fields[name];
    assert(of !== undefined, `${path}.${name} is no member of ${type}`);
    if (!of.startsWith("[]")) assertOtlp(member, of, `${path}.${name}`);
    else {
      assert(Array.isArray(member), `${path}.${name} is no list`);
      member.forEach((item, index) => assertOtlp(item, of.slice(2), `${path}.${name}[${index}]`));
    }
  }
}

function assertScalar(value: Json, type: string, path: string): void {
  const isOf = enums[type]?.includes(value) ??
    (wholes[type] !== undefined
      ? typeof value === "string" && wholes[type].test(value)
      : type === "bytes"
      ? typeof value === "string" && /^([0-9a-f]{2})*$/.test(value)
      : type === "double"
      ? typeof value === "number"
      : type === "string"
      ? typeof value === "string"
      : type === "bool"
      ? typeof value === "boolean"
      : Number.isInteger(value));
  assert(isOf, `${path} is no ${type}: ${JSON.stringify(value)}`);
}

/** The spans of an export of traces. */
export function readSpans(body: string): { readonly resource: Attributes; readonly spans: readonly ReceivedSpan[] } {
  assertOtlp(JSON.parse(body), "ExportTraceServiceRequest");
  const { resource, items } = unwrap(body, "resourceSpans", "scopeSpans", "spans");
  return { resource, spans: items.map(readSpan) };
}

/** The metrics of an export of metrics. */
export function readMetrics(body: string): readonly ReceivedMetric[] {
  assertOtlp(JSON.parse(body), "ExportMetricsServiceRequest");
  return unwrap(body, "resourceMetrics", "scopeMetrics", "metrics").items.map(readMetric);
}

function unwrap(body: string, outer: string, inner: string, member: string) {
  const document = JSON.parse(body);
  only(document, [outer]);
  assertEquals(document[outer].length, 1);
  const [entry] = document[outer];
  only(entry, ["resource", inner]);
  only(entry.resource, ["attributes"]);
  const [scoped] = entry[inner];
  only(scoped, ["scope", member]);
  only(scoped.scope, ["name", "version"]);
  return { resource: readAttributes(entry.resource.attributes), items: scoped[member] as Json[] };
}

function readSpan(span: Json): ReceivedSpan {
  only(span, [
    "traceId",
    "spanId",
    "parentSpanId",
    "name",
    "kind",
    "startTimeUnixNano",
    "endTimeUnixNano",
    "attributes",
    "status",
  ]);
  assertMatch(span.traceId, /^(?!0{32})[0-9a-f]{32}$/);
  assertMatch(span.spanId, /^(?!0{16})[0-9a-f]{16}$/);
  if (span.parentSpanId !== undefined) assertMatch(span.parentSpanId, /^[0-9a-f]{16}$/);
  assert(Number.isInteger(span.kind) && span.kind >= 1 && span.kind <= 5);
  only(span.status, ["code", "message"]);
  const [startMs, endMs] = [parseNanos(span.startTimeUnixNano), parseNanos(span.endTimeUnixNano)];
  assert(endMs >= startMs);
  const { traceId, spanId, parentSpanId, name, kind, status } = span;
  const error = status.code === 2 ? status.message : undefined;
  return {
    traceId,
    spanId,
    parentSpanId,
    name,
    kind,
    startMs,
    endMs,
    attributes: readAttributes(span.attributes),
    error,
  };
}

function readMetric(metric: Json): ReceivedMetric {
  const [kind, ...others] = (["sum", "gauge", "histogram"] as const).filter((kind) => metric[kind] !== undefined);
  assert(kind !== undefined && others.length === 0);
  only(metric, ["name", "unit", "description", kind]);
  const data = metric[kind];
  only(data, kind === "gauge" ? ["dataPoints"] : ["dataPoints", "aggregationTemporality", "isMonotonic"]);
  if (kind !== "gauge") assertEquals(data.aggregationTemporality, 2);
  const points = data.dataPoints.map((point: Json) => {
    const times = ["attributes", "startTimeUnixNano", "timeUnixNano"];
    assert(parseNanos(point.timeUnixNano) >= parseNanos(point.startTimeUnixNano));
    const attributes = readAttributes(point.attributes);
    if (kind !== "histogram") {
      only(point, [...times, "asDouble"]);
      assert(Number.isFinite(point.asDouble));
      return { attributes, value: point.asDouble };
    }
    only(point, [...times, "count", "sum", "bucketCounts", "explicitBounds"]);
    const counts = point.bucketCounts.map(parseInteger);
    assertEquals(counts.length, point.explicitBounds.length + 1);
    assertEquals(counts.reduce((sum: number, count: number) => sum + count, 0), parseInteger(point.count));
    return { attributes, value: parseInteger(point.count) };
  });
  return { name: metric.name, unit: metric.unit, kind, points };
}

function readAttributes(attributes: Json): Attributes {
  return Object.fromEntries(attributes.map((attribute: Json) => {
    only(attribute, ["key", "value"]);
    const [[kind, value]] = Object.entries(attribute.value) as [[string, Json]];
    assert(kind === "stringValue" || kind === "intValue" || kind === "doubleValue");
    return [attribute.key, kind === "intValue" ? parseInteger(value) : value];
  }));
}

function parseInteger(text: unknown): number {
  assertMatch(String(text), /^-?\d+$/);
  assertEquals(typeof text, "string");
  return Number(text);
}

function parseNanos(nanos: unknown): number {
  return parseInteger(nanos) / 1e6;
}

function only(value: object, names: readonly string[]): void {
  for (const name of Object.keys(value)) assert(names.includes(name), `"${name}" is no member here`);
}

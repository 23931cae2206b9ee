/**
 * Exports traces and metrics to OpenTelemetry, through OTLP over HTTP with JSON. Metrics have the names of the semantic
 * conventions for generative AI.
 * @module
 */
import type { Connector, MeshParts } from "../../src/contracts/connector.ts";
import type { HistogramSample, Labels, MetricFamily } from "../../src/contracts/metrics.ts";
import type { Observability } from "../../src/contracts/observability.ts";
import type { Runtime } from "../../src/contracts/runtime.ts";
import { ConfigError } from "../../src/errors.ts";
import { isObject } from "../../src/util/is_object.ts";
import { newId, newSpan } from "../../src/util/request_id.ts";
import { stripTrailing } from "../../src/util/strip_trailing.ts";
import { openTelemetryDeclaration } from "./declarations.ts";
import { DeliveryQueue } from "./_delivery_queue.ts";
import { toAttributes, toNanos, toOperationName } from "./_otlp.ts";
import { type OtlpSpan, toSpans } from "./_otlp_spans.ts";
import { post } from "./_post.ts";

/** Maximum number of queued requests, and of requests per export. */
const capacity = 2_048;
const batch = 256;

/** Exports requests as spans, and statistics as metrics; its declaration documents the attributes. */
export const openTelemetryObservability: Connector<"observability"> = /* @__PURE__ */ Object.assign(
  { create: createOpenTelemetrySink },
  openTelemetryDeclaration,
);

function createOpenTelemetrySink(
  settings: Readonly<Record<string, unknown>>,
  runtime: Runtime,
  mesh?: MeshParts,
): Observability {
  const { clock } = runtime;
  const exportTo = exporter(settings, runtime, mesh);
  const startedAt = clock.now();
  const scope = { name: "modelmesh", ...(mesh?.version === undefined ? {} : { version: mesh.version }) };
  const spans = new DeliveryQueue<readonly OtlpSpan[]>({
    capacity,
    batch,
    deliver: (requests) => exportTo("traces", "resourceSpans", { scopeSpans: [{ scope, spans: requests.flat() }] }),
  });
  const metrics = new DeliveryQueue<readonly object[]>({
    capacity,
    batch: capacity, // metrics are cumulative: the latest export contains all of them
    deliver: (reports) =>
      exportTo("metrics", "resourceMetrics", { scopeMetrics: [{ scope, metrics: reports.at(-1) }] }),
  });
  return {
    get lost() {
      return spans.lost + metrics.lost;
    },
    beginSpan: newSpan,
    emit(record, tries = []) {
      const request = record.type === "routing" ? toSpans(record, tries, clock.now()) : [];
      if (request.length > 0) spans.add(request);
    },
    trace: () => {},
    async flush(report) {
      if (report !== undefined) {
        const { since = startedAt, vendors = new Map() } = report;
        metrics.add(otlpMetrics(report.families(), { from: since, to: Math.max(since, clock.now()), vendors }));
      }
      await Promise.all([spans.idle(), metrics.idle()]);
    },
  };
}

/** Retryable statuses of OTLP/HTTP; with any other, the collector has rejected the data. */
const retryable: ReadonlySet<number> = new Set([429, 502, 503, 504]);

function exporter(
  settings: Readonly<Record<string, unknown>>,
  runtime: Runtime,
  mesh: MeshParts | undefined,
): (signal: "traces" | "metrics", member: string, content: object) => Promise<void> {
  const { url, headers = {}, service_name } = settings;
  const base = url ?? runtime.env("OTEL_EXPORTER_OTLP_ENDPOINT") ?? "http://127.0.0.1:4318";
  if (typeof base !== "string" || !/^https?:\/\//i.test(base) || !URL.canParse(base)) {
    throw createOpenTelemetryError("url", "requires an http or https URL");
  }
  if (!isObject(headers) || Object.values(headers).some((value) => typeof value !== "string")) {
    throw createOpenTelemetryError("headers", "requires an object with string values");
  }
  const serviceName = service_name === undefined ? undefined : String(service_name);
  const resource = createResource({ serviceName, env: runtime.env, mesh });
  const names = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value as string]);
  const sent = { "content-type": "application/json", ...Object.fromEntries(names) };
  return (signal, member, content) => {
    const body = JSON.stringify({ [member]: [{ resource, ...content }] });
    const delivery = { url: `${stripTrailing(base, "/")}/v1/${signal}`, headers: sent, body };
    return post(() => Promise.resolve(delivery), runtime, (status) => !retryable.has(status));
  };
}

function createOpenTelemetryError(setting: string, message: string): ConfigError {
  return new ConfigError([{ path: `observability.${setting}`, message: `"mesh.opentelemetry.v1" ${message}` }]);
}

/**
 * Creates the resource. Attributes of `OTEL_RESOURCE_ATTRIBUTES` override those of the process; the configured name, then
 * `OTEL_SERVICE_NAME`, override its `service.name`.
 *
 * @param parts The configured name, the environment, and the mesh.
 */
function createResource({ serviceName, env, mesh }: {
  /** The configured name of the service. */
  readonly serviceName: string | undefined;
  readonly env: Runtime["env"];
  readonly mesh: MeshParts | undefined;
}): object {
  const attributes = parseResourceAttributes(env("OTEL_RESOURCE_ATTRIBUTES") ?? "");
  if (attributes === undefined) mesh?.warn?.('OTEL_RESOURCE_ATTRIBUTES is ignored: it has to be "key=value,key=value"');
  return {
    attributes: toAttributes({
      "service.name": "modelmesh",
      "service.version": mesh?.version,
      "service.instance.id": mesh?.instanceId ?? newId(),
      ...attributes,
      ...withName(serviceName ?? env("OTEL_SERVICE_NAME")),
    }),
  };
}

function withName(name: string | undefined): { readonly "service.name"?: string } {
  return name === undefined || name === "" ? {} : { "service.name": name };
}

/**
 * Parses `key=value,key=value`; keys and values are percent-encoded, as in W3C Baggage. Undefined if any of it is
 * invalid: OpenTelemetry then ignores all of it.
 */
function parseResourceAttributes(text: string): Readonly<Record<string, string>> | undefined {
  const pairs = text.split(",").map((pair) => pair.trim()).filter((pair) => pair !== "");
  try {
    return Object.fromEntries(pairs.map((pair) => {
      const end = pair.indexOf("=");
      if (end < 1) throw new TypeError("not an attribute");
      return [pair.slice(0, end), pair.slice(end + 1)].map((part) => decodeURIComponent(part.trim()));
    }));
  } catch {
    return undefined;
  }
}

const cumulative = 2;

/** Names and units of the semantic conventions. */
const conventions: Readonly<Record<string, { readonly name: string; readonly unit: string }>> = {
  modelmesh_request_duration_seconds: { name: "gen_ai.client.operation.duration", unit: "s" },
  modelmesh_time_to_first_token_seconds: { name: "gen_ai.server.time_to_first_token", unit: "s" },
  modelmesh_request_tokens: { name: "gen_ai.client.token.usage", unit: "{token}" },
};

/** Label names of the semantic conventions. */
const labelNames: Readonly<Record<string, string>> = {
  model: "gen_ai.request.model",
  provider: "gen_ai.provider.name",
  direction: "gen_ai.token.type",
  operation: "gen_ai.operation.name",
  pool: "modelmesh.pool",
  client: "modelmesh.client",
};

/** Facts about the metrics. */
interface MetricFacts {
  /** Start and end of the counters, ms since the Unix epoch. */
  readonly from: number;
  readonly to: number;
  /** Vendors by the entry id of a provider. */
  readonly vendors: ReadonlyMap<string, string>;
}

/**
 * Converts metrics.
 *
 * @param families The metrics, as `/metrics` exports them.
 * @param facts Their time window, and the names of vendors.
 */
function otlpMetrics(families: readonly MetricFamily[], facts: MetricFacts): readonly object[] {
  return families.filter(({ samples }) => samples.length > 0).map((family) => {
    const convention = conventions[family.name];
    const { name, unit } = convention ?? { name: plainName(family.name), unit: toUnit(family.name) };
    const point = (labels: Labels) => ({
      attributes: attributesFor(labels, facts.vendors),
      startTimeUnixNano: toNanos(facts.from),
      timeUnixNano: toNanos(facts.to),
    });
    const head = { name, unit, description: family.help };
    if (family.type === "histogram") {
      const dataPoints = family.samples.map((sample) => ({ ...point(sample.labels), ...toBuckets(sample) }));
      return { ...head, histogram: { aggregationTemporality: cumulative, dataPoints } };
    }
    const dataPoints = family.samples.map(({ labels, value }) => ({ ...point(labels), asDouble: value }));
    if (family.type === "gauge") return { ...head, gauge: { dataPoints } };
    return { ...head, sum: { aggregationTemporality: cumulative, isMonotonic: true, dataPoints } };
  });
}

function toBuckets({ bounds, counts, sum, count }: HistogramSample) {
  return { count: String(count), sum, bucketCounts: counts.map(String), explicitBounds: bounds };
}

/** Maps `modelmesh_requests_total` to `modelmesh.requests`. */
function plainName(name: string): string {
  return name.replace(/_(?:usd_)?total$|_seconds$|_usd$/, "").replace("_", ".");
}

function toUnit(name: string): string {
  if (name.endsWith("_seconds")) return "s";
  return /_usd(_|$)/.test(name) ? "USD" : "1";
}

function attributesFor(labels: Labels, vendors: MetricFacts["vendors"]) {
  const valueFor = (label: string, value: string) => {
    if (label === "operation") return toOperationName(value);
    return label === "provider" ? vendors.get(value) ?? value : value;
  };
  const named = Object.entries(labels).map(([label, value]) =>
    [labelNames[label] ?? label, valueFor(label, value)] as const
  );
  return toAttributes(Object.fromEntries(named.filter(([, value]) => value !== "")));
}

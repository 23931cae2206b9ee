/**
 * Exports traces and metrics to OpenTelemetry, through OTLP over HTTP with JSON.
 * @module
 */
import type { Connector, MeshParts } from "../../src/contracts/connector.ts";
import type { Observability } from "../../src/contracts/observability.ts";
import type { Runtime } from "../../src/contracts/runtime.ts";
import { ConfigError } from "../../src/errors.ts";
import { isObject } from "../../src/util/is_object.ts";
import { stripTrailing } from "../../src/util/strip_trailing.ts";
import { DeliveryQueue } from "./_delivery_queue.ts";
import { newSpan } from "../../src/util/request_id.ts";
import { openTelemetryDeclaration } from "./declarations.ts";
import { otlpMetrics } from "./_otlp_metrics.ts";
import { createResource } from "./_otlp_resource.ts";
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

type Export = (signal: "traces" | "metrics", member: string, content: object) => Promise<void>;

function exporter(settings: Readonly<Record<string, unknown>>, runtime: Runtime, mesh: MeshParts | undefined): Export {
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

/**
 * Converts labelled metrics to OTLP's JSON encoding, with the names of the semantic conventions for generative AI.
 * @module
 */
import type { HistogramSample, Labels, MetricFamily } from "../../src/contracts/metrics.ts";
import { attributesOf, nanosOf, operationNameOf } from "./_otlp.ts";

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

/** Time window of the metrics, ms since the Unix epoch. */
interface Window {
  readonly from: number;
  readonly to: number;
}

/**
 * Converts metrics.
 *
 * @param families The metrics, as `/metrics` exports them.
 * @param window Their time window.
 */
export function otlpMetrics(families: readonly MetricFamily[], window: Window): readonly object[] {
  return families.filter(({ samples }) => samples.length > 0).map((family) => {
    const known = conventions[family.name];
    const { name, unit } = known ?? { name: plainName(family.name), unit: unitOf(family.name) };
    const point = (labels: Labels) => ({
      attributes: attributesFor(labels),
      startTimeUnixNano: nanosOf(window.from),
      timeUnixNano: nanosOf(window.to),
    });
    const head = { name, unit, description: family.help };
    if (family.type === "histogram") {
      const dataPoints = family.samples.map((sample) => ({ ...point(sample.labels), ...bucketsOf(sample) }));
      return { ...head, histogram: { aggregationTemporality: cumulative, dataPoints } };
    }
    const dataPoints = family.samples.map(({ labels, value }) => ({ ...point(labels), asDouble: value }));
    if (family.type === "gauge") return { ...head, gauge: { dataPoints } };
    return { ...head, sum: { aggregationTemporality: cumulative, isMonotonic: true, dataPoints } };
  });
}

function bucketsOf({ bounds, counts, sum, count }: HistogramSample) {
  return { count: String(count), sum, bucketCounts: counts.map(String), explicitBounds: bounds };
}

/** Maps `modelmesh_requests_total` to `modelmesh.requests`. */
function plainName(name: string): string {
  return name.replace(/_(?:usd_)?total$|_seconds$/, "").replace("_", ".");
}

function unitOf(name: string): string {
  if (name.endsWith("_seconds")) return "s";
  return name.includes("_usd_") ? "USD" : "1";
}

function attributesFor(labels: Labels) {
  const named = Object.entries(labels).map(([label, value]) =>
    [labelNames[label] ?? label, label === "operation" ? operationNameOf(value) : value] as const
  );
  return attributesOf(Object.fromEntries(named.filter(([, value]) => value !== "")));
}

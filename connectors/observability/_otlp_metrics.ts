/**
 * Converts labelled metrics to OTLP's JSON encoding, with the names of the semantic conventions for generative AI.
 * @module
 */
import type { HistogramSample, Labels, MetricFamily } from "../../src/contracts/metrics.ts";
import { toAttributes, toNanos, toOperationName } from "./_otlp.ts";

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
export function otlpMetrics(families: readonly MetricFamily[], facts: MetricFacts): readonly object[] {
  return families.filter(({ samples }) => samples.length > 0).map((family) => {
    const known = conventions[family.name];
    const { name, unit } = known ?? { name: plainName(family.name), unit: toUnit(family.name) };
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

/**
 * Metrics in the Prometheus text format, version 0.0.4.
 * @module
 */
import type { HistogramSample, Labels, MetricFamily } from "../contracts/metrics.ts";

export const prometheusMediaType = "text/plain; version=0.0.4; charset=utf-8";

/**
 * Formats metrics. Families without samples are omitted.
 *
 * @param families Metric families with distinct names.
 *
 * @example
 * ```ts
 * prometheusText([{ name: "up", help: "Is it?", type: "gauge", samples: [{ labels: {}, value: 1 }] }]);
 * // "# HELP up Is it?\n# TYPE up gauge\nup 1\n"
 * ```
 */
export function prometheusText(families: readonly MetricFamily[]): string {
  return families.map((family) => {
    if (family.samples.length === 0) return "";
    const { name, help, type } = family;
    const lines = family.type === "histogram"
      ? family.samples.flatMap((sample) => histogramLines(name, sample))
      : family.samples.map(({ labels, value }) => line(name, labels, value));
    return [`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${type}`, ...lines, ""].join("\n");
  }).join("");
}

function histogramLines(name: string, { labels, bounds, counts, sum, count }: HistogramSample): readonly string[] {
  let below = 0;
  const buckets = bounds.map((bound, index) => {
    below += counts[index]!;
    return line(`${name}_bucket`, { ...labels, le: String(bound) }, below);
  });
  return [
    ...buckets,
    line(`${name}_bucket`, { ...labels, le: "+Inf" }, count),
    line(`${name}_sum`, labels, sum),
    line(`${name}_count`, labels, count),
  ];
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeHelp(text).replaceAll('"', '\\"')}"`);
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}`;
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

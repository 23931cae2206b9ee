/**
 * What the charts show of requests.
 * @module
 */
import { duration, percent, rate, shortDuration, usd } from "./format.ts";
import type { Totals } from "./totals.ts";

/** One line of a chart. */
export interface MeasureLine {
  readonly name: string;
  /** Its value for requests of a span of so many seconds; null where there is none. */
  readonly of: (totals: Totals, seconds: number) => number | null;
}

/** What one chart shows. */
export interface Measure {
  readonly title: string;
  /** Instead of a drawing, where no point has a value. */
  readonly empty: string;
  readonly format: (value: number) => string;
  /** The same for its axis. @default format */
  readonly formatAxis?: (value: number) => string;
  /** The axis reaches at least this value. */
  readonly minTop: number;
  /** All of them are drawn for all requests together; of groups only the first one. */
  readonly lines: readonly [MeasureLine, ...MeasureLine[]];
  /** Is drawn for models in place of the first line: a failover counts as a request of the model that answered. */
  readonly ofModels?: { readonly title: string; readonly line: MeasureLine };
  /** Whether a covered point without requests is 0; otherwise it has no value. */
  readonly isCount: boolean;
}

const durationLines = (of: "latency" | "firstToken"): readonly [MeasureLine, MeasureLine] => [
  { name: "p95", of: (totals) => totals[of].percentile(0.95) ?? null },
  { name: "p50", of: (totals) => totals[of].percentile(0.5) ?? null },
];

const inMs = { format: duration, formatAxis: shortDuration, minTop: 10, isCount: false } as const;

/** The charts in their order. */
export const measures: readonly Measure[] = [
  {
    title: "Requests per second",
    empty: "No records yet",
    format: rate,
    minTop: 1,
    lines: [{ name: "average", of: ({ requests }, seconds) => requests / seconds }],
    isCount: true,
  },
  { title: "Latency", empty: "No responses", ...inMs, lines: durationLines("latency") },
  { title: "First token", empty: "No streams", ...inMs, lines: durationLines("firstToken") },
  {
    title: "Error rate",
    empty: "No requests",
    format: percent,
    minTop: 0.05,
    lines: [{ name: "overall", of: ({ failed, requests }) => requests === 0 ? null : failed / requests }],
    ofModels: {
      title: "Failed attempts",
      line: { name: "share", of: ({ failedAttempts, attempts }) => attempts === 0 ? null : failedAttempts / attempts },
    },
    isCount: false,
  },
  {
    title: "Tokens per second",
    empty: "No records yet",
    format: rate,
    minTop: 1,
    lines: [
      { name: "out", of: ({ tokensOut }, seconds) => tokensOut / seconds },
      { name: "in", of: ({ tokensIn }, seconds) => tokensIn / seconds },
    ],
    isCount: true,
  },
  {
    title: "Cost per minute",
    empty: "No records yet",
    format: usd,
    minTop: 0.0001,
    lines: [{ name: "average", of: ({ costUsd }, seconds) => costUsd / seconds * 60 }],
    isCount: true,
  },
];

/**
 * Labelled metrics, as `/metrics` and statistics sinks export them.
 * @module
 */

/** Label values by label name. */
export type Labels = Readonly<Record<string, string>>;

/** A sample of a counter or gauge. */
export interface Sample {
  /** The labels that identify the sample within its family. */
  readonly labels: Labels;
  /** The value; a counter counts from the start of the process. */
  readonly value: number;
}

/** A sample of a histogram. */
export interface HistogramSample {
  /** The labels that identify the sample within its family. */
  readonly labels: Labels;
  /** Inclusive upper bounds of the buckets, ascending; a last bucket without a bound follows. */
  readonly bounds: readonly number[];
  /** Observations per bucket, not cumulative; one more entry than `bounds`. */
  readonly counts: readonly number[];
  /** Sum of all observations. */
  readonly sum: number;
  /** Number of observations. */
  readonly count: number;
}

/** All samples of one metric. */
export type MetricFamily =
  & {
    /** Metric name, such as `modelmesh_requests_total`. */
    readonly name: string;
    /** Help text: one sentence. */
    readonly help: string;
  }
  & (
    | { readonly type: "counter" | "gauge"; readonly samples: readonly Sample[] }
    | { readonly type: "histogram"; readonly samples: readonly HistogramSample[] }
  );

/**
 * Labelled metrics as they are printed: by `/metrics`, and by sinks that take statistics.
 * @module
 */

/** Label values by label name. */
export type Labels = Readonly<Record<string, string>>;

/** One counter or gauge. */
export interface Sample {
  /** What distinguishes it within its family. */
  readonly labels: Labels;
  /** Of a counter, since the start of the process. */
  readonly value: number;
}

/** One histogram. */
export interface HistogramSample {
  /** What distinguishes it within its family. */
  readonly labels: Labels;
  /** Upper bounds, inclusive, ascending; what is above the last one has a bucket of its own. */
  readonly bounds: readonly number[];
  /** Observations by bucket, one more than there are bounds. */
  readonly counts: readonly number[];
  /** Of all observations. */
  readonly sum: number;
  /** Of observations. */
  readonly count: number;
}

/** All metrics of one name. */
export type MetricFamily =
  & {
    /** Such as `modelmesh_requests_total`. */
    readonly name: string;
    /** What it counts, in a sentence. */
    readonly help: string;
  }
  & (
    | { readonly type: "counter" | "gauge"; readonly samples: readonly Sample[] }
    | { readonly type: "histogram"; readonly samples: readonly HistogramSample[] }
  );

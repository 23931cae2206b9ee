/**
 * Limits of requests that several processes keep together.
 * @module
 */

/** A time, cut into slices: what was admitted in one counts until the whole slice is past. */
interface SlicedTime {
  /** Length of a slice, ms. */
  readonly sliceMs: number;
  /** How many slices the time has. */
  readonly slices: number;
}

/** A minute. */
export const slicedMinute: SlicedTime = { sliceMs: 1_000, slices: 60 };

/** A day. */
export const slicedDay: SlicedTime = { sliceMs: 900_000, slices: 96 };

/** Requests of a time that several processes admit together. */
export interface SharedRate extends SlicedTime {
  /** Among all that the store has. */
  readonly name: string;
  /** Requests of that time. */
  readonly limit: number;
}

/** The answer to one request of a rate. */
export interface RateGrant {
  /** 0 when it is admitted; else the time until one may be, ms. */
  readonly waitMs: number;
  /** The slice that it counts in. */
  readonly slice: number;
}

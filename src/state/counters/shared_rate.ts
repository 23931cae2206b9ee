/**
 * Request rate limits that several processes enforce together.
 * @module
 */
import { dayMs } from "../../util/windows.ts";

/**
 * A sliding window of slices, in which a request counts until its whole slice has left the window; or, with no further
 * slices, the calendar window that is the present slice.
 */
interface SlicedTime {
  /** Length of a slice, ms. */
  readonly sliceMs: number;
  /** Number of slices in the window besides the present one. */
  readonly slices: number;
}

/** One minute. */
export const slicedMinute: SlicedTime = { sliceMs: 1_000, slices: 60 };

/** The UTC day. */
export const slicedDay: SlicedTime = { sliceMs: dayMs, slices: 0 };

/** A rate limit that several processes enforce together. */
export interface SharedRate extends SlicedTime {
  /** Key in the store. */
  readonly name: string;
  /** Maximum number of requests in the window. */
  readonly limit: number;
}

/** Result of requesting one request of a rate. */
export interface RateGrant {
  /** 0 when granted; else the time until a request may be granted, ms. */
  readonly waitMs: number;
  /** Releases a request that was not sent. */
  release(): void;
}

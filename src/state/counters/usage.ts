/**
 * Usage of calls, and results of requests.
 * @module
 */
import type { FailureKind } from "../../contracts/provider.ts";

/** Outcome of a request for the model that served it. */
export type Outcome = "success" | "failure" | "none";

/** Tokens of one call; unknown counts are undefined. */
export interface TokenCounts {
  /** Input tokens. */
  readonly input?: number | undefined;
  /** Output tokens. */
  readonly output?: number | undefined;
  /** Total tokens. */
  readonly tokens?: number | undefined;
  /** Input tokens read from a cache. */
  readonly cached?: number | undefined;
  /** Input tokens written to a cache. */
  readonly cacheWrite?: number | undefined;
}

/** Actual usage of a call. */
export interface Usage extends TokenCounts {
  /** Cost in nano-dollars; undefined if unknown, which counts as reserved. */
  readonly costNanoUsd?: number | undefined;
  /** Whether part of it is an estimate, since the provider did not report it. */
  readonly estimated?: true | undefined;
}

/** Result of a request at one model, over all attempts. */
export interface RequestEnd extends Usage {
  /** Time to the response, or to the first content of a stream, ms. */
  readonly ms?: number | undefined;
  /** HTTP status of a failure. */
  readonly status?: number | undefined;
  /** Class of a failure. */
  readonly kind?: FailureKind | undefined;
}

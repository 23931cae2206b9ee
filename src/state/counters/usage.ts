/**
 * Usage of calls, and results of requests.
 * @module
 */
import type { FailureKind } from "../../contracts/provider.ts";
import type { BilledUsage } from "../../contracts/usage.ts";

/** Outcome of a request for the model that served it. */
export type Outcome = "success" | "failure" | "none";

/** Tokens of one call; unknown counts are undefined. */
export interface TokenCounts extends Pick<BilledUsage, "input" | "output" | "cached" | "cacheWrite"> {
  /** Total tokens. */
  readonly tokens?: number | undefined;
}

/** Actual usage of a call. */
export interface Usage extends TokenCounts {
  /** Cost in nano-dollars; undefined if unknown, which counts as reserved. */
  readonly costNanoUsd?: number | undefined;
  /** The service tier that served the call, as the vendor names it. */
  readonly tier?: string | undefined;
  /** Whether the provider reported all usage. */
  readonly isReported?: boolean | undefined;
  /** Whether usage or cost are in part an estimate, since the provider did not report it, or its price is unknown. */
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

/**
 * A rate as it can be shared with other processes.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";

/** What a `RateReplica` is made of. */
export interface RateReplicaParts {
  /** Its name. */
  readonly key: string;
  /** Length of a slice, ms. */
  readonly sliceMs: number;
  /** How many slices count. */
  readonly slices: number;
  readonly clock: Clock;
  /** Whether anybody wants to know. */
  readonly isWanted: () => boolean;
  /** What this process has taken, since it began. */
  readonly counted: () => number;
  /** Takes in what others took, at a monotonic time in ms; negative amounts are subtracted. */
  readonly addOthers: (at: number, amount: number) => void;
}

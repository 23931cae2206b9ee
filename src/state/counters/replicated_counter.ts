/**
 * Replicated counters: each process counts its own part, and receives the parts of other processes.
 * @module
 */
import type { AdmissionDenial } from "./admission_denial.ts";

/** A replicated counter, as one process sees it. */
export interface ReplicatedCounter {
  /** Key of the counter. */
  readonly key: string;
  /** When it expires, wall-clock ms. */
  readonly expiresAt: number;
  /** The total part of this process. */
  readonly own: number;
  /** The part of `own` that is released when this process ends. @default 0 */
  readonly leased?: number;
  /** Whether it counts now. Otherwise only changes are reported. */
  readonly isPresent: boolean;
  /** Known lower bound of the total, for a counter that only grows. */
  readonly atLeast?: number | undefined;
  /** Applies the part of other processes, and the total. */
  apply(others: number, total: number): void;
}

/** A request to reserve in a replicated counter. */
export interface CounterRequest {
  readonly counter: ReplicatedCounter;
  /** The amount to reserve. */
  readonly amount: number;
  /** Maximum total. */
  readonly limit: number;
  /** Whether the amount is released when this process ends. */
  readonly isLeased: boolean;
  /** Denial reason when the limit would be exceeded. */
  readonly reason: AdmissionDenial["reason"];
}

/** A group of replicated counters, such as those of one budget. */
export interface CounterGroup {
  /** Returns its counters. */
  counters(wallTimeMs: number): Iterable<ReplicatedCounter>;
  /** Number of changes by this process so far; while it is undefined, every sync reads the group. */
  readonly changes?: number | undefined;
  /**
   * Whether nothing is reserved in it, here or elsewhere: unless it changes here, it may then wait for its turn.
   * @default true
   */
  readonly isQuiet?: boolean;
  /**
   * Begins replication. Values restored from an earlier process are already in the store.
   *
   * @param report Call it when changes must be reported immediately.
   */
  startReplication?(report: () => void): void;
}

/**
 * Replicated counters: each process counts its own part, and receives the parts of other processes.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import type { AdmissionDenial } from "./admission_denial.ts";
import type { RateGrant, SharedRate } from "./shared_rate.ts";

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

/** Whether a request is for budget. Such requests are denied without the store when so configured. */
export function isMoney({ reason }: CounterRequest): boolean {
  return reason === "budget" || reason === "budget_limit";
}

/** A group of replicated counters, such as those of one budget. */
export interface CounterGroup {
  /** Returns its counters. */
  counters(wallTimeMs: number): Iterable<ReplicatedCounter>;
  /**
   * Begins replication. Values restored from an earlier process are already in the store.
   *
   * @param report Call it when changes must be reported immediately.
   */
  startReplication?(report: () => void): void;
}

/** Describes the counters of a rate. */
export interface RateReplicaParts {
  /** Key of the rate. */
  readonly key: string;
  /** Length of a slice, ms. */
  readonly sliceMs: number;
  /** Number of slices in the window. */
  readonly slices: number;
  readonly clock: Clock;
  /** Whether the rate is needed. */
  readonly isWanted: () => boolean;
  /** Returns the total amount this process has used since it started. */
  readonly counted: () => number;
  /** Applies what other processes used at a monotonic time in ms; negative amounts are subtracted. */
  readonly addOthers: (at: number, amount: number) => void;
}

/** This process's part of a counter. */
export interface OwnPart {
  amount: number;
  /** The part of it that is released when this process ends. */
  leased: number;
}

/** This process's part as acknowledged by the store. */
export interface Acknowledged extends OwnPart {
  /** Sent, but not acknowledged yet. */
  readonly pending: OwnPart;
}

/** The lease of a process's reservations in the shared store. */
export interface LeaseState {
  /** Identifies the lease. It changes when the lease is lost. */
  readonly number: number;
  /** Whether the store has certainly not ended it. */
  readonly isCertain: boolean;
}

/** Replicates counters between processes. */
export interface Replication {
  /** Whether the store is unavailable, as far as this process knows. */
  readonly isUnavailable: boolean;
  /** Whether the store is unavailable and requests that need it are denied. */
  readonly isFailClosed: boolean;
  /** The lease of this process's reservations. */
  readonly lease: LeaseState;
  /** Makes sure that this process has its lease. Waits until the store responds or counts as unavailable. */
  renewLease(): Promise<void>;
  /** Creates the replicated counters of a rate. */
  createReplica(rate: RateReplicaParts): CounterGroup;
  /** Reports local counters to the store, and applies those of other processes. Never rejects. */
  sync(): Promise<void>;
  /** Reports the counters of one group without waiting for the next sync. */
  report(group: CounterGroup): void;
  /** Syncs for a request, with the timeout of a reservation. */
  refresh(): Promise<void>;
  /** Requests a grant for one request of a shared rate; undefined while the store is unavailable. */
  admit(rate: SharedRate): Promise<RateGrant | undefined>;
  /**
   * Acquires a name if no other process has, such as that of a fact that every process sees and one has to report.
   *
   * @param name Identifies the fact.
   * @param expiresAt When the name may be acquired again, wall-clock ms.
   * @returns Whether this process has acquired it. True while the store is unavailable, since a fact that is reported
   * twice is preferred to one that is not reported.
   */
  acquireOnce(name: string, expiresAt: number): Promise<boolean>;
  /** Reserves all requested amounts or none. Returns undefined when they are granted, else the reason of the denial. */
  reserve(requests: readonly CounterRequest[], onGrant: () => void): Promise<CounterRequest["reason"] | undefined>;
}

/** The counters of one mesh: local until a shared storage replicates them. */
export class SharedCounters {
  readonly groups: CounterGroup[] = [];
  /** Acknowledged parts by counter key. */
  readonly #acknowledged = new Map<string, Acknowledged>();
  readonly #rates: RateReplicaParts[] = [];
  #replication: Replication | undefined;

  /** Replicates the counters; undefined while they are local. */
  get replication(): Replication | undefined {
    return this.#replication;
  }

  /** Registers a group, to be replicated now or once replication begins. */
  register(group: CounterGroup): void {
    this.groups.push(group);
    if (this.#replication !== undefined) this.#start(group);
  }

  /** Registers a rate, whose counters exist only while they are replicated. */
  registerRate(rate: RateReplicaParts): void {
    if (this.#replication === undefined) this.#rates.push(rate);
    else this.register(this.#replication.createReplica(rate));
  }

  /** Begins replication. */
  open(replication: Replication): void {
    const isNew = this.#replication === undefined;
    this.#replication = replication;
    if (isNew) { for (const group of this.groups) this.#start(group); }
    for (const rate of this.#rates.splice(0)) this.register(replication.createReplica(rate));
  }

  /** Whether a counter has something to report. */
  hasChanged({ key, own, leased = 0, isPresent }: ReplicatedCounter): boolean {
    const known = this.#acknowledged.get(key);
    return isPresent || own !== (known?.amount ?? 0) || leased !== (known?.leased ?? 0);
  }

  /** Returns the acknowledged part of a counter, which the caller updates. */
  getAcknowledged({ key }: ReplicatedCounter): Acknowledged {
    const known = this.#acknowledged.get(key);
    if (known !== undefined) return known;
    const made = { amount: 0, leased: 0, pending: { amount: 0, leased: 0 } };
    this.#acknowledged.set(key, made);
    return made;
  }

  /** Deletes acknowledgements of expired counters, once there are many. Those of `reported` counters are kept. */
  forgetExpired(reported: readonly ReplicatedCounter[], wallTimeMs: number): void {
    if (this.#acknowledged.size <= 2 * reported.length + 100) return;
    const inUse = new Set(reported.map(({ key }) => key));
    for (const group of this.groups) for (const { key } of group.counters(wallTimeMs)) inUse.add(key);
    for (const key of this.#acknowledged.keys()) if (!inUse.has(key)) this.#acknowledged.delete(key);
  }

  #start(group: CounterGroup): void {
    group.startReplication?.(() => this.#replication?.report(group));
  }
}

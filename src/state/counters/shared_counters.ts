/**
 * The counters of a mesh, which several processes may share.
 * @module
 */
import type { CounterGroup, CounterRequest } from "./replicated_counter.ts";
import type { RateGrant, SharedRate } from "./shared_rate.ts";

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
  readonly groups: Set<CounterGroup> = new Set();
  /** Acknowledged parts by counter key. */
  readonly acknowledged: Map<string, Acknowledged> = new Map();
  /** Replicates the counters; undefined while they are local. */
  replication: Replication | undefined;

  /** Registers a group, to be replicated now or once replication begins. */
  register(group: CounterGroup): void {
    this.groups.add(group);
    if (this.replication !== undefined) this.#start(group);
  }

  /** Begins replication. */
  open(replication: Replication): void {
    const isNew = this.replication === undefined;
    this.replication = replication;
    if (isNew) { for (const group of this.groups) this.#start(group); }
  }

  #start(group: CounterGroup): void {
    group.startReplication?.(() => this.replication?.report(group));
  }
}

/**
 * Sums that several processes make together: each one counts its own part and receives what the others have.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import type { AdmissionDenial } from "../limits/admission_denial.ts";
import type { RateGrant, SharedRate } from "./shared_rate.ts";

/** A sum, as one process has it. */
export interface ReplicatedCounter {
  /** Its name. */
  readonly key: string;
  /** When it is of no use any more: wall clock, ms. */
  readonly expiresAt: number;
  /** This process's part of it, all in all. */
  readonly own: number;
  /** Of `own`, what ends with this process. @default 0 */
  readonly leased?: number;
  /** It counts now; else only its changes are reported. */
  readonly isPresent: boolean;
  /** What all together are known to have reached, for a sum that only grows. */
  readonly atLeast?: number | undefined;
  /** Applies the others' part, and what all come to. */
  apply(others: number, total: number): void;
}

/** A part that a request asks for more of. */
export interface CounterRequest {
  readonly counter: ReplicatedCounter;
  /** How much more. */
  readonly amount: number;
  /** What the sum may come to. */
  readonly limit: number;
  /** Whether the amount ends with this process. */
  readonly isLeased: boolean;
  /** Why a request is denied that finds no room. */
  readonly reason: AdmissionDenial["reason"];
}

/** Something that counts. */
export interface CounterSource {
  /** Its sums. */
  counters(wall: number): Iterable<ReplicatedCounter>;
  /**
   * It is shared from now on: what it was given of an earlier process is in the store already.
   *
   * @param report To be called when others have to know at once what has changed.
   */
  startReplication?(report: () => void): void;
}

/** What a `RateReplica` is made of. */
export interface RateReplicaParts {
  /** Its name. */
  readonly key: string;
  /** Length of a slice, ms. */
  readonly sliceMs: number;
  /** How many slices count. */
  readonly slices: number;
  readonly clock: Clock;
  /** Whether it is wanted. */
  readonly isWanted: () => boolean;
  /** What this process has taken, since it began. */
  readonly counted: () => number;
  /** Applies what others took, at a monotonic time in ms; negative amounts are subtracted. */
  readonly addOthers: (at: number, amount: number) => void;
}

/** This process's part of a sum. */
export interface OwnPart {
  amount: number;
  /** Of it, what ends with this process. */
  leased: number;
}

/** What the store has acknowledged of this process's part. */
export interface Acknowledged extends OwnPart {
  /** Sent, and not acknowledged yet. */
  readonly pending: OwnPart;
}

/** What exchanges the sums with other processes. */
export interface Replication {
  /** Whether the store is unavailable, as far as this process knows. */
  readonly isUnavailable: boolean;
  /** Whether the store is unavailable, and requests that need it are not to be served without. */
  readonly isFailClosed: boolean;
  /** Makes the sums of a rate. */
  replicaOf(rate: RateReplicaParts): CounterSource;
  /** Reports all that has been counted to the store, and applies what the others have counted. Never throws. */
  sync(): Promise<void>;
  /** Reports what one source has counted, without waiting for the next turn. */
  report(source: CounterSource): void;
  /** As {@linkcode Replication.sync}, for a request: it waits no longer than for a reservation. */
  refresh(): Promise<void>;
  /** Admits a request of a rate, or not; undefined while the store is unavailable. */
  admit(rate: SharedRate): Promise<RateGrant | undefined>;
  /** An admitted request was not sent. */
  giveBack(rate: SharedRate, grant: RateGrant): void;
  /**
   * Whether this process is the first of all that claims something, such as the report of a fact that each of them sees.
   *
   * @param name Of what is claimed.
   * @param expiresAt From when it can be claimed again: wall clock, ms.
   * @returns True, too, while the store is unavailable: better reported twice than never.
   */
  claim(name: string, expiresAt: number): Promise<boolean>;
  /** Asks for room in sums, for all of it or none: undefined when there is room, else why not. */
  reserve(wanted: readonly CounterRequest[], onGrant: () => void): Promise<CounterRequest["reason"] | undefined>;
}

/** The sums of one mesh: its own, until a storage shares them with other processes. */
export class CounterReplicator {
  /** What counts. */
  readonly sources: CounterSource[] = [];
  /** By key of a sum: what the store has acknowledged. */
  readonly acknowledged: Map<string, Acknowledged> = new Map();
  readonly #rates: RateReplicaParts[] = [];
  #replication: Replication | undefined;

  /** Exchanges the sums; undefined while they are this process's own. */
  get replication(): Replication | undefined {
    return this.#replication;
  }

  /** Has a source's sums shared, now or once it opens. */
  register(source: CounterSource): void {
    this.sources.push(source);
    if (this.#replication !== undefined) this.#start(source);
  }

  /** The same for a rate, which has sums only once they are shared. */
  registerRate(rate: RateReplicaParts): void {
    if (this.#replication === undefined) this.#rates.push(rate);
    else this.register(this.#replication.replicaOf(rate));
  }

  /** Shares from now on. */
  open(replication: Replication): void {
    const isNew = this.#replication === undefined;
    this.#replication = replication;
    if (isNew) { for (const source of this.sources) this.#start(source); }
    for (const rate of this.#rates.splice(0)) this.register(replication.replicaOf(rate));
  }

  #start(source: CounterSource): void {
    source.startReplication?.(() => this.#replication?.report(source));
  }
}

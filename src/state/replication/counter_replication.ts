/**
 * How the sums of a mesh are exchanged with other processes, by way of a store.
 * @module
 */
import type { Cancel, Clock } from "../../contracts/runtime.ts";
import type { Shared, SharedReservation } from "../../contracts/storage.ts";
import type {
  Acknowledged,
  CounterReplicator,
  CounterRequest,
  CounterSource,
  OwnPart,
  RateReplicaParts,
  ReplicatedCounter,
  Replication,
} from "./counter_replicator.ts";
import { RateReplica } from "./rate_replica.ts";
import type { RateGrant, SharedRate } from "./shared_rate.ts";
import { SharedWindow } from "./shared_window.ts";

/**
 * Longest wait of a request for the store, ms, in steps: answers that lie there unread, since this process was busy,
 * come before the next step.
 */
const [claimStepMs, claimSteps] = [10, 5];

/** Counting not acknowledged for so long means that the store is unavailable, ms; until then it may just be slow. */
const maxResponseMs = 500;

type Reason = CounterRequest["reason"];

/** Where the sums are. */
interface ReplicationTarget {
  /** The store. */
  readonly shared: Shared;
  /** What becomes of requests that need the store while it is unavailable: served by what this process knows, or not. */
  readonly onUnavailable: "open" | "closed";
  /** Called when the store becomes unavailable. */
  readonly onOutage: () => void;
  /** Wall clock for expiry, and for time limits. */
  readonly clock: Clock;
  /** The store is in another process of this machine, without which this one ends: requests wait for it. @default false */
  readonly isLocal?: boolean;
}

/**
 * Exchanges the sums of one mesh. What a process counts is reported to the store at every {@linkcode CounterReplication.sync} as the
 * difference to what the store has acknowledged: so what is counted while the store is unavailable is added when it is back,
 * what was asked for and not used is given back, and nothing is read and written in two steps.
 */
export class CounterReplication implements Replication {
  readonly #replicator: CounterReplicator;
  readonly #target: ReplicationTarget;
  #isUnavailable = false;
  /** Of requests that wait to be admitted. */
  readonly #undecided = new Set<(grant: undefined) => void>();
  /** By name. */
  readonly #windows = new Map<string, SharedWindow>();
  /** The one under way, or the last one. */
  #syncing: Promise<void> = Promise.resolve();
  /** The one after it, where a caller waits for that. */
  #next: Promise<void> | undefined;
  /** What has something to report in this turn. */
  readonly #reporting = new Set<CounterSource>();

  constructor(replicator: CounterReplicator, target: ReplicationTarget) {
    this.#replicator = replicator;
    this.#target = target;
  }

  /** Whether the store is unavailable, as far as this process knows. */
  get isUnavailable(): boolean {
    return this.#isUnavailable;
  }

  /** Whether the store is unavailable, and requests that need it are not to be served without. */
  get isFailClosed(): boolean {
    return this.#isUnavailable && this.#target.onUnavailable === "closed";
  }

  /** Makes the sums of a rate. */
  replicaOf(rate: RateReplicaParts): CounterSource {
    return new RateReplica(rate);
  }

  /**
   * Sends the store all that has been counted, and reads what the others have. Never throws; one after the other, since
   * two at once would report the same twice.
   */
  sync(): Promise<void> {
    return this.#next ??= this.#syncing.then(() => {
      this.#next = undefined;
      return this.#syncing = this.#sync(this.#replicator.sources);
    });
  }

  /** Sends what one source has counted before this turn of the event loop is over: this process may end after it. */
  report(source: CounterSource): void {
    if (this.#isUnavailable) return; // the next sync reports it
    if (this.#reporting.size === 0) {
      queueMicrotask(() => {
        const sources = [...this.#reporting];
        this.#reporting.clear();
        void this.#sync(sources);
      });
    }
    this.#reporting.add(source);
  }

  /** The same for a request, which waits no longer than for a reservation. */
  async refresh(): Promise<void> {
    if (!this.#isUnavailable) await this.#withTimeout(this.sync());
  }

  async #sync(sources: readonly CounterSource[]): Promise<void> {
    const { shared, clock } = this.#target;
    const wall = clock.now();
    const parts = sources.flatMap((source) => [...source.counters(wall)]).filter((part) => this.#hasChanged(part));
    const deltas = parts.map((part) => {
      const account = this.#acknowledgedOf(part);
      const { amount, leased, pending } = account;
      const change = {
        amount: part.own - amount - pending.amount,
        leased: (part.leased ?? 0) - leased - pending.leased,
      };
      add(pending, change);
      return { part, account, change };
    });
    const cancel = this.#target.isLocal ? () => {} : clock.after(maxResponseMs, () => this.#setUnavailable(true));
    try {
      const totals = await shared.add(
        deltas.map(({ part, change: { amount, leased } }) => ({ ...sumOf(part), by: amount, leased })),
      );
      deltas.forEach(({ part, account, change }, index) =>
        applyTotal(part, account, { change, total: totals[index]! })
      );
      this.#setUnavailable(false);
      if (sources === this.#replicator.sources) this.#forget(parts);
    } catch {
      this.#setUnavailable(true); // the next sync reports it again
    } finally {
      for (const { account, change } of deltas) subtract(account.pending, change);
      cancel();
    }
  }

  /**
   * Asks for room in sums, for all of it or none. What is granted has to be part of this process's own from then on;
   * what is not is given back by the next {@linkcode CounterReplication.sync}.
   *
   * @param wanted How much of which sums.
   * @param onGrant Called in the moment in which it is granted, so that no sync comes between.
   * @returns Why not to go on; undefined: go on. While the store is unavailable no request waits for it, and those that
   *   take money are denied where that is configured.
   */
  async reserve(wanted: readonly CounterRequest[], onGrant: () => void): Promise<Reason | undefined> {
    if (wanted.length === 0) return undefined;
    const { shared, onUnavailable } = this.#target;
    const known = this.#isUnavailable ? undefined : await this.#withTimeout(this.#requestRoom(shared, wanted, onGrant));
    if (known !== undefined) return known.denied;
    return onUnavailable === "closed" && wanted.some(isMoney) ? "storage_unavailable" : undefined;
  }

  /**
   * Admits a request of a rate; undefined while the store is unavailable. A slow one is waited for until it counts as
   * that: a process that went on by itself would admit what another one has taken.
   */
  async admit(rate: SharedRate): Promise<RateGrant | undefined> {
    if (this.#isUnavailable) return undefined;
    return await new Promise((resolve) => {
      const decided = (grant: RateGrant | undefined) => {
        this.#undecided.delete(decided);
        resolve(grant);
      };
      this.#undecided.add(decided);
      const taken = this.#windowOf(rate).take(this.#target.shared, rate.limit);
      taken.then(decided, () => this.#setUnavailable(true));
    });
  }

  /** An admitted request was not sent. Where the store cannot be reached, it counts until its time is over. */
  giveBack(rate: SharedRate, { slice }: RateGrant): void {
    this.#windowOf(rate).giveBack(this.#target.shared, slice).catch(() => this.#setUnavailable(true));
  }

  async claim(name: string, expiresAt: number): Promise<boolean> {
    if (this.#isUnavailable) return true;
    const asked = this.#target.shared.reserve([{ key: `claim ${name}`, expiresAt, amount: 1, limit: 1 }]);
    return await asked.then(({ isGranted }) => isGranted, () => true);
  }

  #windowOf(rate: SharedRate): SharedWindow {
    const known = this.#windows.get(rate.name);
    if (known !== undefined) return known;
    const made = new SharedWindow(rate, this.#target.clock);
    this.#windows.set(rate.name, made);
    return made;
  }

  #withTimeout<T>(asked: Promise<T>): Promise<T | undefined> {
    if (this.#target.isLocal) return asked;
    return new Promise((resolve) => {
      let steps = 0;
      let cancel: Cancel;
      const step = () => {
        if (steps++ === claimSteps) return resolve(undefined);
        cancel = this.#target.clock.after(claimStepMs, step);
      };
      step();
      asked.then((answer) => {
        cancel();
        resolve(answer);
      });
    });
  }

  /** Also an answer that comes too late is taken in: the store has counted it. */
  async #requestRoom(
    shared: Shared,
    wanted: readonly CounterRequest[],
    onGrant: () => void,
  ): Promise<{ readonly denied: Reason | undefined } | undefined> {
    const accounts = wanted.map(({ counter }) => this.#acknowledgedOf(counter));
    const reservations = wanted.map(({ counter, amount, limit, isLeased }): SharedReservation => ({
      ...sumOf(counter),
      amount,
      limit,
      isLeased,
    }));
    try {
      const { isGranted, sums } = await shared.reserve(reservations);
      wanted.forEach(({ counter, amount, isLeased }, index) => {
        const granted = isGranted ? amount : 0;
        const change = { amount: granted, leased: isLeased ? granted : 0 };
        applyTotal(counter, accounts[index]!, { change, total: sums[index]! });
      });
      if (isGranted) onGrant();
      const full = wanted.find(({ amount, limit }, index) => sums[index]! + amount > limit) ?? wanted[0]!;
      return { denied: isGranted ? undefined : full.reason };
    } catch {
      this.#setUnavailable(true);
      return undefined;
    }
  }

  #hasChanged({ key, own, leased = 0, isPresent }: ReplicatedCounter): boolean {
    const known = this.#replicator.acknowledged.get(key);
    return isPresent || own !== (known?.amount ?? 0) || leased !== (known?.leased ?? 0);
  }

  #acknowledgedOf({ key }: ReplicatedCounter): Acknowledged {
    const known = this.#replicator.acknowledged.get(key);
    if (known !== undefined) return known;
    const made = { amount: 0, leased: 0, pending: { amount: 0, leased: 0 } };
    this.#replicator.acknowledged.set(key, made);
    return made;
  }

  /** Accounts of times that are over. */
  #forget(parts: readonly ReplicatedCounter[]): void {
    if (this.#replicator.acknowledged.size <= 2 * parts.length + 100) return;
    const inUse = new Set(parts.map(({ key }) => key));
    const wall = this.#target.clock.now();
    const kept = new Set(
      this.#replicator.sources.flatMap((source) => [...source.counters(wall)].map(({ key }) => key)),
    );
    for (const key of this.#replicator.acknowledged.keys()) {
      if (!inUse.has(key) && !kept.has(key)) this.#replicator.acknowledged.delete(key);
    }
  }

  #setUnavailable(isUnavailable: boolean): void {
    if (this.#isUnavailable === isUnavailable) return;
    this.#isUnavailable = isUnavailable;
    if (!isUnavailable) return;
    this.#target.onOutage();
    for (const decided of this.#undecided) decided(undefined);
  }
}

/** Reasons of money: requests for it are not served without the store where that is configured. */
function isMoney({ reason }: CounterRequest): boolean {
  return reason === "budget" || reason === "budget_limit";
}

function sumOf({ key, expiresAt, atLeast }: ReplicatedCounter) {
  return { key, expiresAt, ...(atLeast === undefined ? {} : { atLeast }) };
}

/** Answers come in the order of what was sent, so a total has this process's part as it is acknowledged now. */
function applyTotal(
  part: ReplicatedCounter,
  account: Acknowledged,
  { change, total }: { readonly change: OwnPart; readonly total: number },
): void {
  add(account, change);
  part.apply(Math.max(0, total - account.amount), total);
}

function add(part: OwnPart, change: OwnPart): void {
  part.amount += change.amount;
  part.leased += change.leased;
}

function subtract(part: OwnPart, { amount, leased }: OwnPart): void {
  add(part, { amount: -amount, leased: -leased });
}

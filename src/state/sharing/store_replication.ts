/**
 * Replicates the counters of a mesh between processes, through a shared store.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import type { Shared, SharedReservation } from "../../contracts/storage.ts";
import type { CounterGroup, CounterRequest } from "../counters/replicated_counter.ts";
import type { Replication, SharedCounters } from "../counters/shared_counters.ts";
import { afterRunning } from "../../util/retry_timer.ts";
import { Lease } from "./lease.ts";
import { add, applyTotal, ExpiredAcknowledgements, hasChanged, subtract, toSharedSum } from "./acknowledgements.ts";
import type { RateGrant, SharedRate } from "../counters/shared_rate.ts";
import { GroupTurns, type ReportedGroup } from "./group_turns.ts";
import { getAcknowledged } from "../counters/acknowledged.ts";
import { SharedWindow } from "./shared_window.ts";
import { getOrCreate } from "../../util/once.ts";

/** Timeout of a request that waits for the store, ms. */
const reservationMs = 50;

/** Time without acknowledgement after which the store counts as unavailable, ms; until then it may just be slow. */
const maxResponseMs = 500;

/** Maximum number of windows of rates of which this process keeps what it has read. */
const maxWindows = 20_000;

type Reason = CounterRequest["reason"];

/** The shared store, and behaviour while it is unavailable. */
interface ReplicationTarget {
  /** The shared store. */
  readonly shared: Shared;
  /**
   * Whether requests that need the store are served from local counters while it is unavailable (`open`), or denied
   * (`closed`).
   */
  readonly onUnavailable: "open" | "closed";
  /** Called when the store is unavailable, with the error, if it has responded. */
  readonly onOutage: (cause?: unknown) => void;
  /** Called when the lease of this process was lost, but for an outage. */
  readonly onLeaseLost?: () => void;
  /** Wall clock for expiry, monotonic clock for timeouts. */
  readonly clock: Clock;
  /**
   * Whether the store is in another process of this machine, which this one depends on; then requests wait for it.
   * @default false
   */
  readonly isLocal?: boolean;
}

/**
 * Replicates the counters of one mesh. At every {@linkcode StoreReplication.sync} a process reports the difference
 * between its counters and what the store has acknowledged. So what is counted during an outage is added afterwards,
 * unused reservations are returned, and there is no read-modify-write.
 */
export class StoreReplication implements Replication {
  readonly #sharedCounters: SharedCounters;
  readonly #target: ReplicationTarget;
  readonly lease: Lease;
  /** The lease when the last sync ended. */
  #knownLease: number;
  #isUnavailable = false;
  /** Resolvers of requests that wait for a grant. */
  readonly #undecided = new Set<() => void>();
  /** Acquisitions that the store has not decided yet. */
  readonly #pendingAcquisitions = new Set<Promise<boolean>>();
  /** Shared windows by name. */
  readonly #windows = new Map<string, SharedWindow>();
  /** The sync in flight, or the last one. */
  #syncing: Promise<void> = Promise.resolve();
  /** The sync after it, if one is requested. */
  #next: Promise<void> | undefined;
  readonly #turns = new GroupTurns();
  readonly #expired = new ExpiredAcknowledgements();
  /** Groups with changes to report in this turn. */
  readonly #reporting = new Set<CounterGroup>();

  constructor(sharedCounters: SharedCounters, target: ReplicationTarget) {
    this.#sharedCounters = sharedCounters;
    this.#target = target;
    this.lease = new Lease(target.shared, target.clock);
    this.#knownLease = this.lease.number;
  }

  /** Whether the store is unavailable, as far as this process knows. */
  get isUnavailable(): boolean {
    return this.#isUnavailable;
  }

  /** Whether the store is unavailable and requests that need it are denied. */
  get isFailClosed(): boolean {
    return this.#isUnavailable && this.#target.onUnavailable === "closed";
  }

  /**
   * Reports local counters to the store, and applies those of other processes. Never rejects. Syncs run one after the
   * other, since two at once would report the same difference twice.
   */
  sync(): Promise<void> {
    return this.#next ??= this.#syncing.then(() => {
      this.#next = undefined;
      return this.#syncing = this.#sync(this.#turns.select(this.#sharedCounters.groups));
    });
  }

  /** Reports the counters of one group within this turn of the event loop, since the process may exit after it. */
  report(group: CounterGroup): void {
    if (this.#isUnavailable) return; // the next sync reports it
    if (this.#reporting.size === 0) {
      queueMicrotask(() => {
        const groups = [...this.#reporting];
        this.#reporting.clear();
        this.#sync(groups).catch(() => this.#setUnavailable(true));
      });
    }
    this.#reporting.add(group);
  }

  /** Syncs for a request, with the timeout of a reservation. */
  async refresh(): Promise<void> {
    if (!this.#isUnavailable) await this.#withTimeout(this.sync());
  }

  async renewLease(): Promise<void> {
    if (!this.#isUnavailable && !this.lease.isCertain) await this.#untilUnavailable(this.sync());
  }

  async #sync(groups: Iterable<CounterGroup>): Promise<void> {
    const { isLocal, clock } = this.#target;
    const timer = { ms: maxResponseMs };
    const cancel = isLocal ? () => {} : afterRunning(clock, timer, () => this.#setUnavailable(true));
    try {
      await this.lease.renew(() => this.#reportGroups(groups));
      this.#reportLostLease();
      this.#setUnavailable(false);
    } catch (error) {
      this.#setUnavailable(true, error); // the next sync reports it again
    } finally {
      cancel();
    }
  }

  async #reportGroups(groups: Iterable<CounterGroup>): Promise<void> {
    const { shared, clock } = this.#target;
    const wallTimeMs = clock.now();
    const reported = [...groups].map((group): ReportedGroup => ({ group, changes: group.changes }));
    const parts = reported.flatMap(({ group }) => [...group.counters(wallTimeMs)]).filter((part) =>
      hasChanged(this.#sharedCounters, part)
    );
    const deltas = parts.map((part) => {
      const account = getAcknowledged(this.#sharedCounters, part);
      const { amount, leased, pending } = account;
      const change = {
        amount: part.own - amount - pending.amount,
        leased: (part.leased ?? 0) - leased - pending.leased,
      };
      add(pending, change);
      return { part, account, change };
    });
    try {
      const totals = await shared.add(
        deltas.map(({ part, change: { amount, leased } }) => ({ ...toSharedSum(part), by: amount, leased })),
      );
      deltas.forEach(({ part, account, change }, index) =>
        applyTotal(part, account, { change, total: totals[index]! })
      );
      this.#turns.note(reported);
      this.#expired.forget(this.#sharedCounters, clock.now());
    } finally {
      for (const { account, change } of deltas) subtract(account.pending, change);
    }
  }

  /**
   * Reserves in shared counters, all or nothing. Granted amounts must count as this process's own from then on; unused
   * ones are returned by the next {@linkcode StoreReplication.sync}.
   *
   * @param requests Counters, amounts and limits.
   * @param onGrant Called in the turn in which the store grants, so that no sync comes in between.
   * @returns Why the request is denied; undefined when it may proceed. While the store is unavailable no request waits,
   * and requests for budget are denied when so configured.
   */
  async reserve(requests: readonly CounterRequest[], onGrant: () => void): Promise<Reason | undefined> {
    if (requests.length === 0) return undefined;
    const { shared, onUnavailable } = this.#target;
    const remembered = this.#isUnavailable
      ? undefined
      : await this.#withTimeout(this.#requestReservation(shared, requests, onGrant));
    if (remembered !== undefined) return remembered.denied;
    return onUnavailable === "closed" && requests.some(isMoney) ? "storage_unavailable" : undefined;
  }

  /**
   * Requests a grant for one request of a shared rate; undefined while the store is unavailable. Waits for a slow store
   * until it counts as unavailable, since a process that decided alone would exceed the limit.
   */
  async admit(rate: SharedRate): Promise<RateGrant | undefined> {
    if (this.#isUnavailable) return undefined;
    const { shared, clock } = this.#target;
    const window = getOrCreate(this.#windows, rate.name, () => new SharedWindow(rate, clock));
    if (this.#windows.size > maxWindows) this.#windows.delete(this.#windows.keys().next().value!);
    const taken = await this.#untilUnavailable(this.lease.renew(() => window.take(shared, rate.limit)));
    if (taken === undefined) return undefined;
    const giveUp = () => window.release(shared, taken.slice);
    return {
      waitMs: taken.waitMs,
      // if the store cannot be reached, it counts until it expires
      release: () => void this.lease.renew(giveUp).catch((error) => this.#setUnavailable(true, error)),
    };
  }

  /** Waits for a response; undefined once the store counts as unavailable. */
  #untilUnavailable<T>(response: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve) => {
      const decided = (result: T | undefined) => {
        this.#undecided.delete(give);
        resolve(result);
      };
      const give = () => decided(undefined);
      this.#undecided.add(give);
      response.then(decided, (error) => this.#setUnavailable(true, error));
    });
  }

  async acquireOnce(name: string, expiresAt: number): Promise<boolean> {
    if (this.#isUnavailable) return true;
    const claim = { key: `claim ${name}`, expiresAt, amount: 1, limit: 1 };
    const response = this.lease.renew(() => this.#target.shared.reserve([claim]));
    const isFirst = response.then(({ isGranted }) => isGranted, () => true);
    this.#pendingAcquisitions.add(isFirst);
    return await isFirst.finally(() => this.#pendingAcquisitions.delete(isFirst));
  }

  /** Resolves when the store has decided all pending acquisitions. */
  async acquisitionsDecided(): Promise<void> {
    await Promise.all(this.#pendingAcquisitions);
  }

  #withTimeout<T>(response: Promise<T>): Promise<T | undefined> {
    if (this.#target.isLocal) return response;
    return new Promise((resolve, reject) => {
      const cancel = afterRunning(this.#target.clock, { ms: reservationMs }, () => resolve(undefined));
      response.finally(cancel).then(resolve, reject);
    });
  }

  /** Requests a reservation. A response after the timeout is applied too, since the store has counted it. */
  async #requestReservation(
    shared: Shared,
    requests: readonly CounterRequest[],
    onGrant: () => void,
  ): Promise<{ readonly denied: Reason | undefined } | undefined> {
    const accounts = requests.map(({ counter }) => getAcknowledged(this.#sharedCounters, counter));
    const reservations = requests.map(({ counter, amount, limit, isLeased }): SharedReservation => ({
      ...toSharedSum(counter),
      amount,
      limit,
      isLeased,
    }));
    try {
      const { isGranted, sums } = await this.lease.renew(() => shared.reserve(reservations));
      requests.forEach(({ counter, amount, isLeased }, index) => {
        const granted = isGranted ? amount : 0;
        const change = { amount: granted, leased: isLeased ? granted : 0 };
        applyTotal(counter, accounts[index]!, { change, total: sums[index]! });
      });
      if (isGranted) onGrant();
      const full = reservations.findIndex(({ amount, limit }, index) => sums[index]! + amount > limit);
      return { denied: isGranted ? undefined : requests[Math.max(0, full)]!.reason };
    } catch (error) {
      this.#setUnavailable(true, error);
      return undefined;
    }
  }

  /** A lease that was lost in an outage has been reported with the outage. */
  #reportLostLease(): void {
    const isNew = this.lease.number !== this.#knownLease;
    this.#knownLease = this.lease.number;
    if (isNew && !this.#isUnavailable) this.#target.onLeaseLost?.();
  }

  #setUnavailable(isUnavailable: boolean, cause?: unknown): void {
    this.#isUnavailable = isUnavailable;
    if (!isUnavailable) return;
    this.#target.onOutage(cause);
    for (const give of this.#undecided) give();
  }
}

/** Whether a request is for budget. Such requests are denied without the store when so configured. */
function isMoney({ reason }: CounterRequest): boolean {
  return reason === "budget" || reason === "budget_limit";
}

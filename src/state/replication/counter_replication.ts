/**
 * Replicates the counters of a mesh between processes, through a shared store.
 * @module
 */
import type { Cancel, Clock } from "../../contracts/runtime.ts";
import type { Shared, SharedReservation } from "../../contracts/storage.ts";
import type {
  Acknowledged,
  CounterGroup,
  CounterReplicator,
  CounterRequest,
  OwnPart,
  RateReplicaParts,
  ReplicatedCounter,
  Replication,
} from "./counter_replicator.ts";
import { RateReplica } from "./rate_replica.ts";
import type { RateGrant, SharedRate } from "./shared_rate.ts";
import { SharedWindow } from "./shared_window.ts";

/**
 * Timeout of a request that waits for the store, ms, in steps. Responses that were received while this process was busy
 * are processed before the next step.
 */
const [reservationStepMs, reservationSteps] = [10, 5];

/** Time without acknowledgement after which the store counts as unavailable, ms; until then it may just be slow. */
const maxResponseMs = 500;

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
  /** Called when the store becomes unavailable. */
  readonly onOutage: () => void;
  /** Wall clock for expiry, monotonic clock for timeouts. */
  readonly clock: Clock;
  /**
   * Whether the store is in another process of this machine, which this one depends on; then requests wait for it.
   * @default false
   */
  readonly isLocal?: boolean;
}

/**
 * Replicates the counters of one mesh. At every {@linkcode CounterReplication.sync} a process reports the difference
 * between its counters and what the store has acknowledged. So what is counted during an outage is added afterwards,
 * unused reservations are returned, and there is no read-modify-write.
 */
export class CounterReplication implements Replication {
  readonly #replicator: CounterReplicator;
  readonly #target: ReplicationTarget;
  #isUnavailable = false;
  /** Resolvers of requests that wait for a grant. */
  readonly #undecided = new Set<(grant: undefined) => void>();
  /** Acquisitions that the store has not decided yet. */
  readonly #pendingAcquisitions = new Set<Promise<boolean>>();
  /** Shared windows by name. */
  readonly #windows = new Map<string, SharedWindow>();
  /** The sync in flight, or the last one. */
  #syncing: Promise<void> = Promise.resolve();
  /** The sync after it, if one is requested. */
  #next: Promise<void> | undefined;
  /** Groups with changes to report in this turn. */
  readonly #reporting = new Set<CounterGroup>();

  constructor(replicator: CounterReplicator, target: ReplicationTarget) {
    this.#replicator = replicator;
    this.#target = target;
  }

  /** Whether the store is unavailable, as far as this process knows. */
  get isUnavailable(): boolean {
    return this.#isUnavailable;
  }

  /** Whether the store is unavailable and requests that need it are denied. */
  get isFailClosed(): boolean {
    return this.#isUnavailable && this.#target.onUnavailable === "closed";
  }

  /** Creates the replicated counters of a rate. */
  replicaOf(rate: RateReplicaParts): CounterGroup {
    return new RateReplica(rate);
  }

  /**
   * Reports local counters to the store, and applies those of other processes. Never rejects. Syncs run one after the
   * other, since two at once would report the same difference twice.
   */
  sync(): Promise<void> {
    return this.#next ??= this.#syncing.then(() => {
      this.#next = undefined;
      return this.#syncing = this.#sync(this.#replicator.groups);
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

  async #sync(groups: readonly CounterGroup[]): Promise<void> {
    const { shared, clock } = this.#target;
    const wallTimeMs = clock.now();
    const parts = groups.flatMap((group) => [...group.counters(wallTimeMs)]).filter((part) =>
      this.#replicator.hasChanged(part)
    );
    const deltas = parts.map((part) => {
      const account = this.#replicator.acknowledgedOf(part);
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
      if (groups === this.#replicator.groups) this.#replicator.forgetExpired(parts, clock.now());
    } catch {
      this.#setUnavailable(true); // the next sync reports it again
    } finally {
      for (const { account, change } of deltas) subtract(account.pending, change);
      cancel();
    }
  }

  /**
   * Reserves in shared counters, all or nothing. Granted amounts must count as this process's own from then on; unused
   * ones are returned by the next {@linkcode CounterReplication.sync}.
   *
   * @param requests Counters, amounts and limits.
   * @param onGrant Called in the turn in which the store grants, so that no sync comes in between.
   * @returns Why the request is denied; undefined when it may proceed. While the store is unavailable no request waits,
   * and requests for budget are denied when so configured.
   */
  async reserve(requests: readonly CounterRequest[], onGrant: () => void): Promise<Reason | undefined> {
    if (requests.length === 0) return undefined;
    const { shared, onUnavailable } = this.#target;
    const known = this.#isUnavailable
      ? undefined
      : await this.#withTimeout(this.#requestReservation(shared, requests, onGrant));
    if (known !== undefined) return known.denied;
    return onUnavailable === "closed" && requests.some(isMoney) ? "storage_unavailable" : undefined;
  }

  /**
   * Requests a grant for one request of a shared rate; undefined while the store is unavailable. Waits for a slow store
   * until it counts as unavailable, since a process that decided alone would exceed the limit.
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

  /** Returns the grant of a request that was not sent. If the store cannot be reached, it counts until it expires. */
  returnGrant(rate: SharedRate, { slice }: RateGrant): void {
    this.#windowOf(rate).release(this.#target.shared, slice).catch(() => this.#setUnavailable(true));
  }

  async acquireOnce(name: string, expiresAt: number): Promise<boolean> {
    if (this.#isUnavailable) return true;
    const response = this.#target.shared.reserve([{ key: `claim ${name}`, expiresAt, amount: 1, limit: 1 }]);
    const isFirst = response.then(({ isGranted }) => isGranted, () => true);
    this.#pendingAcquisitions.add(isFirst);
    return await isFirst.finally(() => this.#pendingAcquisitions.delete(isFirst));
  }

  /** Resolves when the store has decided all pending acquisitions. */
  async acquisitionsDecided(): Promise<void> {
    await Promise.all(this.#pendingAcquisitions);
  }

  #windowOf(rate: SharedRate): SharedWindow {
    const known = this.#windows.get(rate.name);
    if (known !== undefined) return known;
    const made = new SharedWindow(rate, this.#target.clock);
    this.#windows.set(rate.name, made);
    return made;
  }

  #withTimeout<T>(response: Promise<T>): Promise<T | undefined> {
    if (this.#target.isLocal) return response;
    return new Promise((resolve, reject) => {
      let steps = 0;
      let cancel: Cancel;
      const step = () => {
        if (steps++ === reservationSteps) return resolve(undefined);
        cancel = this.#target.clock.after(reservationStepMs, step);
      };
      step();
      response.then((answer) => {
        cancel();
        resolve(answer);
      }, (error) => {
        cancel();
        reject(error);
      });
    });
  }

  /** Requests a reservation. A response after the timeout is applied too, since the store has counted it. */
  async #requestReservation(
    shared: Shared,
    requests: readonly CounterRequest[],
    onGrant: () => void,
  ): Promise<{ readonly denied: Reason | undefined } | undefined> {
    const accounts = requests.map(({ counter }) => this.#replicator.acknowledgedOf(counter));
    const reservations = requests.map(({ counter, amount, limit, isLeased }): SharedReservation => ({
      ...sumOf(counter),
      amount,
      limit,
      isLeased,
    }));
    try {
      const { isGranted, sums } = await shared.reserve(reservations);
      requests.forEach(({ counter, amount, isLeased }, index) => {
        const granted = isGranted ? amount : 0;
        const change = { amount: granted, leased: isLeased ? granted : 0 };
        applyTotal(counter, accounts[index]!, { change, total: sums[index]! });
      });
      if (isGranted) onGrant();
      const full = requests.find(({ amount, limit }, index) => sums[index]! + amount > limit) ?? requests[0]!;
      return { denied: isGranted ? undefined : full.reason };
    } catch {
      this.#setUnavailable(true);
      return undefined;
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

/** Whether a request is for budget. Such requests are denied without the store when so configured. */
function isMoney({ reason }: CounterRequest): boolean {
  return reason === "budget" || reason === "budget_limit";
}

function sumOf({ key, expiresAt, atLeast }: ReplicatedCounter) {
  return { key, expiresAt, ...(atLeast === undefined ? {} : { atLeast }) };
}

/** Applies a total. Responses arrive in order, so a total includes this process's part as acknowledged now. */
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

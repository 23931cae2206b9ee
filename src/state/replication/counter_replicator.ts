/**
 * Sums that several processes make together: each one counts its own part and hears what the others have.
 * @module
 */
import type { Cancel, Clock } from "../../contracts/runtime.ts";
import type { Shared, SharedClaim } from "../../contracts/storage.ts";

/**
 * Longest wait of a request for the store, ms, in steps: answers that lie there unread, since this process was busy,
 * come before the next step.
 */
const [claimStepMs, claimSteps] = [10, 5];

/** Counting not acknowledged for so long means that the store is away, ms; until then it may just be slow. */
const maxResponseMs = 500;

/** A sum, as one process has it. */
export interface ReplicatedCounter {
  /** Its name. */
  readonly key: string;
  /** When it is of no use any more: wall clock, ms. */
  readonly expiresAt: number;
  /** This process's part of it, all in all. */
  readonly own: number;
  /** It counts now; else it is only told what has changed in it. */
  readonly isPresent: boolean;
  /** What all together are known to have reached, for a sum that only grows. */
  readonly atLeast?: number | undefined;
  /** Takes in the others' part, and what it comes to. */
  apply(others: number, total: number): void;
}

/** A part that a request asks for more of. */
export interface CounterRequest {
  readonly counter: ReplicatedCounter;
  /** How much more. */
  readonly amount: number;
  /** What the sum may come to. */
  readonly limit: number;
}

/** Something that counts. */
export interface CounterSource {
  /**
   * Its sums.
   *
   * @param wall Wall clock, ms.
   */
  counters(wall: number): Iterable<ReplicatedCounter>;
  /** It is shared from now on: what it was given of an earlier process is in the store already. */
  startReplication?(): void;
}

/** Where a ledger has its sums. */
export interface ReplicationTarget {
  /** The store. */
  readonly shared: Shared;
  /** What becomes of requests that need the store while it is away: served by what this process knows, or not. */
  readonly onUnavailable: "open" | "closed";
  /** Told when the store goes away. */
  readonly onOutage: () => void;
}

/** What the store has acknowledged of a sum. */
interface Acknowledged {
  /** Of this process's part. */
  amount: number;
}

/**
 * The sums of one mesh. What a process counts is told to the store at every {@linkcode CounterReplicator.sync} as the
 * difference to what the store has acknowledged: so what is counted while the store is away is added when it is back,
 * what was asked for and not used is given back, and nothing is read and written in two steps.
 */
export class CounterReplicator {
  readonly #clock: Clock;
  readonly #sources: CounterSource[] = [];
  readonly #acknowledged = new Map<string, Acknowledged>();
  #target: ReplicationTarget | undefined;
  #isUnavailable = false;
  /** The one under way, or the last one. */
  #syncing: Promise<void> = Promise.resolve();
  /** The one after it, where somebody waits for that. */
  #next: Promise<void> | undefined;

  /** @param clock Wall clock for expiry, and for time limits. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether sums are shared. */
  get isOpen(): boolean {
    return this.#target !== undefined;
  }

  /** Whether the store is away, as far as this one knows. */
  get isUnavailable(): boolean {
    return this.#isUnavailable;
  }

  /** Whether the store is away, and requests that need it are not to be served without. */
  get isFailClosed(): boolean {
    return this.#isUnavailable && this.#target?.onUnavailable === "closed";
  }

  /** Has a source's sums shared, now or once the ledger opens. */
  register(source: CounterSource): void {
    this.#sources.push(source);
    if (this.isOpen) source.startReplication?.();
  }

  /** Shares from now on. */
  open(opening: ReplicationTarget): void {
    const isNew = !this.isOpen;
    this.#target = opening;
    if (isNew) { for (const source of this.#sources) source.startReplication?.(); }
  }

  /**
   * Tells the store all that has been counted, and learns what the others have. Never throws; one after the other, since
   * two at once would tell the same twice.
   */
  sync(): Promise<void> {
    if (this.#target === undefined) return Promise.resolve();
    const { shared } = this.#target;
    return this.#next ??= this.#syncing.then(() => {
      this.#next = undefined;
      return this.#syncing = this.#sync(shared);
    });
  }

  /** The same for a request, which waits no longer than for a claim. */
  async refresh(): Promise<void> {
    if (!this.#isUnavailable) await this.#withTimeout(this.sync());
  }

  async #sync(shared: Shared): Promise<void> {
    const wall = this.#clock.now();
    const parts = this.#sources.flatMap((source) => [...source.counters(wall)]).filter((part) =>
      this.#hasChanged(part)
    );
    const told = parts.map((part) => ({
      part,
      account: this.#acknowledgedOf(part),
      by: part.own - this.#acknowledgedOf(part).amount,
    }));
    const cancel = this.#clock.after(maxResponseMs, () => this.#setUnavailable(true));
    try {
      const totals = await shared.add(told.map(({ part, by }) => ({ ...sumOf(part), by })));
      told.forEach(({ part, account, by }, place) => applyTotal(part, account, by, totals[place]!));
      this.#setUnavailable(false);
      this.#forget(parts);
    } catch {
      this.#setUnavailable(true); // what it does not know it is told the next time
    } finally {
      cancel();
    }
  }

  /**
   * Asks for room in sums, for all of it or none. What is granted has to be part of this process's own from then on;
   * what is not is given back by the next {@linkcode CounterReplicator.sync}.
   *
   * @param wanted How much of which sums.
   * @param onGrant Called in the moment in which it is granted, so that no sync comes between.
   * @returns Whether to go on. While the store is away nobody waits for it.
   */
  async reserve(wanted: readonly CounterRequest[], onGrant: () => void): Promise<boolean> {
    if (this.#target === undefined || wanted.length === 0) return true;
    const { shared, onUnavailable } = this.#target;
    if (this.#isUnavailable) return onUnavailable === "open";
    return await this.#withTimeout(this.#requestRoom(shared, wanted, onGrant)) ?? onUnavailable === "open";
  }

  #withTimeout<T>(asked: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve) => {
      let steps = 0;
      let cancel: Cancel;
      const step = () => {
        if (steps++ === claimSteps) return resolve(undefined);
        cancel = this.#clock.after(claimStepMs, step);
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
  ): Promise<boolean | undefined> {
    const accounts = wanted.map(({ counter }) => this.#acknowledgedOf(counter));
    const claims = wanted.map(({ counter, amount, limit }): SharedClaim => ({ ...sumOf(counter), amount, limit }));
    try {
      const { isGranted, sums } = await shared.reserve(claims);
      wanted.forEach(({ counter, amount }, place) =>
        applyTotal(counter, accounts[place]!, isGranted ? amount : 0, sums[place]!)
      );
      if (isGranted) onGrant();
      return isGranted;
    } catch {
      this.#setUnavailable(true);
      return undefined;
    }
  }

  #hasChanged({ key, own, isPresent }: ReplicatedCounter): boolean {
    return isPresent || own !== (this.#acknowledged.get(key)?.amount ?? 0);
  }

  #acknowledgedOf({ key }: ReplicatedCounter): Acknowledged {
    const known = this.#acknowledged.get(key);
    if (known !== undefined) return known;
    const made = { amount: 0 };
    this.#acknowledged.set(key, made);
    return made;
  }

  /** Accounts of times that are over. */
  #forget(parts: readonly ReplicatedCounter[]): void {
    if (this.#acknowledged.size <= 2 * parts.length + 100) return;
    const inUse = new Set(parts.map(({ key }) => key));
    const wall = this.#clock.now();
    const kept = new Set(this.#sources.flatMap((source) => [...source.counters(wall)].map(({ key }) => key)));
    for (const key of this.#acknowledged.keys()) if (!inUse.has(key) && !kept.has(key)) this.#acknowledged.delete(key);
  }

  #setUnavailable(isAway: boolean): void {
    if (this.#isUnavailable === isAway) return;
    this.#isUnavailable = isAway;
    if (isAway) this.#target?.onOutage();
  }
}

function sumOf({ key, expiresAt, atLeast }: ReplicatedCounter) {
  return { key, expiresAt, ...(atLeast === undefined ? {} : { atLeast }) };
}

function applyTotal(part: ReplicatedCounter, account: Acknowledged, by: number, total: number): void {
  account.amount += by;
  part.apply(Math.max(0, total - account.amount), total);
}

/**
 * The ledger of a mesh that shares what it counts with other processes.
 *
 * @param state The mesh's.
 * @returns Undefined where it counts for itself.
 */
export function replicatorOf({ members }: ReplicatorOwners): CounterReplicator | undefined {
  const ledger = members.find(({ state }) => state.replicator !== undefined)?.state.replicator;
  return ledger?.isOpen === true ? ledger : undefined;
}

/** Who may know it. */
interface ReplicatorOwners {
  readonly members: readonly { readonly state: { readonly replicator?: CounterReplicator | undefined } }[];
}

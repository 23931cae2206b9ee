/**
 * Sums that several processes make together: each one counts its own part and hears what the others have.
 * @module
 */
import type { Cancel, Clock } from "../contracts/runtime.ts";
import type { Shared, SharedClaim } from "../contracts/storage.ts";

/**
 * Longest wait of a request for the store, ms, in steps: answers that lie there unread, since this process was busy,
 * come before the next step.
 */
const [claimStepMs, claimSteps] = [10, 5];

/** Counting not acknowledged for so long means that the store is away, ms; until then it may just be slow. */
const longestAnswerMs = 500;

/** A sum, as one process has it. */
export interface SharedPart {
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
  learn(others: number, total: number): void;
}

/** A part that a request asks for more of. */
export interface WantedPart {
  readonly part: SharedPart;
  /** How much more. */
  readonly amount: number;
  /** What the sum may come to. */
  readonly limit: number;
}

/** Something that counts. */
export interface SharedSource {
  /**
   * Its sums.
   *
   * @param wall Wall clock, ms.
   */
  counters(wall: number): Iterable<SharedPart>;
  /** It is shared from now on: what it was given of an earlier process is in the store already. */
  share?(): void;
}

/** Where a ledger has its sums. */
export interface LedgerOpening {
  /** The store. */
  readonly shared: Shared;
  /** What becomes of requests that need the store while it is away: served by what this process knows, or not. */
  readonly onUnavailable: "open" | "closed";
  /** Told when the store goes away. */
  readonly onAway: () => void;
}

/** What the store has acknowledged of a sum. */
interface Account {
  /** Of this process's part. */
  given: number;
}

/**
 * The sums of one mesh. What a process counts is told to the store at every {@linkcode SharedLedger.sync} as the
 * difference to what the store has acknowledged: so what is counted while the store is away is added when it is back,
 * what was asked for and not used is given back, and nothing is read and written in two steps.
 */
export class SharedLedger {
  readonly #clock: Clock;
  readonly #sources: SharedSource[] = [];
  readonly #accounts = new Map<string, Account>();
  #opening: LedgerOpening | undefined;
  #isAway = false;
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
    return this.#opening !== undefined;
  }

  /** Whether the store is away, as far as this one knows. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** Whether the store is away, and requests that need it are not to be served without. */
  get isClosedOff(): boolean {
    return this.#isAway && this.#opening?.onUnavailable === "closed";
  }

  /** Has a source's sums shared, now or once the ledger opens. */
  register(source: SharedSource): void {
    this.#sources.push(source);
    if (this.isOpen) source.share?.();
  }

  /** Shares from now on. */
  open(opening: LedgerOpening): void {
    const isNew = !this.isOpen;
    this.#opening = opening;
    if (isNew) { for (const source of this.#sources) source.share?.(); }
  }

  /**
   * Tells the store all that has been counted, and learns what the others have. Never throws; one after the other, since
   * two at once would tell the same twice.
   */
  sync(): Promise<void> {
    if (this.#opening === undefined) return Promise.resolve();
    const { shared } = this.#opening;
    return this.#next ??= this.#syncing.then(() => {
      this.#next = undefined;
      return this.#syncing = this.#sync(shared);
    });
  }

  /** The same for a request, which waits no longer than for a claim. */
  async refresh(): Promise<void> {
    if (!this.#isAway) await this.#soon(this.sync());
  }

  async #sync(shared: Shared): Promise<void> {
    const wall = this.#clock.now();
    const parts = this.#sources.flatMap((source) => [...source.counters(wall)]).filter((part) => this.#isNews(part));
    const told = parts.map((part) => ({
      part,
      account: this.#account(part),
      by: part.own - this.#account(part).given,
    }));
    const cancel = this.#clock.after(longestAnswerMs, () => this.#noteAway(true));
    try {
      const totals = await shared.add(told.map(({ part, by }) => ({ ...sumOf(part), by })));
      told.forEach(({ part, account, by }, place) => learn(part, account, by, totals[place]!));
      this.#noteAway(false);
      this.#forget(parts);
    } catch {
      this.#noteAway(true); // what it does not know it is told the next time
    } finally {
      cancel();
    }
  }

  /**
   * Asks for room in sums, for all of it or none. What is granted has to be part of this process's own from then on;
   * what is not is given back by the next {@linkcode SharedLedger.sync}.
   *
   * @param wanted How much of which sums.
   * @param onGrant Called in the moment in which it is granted, so that no sync comes between.
   * @returns Whether to go on. While the store is away nobody waits for it.
   */
  async claim(wanted: readonly WantedPart[], onGrant: () => void): Promise<boolean> {
    if (this.#opening === undefined || wanted.length === 0) return true;
    const { shared, onUnavailable } = this.#opening;
    if (this.#isAway) return onUnavailable === "open";
    return await this.#soon(this.#ask(shared, wanted, onGrant)) ?? onUnavailable === "open";
  }

  #soon<T>(asked: Promise<T>): Promise<T | undefined> {
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
  async #ask(shared: Shared, wanted: readonly WantedPart[], onGrant: () => void): Promise<boolean | undefined> {
    const accounts = wanted.map(({ part }) => this.#account(part));
    const claims = wanted.map(({ part, amount, limit }): SharedClaim => ({ ...sumOf(part), amount, limit }));
    try {
      const { isGranted, sums } = await shared.reserve(claims);
      wanted.forEach(({ part, amount }, place) => learn(part, accounts[place]!, isGranted ? amount : 0, sums[place]!));
      if (isGranted) onGrant();
      return isGranted;
    } catch {
      this.#noteAway(true);
      return undefined;
    }
  }

  #isNews({ key, own, isPresent }: SharedPart): boolean {
    return isPresent || own !== (this.#accounts.get(key)?.given ?? 0);
  }

  #account({ key }: SharedPart): Account {
    const known = this.#accounts.get(key);
    if (known !== undefined) return known;
    const made = { given: 0 };
    this.#accounts.set(key, made);
    return made;
  }

  /** Accounts of times that are over. */
  #forget(parts: readonly SharedPart[]): void {
    if (this.#accounts.size <= 2 * parts.length + 100) return;
    const inUse = new Set(parts.map(({ key }) => key));
    const wall = this.#clock.now();
    const kept = new Set(this.#sources.flatMap((source) => [...source.counters(wall)].map(({ key }) => key)));
    for (const key of this.#accounts.keys()) if (!inUse.has(key) && !kept.has(key)) this.#accounts.delete(key);
  }

  #noteAway(isAway: boolean): void {
    if (this.#isAway === isAway) return;
    this.#isAway = isAway;
    if (isAway) this.#opening?.onAway();
  }
}

function sumOf({ key, expiresAt, atLeast }: SharedPart) {
  return { key, expiresAt, ...(atLeast === undefined ? {} : { atLeast }) };
}

function learn(part: SharedPart, account: Account, by: number, total: number): void {
  account.given += by;
  part.learn(Math.max(0, total - account.given), total);
}

/**
 * The ledger of a mesh that shares what it counts with other processes.
 *
 * @param state The mesh's.
 * @returns Undefined where it counts for itself.
 */
export function sharedLedgerOf({ members }: LedgerOwners): SharedLedger | undefined {
  const ledger = members.find(({ state }) => state.ledger !== undefined)?.state.ledger;
  return ledger?.isOpen === true ? ledger : undefined;
}

/** Who may know it. */
interface LedgerOwners {
  readonly members: readonly { readonly state: { readonly ledger?: SharedLedger | undefined } }[];
}

/**
 * Limits per window that several processes may share: an amount is reserved before a call, and settled after it.
 * @module
 */
import type { Window } from "../../util/windows.ts";
import type { CounterGroup, CounterRequest, ReplicatedCounter } from "../counters/replicated_counter.ts";
import type { ReservedPart, Settlement } from "../counters/reservation.ts";
import { roundUp, sum, WindowCounter, type WindowCounterParts, type WindowSums } from "../counters/window_counter.ts";

/** How long shared counters keep the sums of an ended window, for requests that straddle windows, ms. */
export const retentionMs = 86_400_000;

/** What processes that share a limit claim before one of them reports a step. */
export interface StepClaim {
  /** Identifies the window. */
  readonly name: string;
  /** Until when it is claimed, wall-clock ms. */
  readonly expiresAt: number;
}

/** Fractions of a limit that were reached. */
export interface ReachedSteps {
  readonly steps: readonly number[];
  /** Amount spent by all processes. */
  readonly spent: number;
  /** End of the window, wall-clock ms. */
  readonly end: number;
  readonly claim: StepClaim;
}

/** What counts against a limit. */
export type WindowTotals = Pick<WindowSums, "spent" | "reserved" | "othersSpent" | "othersTaken" | "end">;

/** Constructor options of a {@linkcode WindowLimit}. */
export interface WindowLimitParts extends WindowCounterParts {
  /** The amount of a call that counts; undefined for calls, which count when they are sent. */
  readonly measure?: keyof Settlement;
  /** Whether a whole amount must fit. Otherwise it fits while the limit is not reached. */
  readonly isStrict?: boolean;
  /** Whether the window stays when the wall clock goes backwards. */
  readonly staysInWindow?: boolean;
  /** Reason of a denial. */
  readonly reason: CounterRequest["reason"];
  /** Returns the key of a window in the shared store. */
  readonly keyFor: (window: Window) => string;
  /** Returns when the shared counters of a window expire, wall-clock ms. */
  readonly expiresAt: (window: Window) => number;
}

/** A limit of one quantity per window. */
export class WindowLimit extends WindowCounter {
  /** Called with what other processes have spent in a window, and what this one had when it asked. */
  onOthersSpent?: (window: WindowSums, spent: number) => void;
  /** Without the earlier limit, which has its own earlier one in turn. */
  readonly #parts: Omit<WindowLimitParts, keyof WindowCounterParts>;

  constructor({ limit, windowAt, before, maxWindows, ...parts }: WindowLimitParts) {
    super({ limit, windowAt, before, ...(maxWindows !== undefined && { maxWindows }) });
    this.#parts = parts;
  }

  /** The amount of a call that counts; undefined for calls. */
  get measure(): keyof Settlement | undefined {
    return this.#parts.measure;
  }

  /** Returns the window that counts at a wall-clock time in ms. */
  present(wallTimeMs: number): WindowSums {
    return this.#parts.staysInWindow ? this.latest(wallTimeMs) : this.at(wallTimeMs);
  }

  /** Returns what counts against the limit, and when it ends to count. */
  totals(wallTimeMs: number): WindowTotals {
    return this.at(wallTimeMs);
  }

  /**
   * Returns when an amount fits; for the amount 0, when the limit is no longer exhausted.
   *
   * @returns Wall-clock ms; undefined if now.
   */
  freeAt(wallTimeMs: number, amount: number): number | undefined {
    const window = this.at(wallTimeMs);
    const isFree = amount === 0 ? !this.isSpent(window) : this.fits(window, amount);
    return isFree ? undefined : window.end;
  }

  /**
   * Returns the fractions of the limit that settled amounts have reached in a window, each once.
   *
   * @param steps Fractions, ascending.
   * @returns Undefined if none was reached.
   */
  takeSteps(window: WindowSums, steps: readonly number[]): ReachedSteps | undefined {
    const { end } = window;
    const spent = sum(window.spent, window.othersSpent);
    const share = spent / this.limit; // 0 when unlimited
    if (!(share > window.alertedShare) || this.limit === 0) return undefined;
    const before = window.alertedShare;
    window.alertedShare = share;
    const reached = steps.filter((step) => step > before && step <= share);
    return reached.length === 0 ? undefined : { steps: reached, spent, end, claim: { name: `${end}`, expiresAt: end } };
  }

  /** Skips the fractions that other processes have reached, and reported, before this one has spent anything. */
  skipSteps(window: WindowSums, spent: number): void {
    if (spent === 0) window.alertedShare = Math.max(window.alertedShare, window.othersSpent / this.limit);
  }

  /** Returns the counters to replicate. */
  *replicas(wallTimeMs: number): Iterable<ReplicatedCounter> {
    if (this.limit === Infinity) return;
    const present = this.present(wallTimeMs);
    for (const window of this.windows) yield* this.replicasOfWindow(window, window === present);
  }

  /** Returns the counters of a window. */
  protected *replicasOfWindow(window: WindowSums, isPresent: boolean): Iterable<ReplicatedCounter> {
    yield { ...this.replica(window, "spent"), isPresent };
    if (this.measure !== undefined) yield { ...this.replica(window, "taken"), isPresent };
  }

  /** Returns what an amount in a window requests of the shared counters. */
  request(window: WindowSums, amount: number): CounterRequest[] {
    if (amount === 0 || this.limit === Infinity) return [];
    const { measure, isStrict, reason } = this.#parts;
    return [{
      counter: this.replica(window, measure === undefined ? "spent" : "taken"),
      amount,
      limit: isStrict ? this.limit : sum(this.limit - 1, amount),
      isLeased: measure !== undefined,
      reason,
    }];
  }

  /**
   * Returns one replicated counter: of settled amounts (`spent`), or of settled and reserved ones (`taken`). A store
   * that has lost its data receives what is known of both.
   */
  protected replica(window: WindowSums, kind: "spent" | "taken"): ReplicatedCounter {
    const { keyFor, expiresAt } = this.#parts;
    const key = keyFor(window);
    const { spent, reserved, unconfirmed, reached } = window;
    const leased = kind === "spent" ? 0 : reserved - unconfirmed;
    return {
      key: `${key} ${kind}`,
      expiresAt: expiresAt(window),
      isPresent: true,
      atLeast: reached,
      own: sum(spent, leased),
      leased,
      apply: (others, total) => {
        if (keyFor(window) !== key) return; // the window has begun anew
        if (kind === "taken") {
          window.othersTaken = others;
          return;
        }
        window.othersSpent = others;
        window.reached = Math.max(window.reached, total);
        this.onOthersSpent?.(window, spent);
      },
    };
  }
}

/** An amount reserved in a window of a limit. */
interface ReservedAmount {
  readonly limit: WindowLimit;
  readonly window: WindowSums;
  readonly amount: number;
}

/** Limits of one owner, such as the daily and the monthly limit of a budget. */
export class WindowLimits implements CounterGroup {
  #limits: readonly WindowLimit[];
  /** Set while other processes share the limits: reports changes to them. */
  #report: (() => void) | undefined;
  #changes = 0;

  constructor(limits: readonly WindowLimit[]) {
    this.#limits = limits;
  }

  /** The limits. Amounts that limits reserved before they were replaced are settled there. */
  protected get limits(): readonly WindowLimit[] {
    return this.#limits;
  }

  protected set limits(limits: readonly WindowLimit[]) {
    this.#changes++;
    this.#limits = limits;
  }

  /** Whether other processes share the limits. */
  get isShared(): boolean {
    return this.#report !== undefined;
  }

  /** Begins to share the limits with other processes. Settled amounts are discarded, since the store has the total. */
  startReplication(report: () => void): void {
    this.#report = report;
    this.clear();
  }

  /** Returns the counters to replicate. */
  *counters(wallTimeMs: number): Iterable<ReplicatedCounter> {
    for (const limit of this.#limits) yield* limit.replicas(wallTimeMs);
  }

  /** Number of reservations that have begun or ended. */
  get changes(): number | undefined {
    return this.#changes;
  }

  /** Whether no amount is reserved, here or in another process, which will release it. */
  get isQuiet(): boolean {
    return this.#limits.every(({ windows }) =>
      windows.every(({ reserved, othersTaken, othersSpent }) => reserved === 0 && othersTaken <= othersSpent)
    );
  }

  /** Discards settled amounts. What is reserved remains, and counts when it is settled. */
  protected clear(): void {
    this.#changes++;
    for (const { windows } of this.#limits) for (const window of windows) window.clear();
  }

  /**
   * Reserves amounts, even beyond a limit.
   *
   * @param amounts Upper bounds of what a call will use.
   * @param at Wall-clock ms; and what is called when the reservation is settled.
   */
  protected reserveAmounts(
    amounts: Settlement,
    { wallTimeMs, onSettled }: {
      readonly wallTimeMs: number;
      readonly onSettled?: ((reserved: readonly ReservedAmount[]) => void) | undefined;
    },
  ): ReservedAmounts {
    this.#changes++;
    const reserved: ReservedAmount[] = [];
    for (const limit of this.#limits) {
      if (limit.measure === undefined) continue;
      const window = limit.present(wallTimeMs);
      const amount = roundUp(amounts[limit.measure]);
      window.reserve(amount);
      reserved.push({ limit, window, amount });
    }
    return new ReservedAmounts(reserved, () => {
      this.#changes++;
      // if the process ends now, the store releases its reservations, but keeps this
      if (this.#report !== undefined && this.#limits.some(({ limit }) => limit < Infinity)) this.#report();
      onSettled?.(reserved);
    });
  }
}

/** What one owner's limits have reserved. */
export class ReservedAmounts implements ReservedPart {
  readonly #amounts: readonly ReservedAmount[];
  readonly #onSettled: () => void;
  #isConfirmed = false;
  #isSettled = false;

  constructor(amounts: readonly ReservedAmount[], onSettled: () => void) {
    this.#amounts = amounts;
    this.#onSettled = onSettled;
  }

  counterRequests(): readonly CounterRequest[] {
    return this.#isSettled ? [] : this.#amounts.flatMap(({ limit, window, amount }) => limit.request(window, amount));
  }

  confirm(isConfirmed = true): void {
    if (this.#isSettled || this.#isConfirmed === isConfirmed) return;
    this.#isConfirmed = isConfirmed;
    for (const { window, amount } of this.#amounts) window.confirm(amount, isConfirmed);
  }

  settle(actual: Settlement): void {
    if (this.#isSettled) return;
    this.confirm();
    this.#isSettled = true;
    for (const { limit, window, amount } of this.#amounts) window.settle(amount, actual[limit.measure!]);
    this.#onSettled();
  }
}

/**
 * Quotas: requests, tokens and cost that a model may serve in a pool before it enters standby; per calendar window, or
 * between two standbys.
 * @module
 */
import type { DeactivationSettings } from "../../config/settings/settings.ts";
import { dayWindow, formatUtcDay, monthWindow, type Window } from "../../util/windows.ts";
import type { DeactivationDecision } from "../breaker/model_breakers.ts";
import type { CounterGroup, CounterRequest, ReplicatedCounter } from "../counters/counter_replicator.ts";
import { sum, whole, WindowCounter, type WindowSums } from "../counters/window_counter.ts";

/** How long an unchanged counter is kept by the store, ms. */
const lifeMs = 2_678_400_000;

/** The single window of counters without a calendar window. */
const always: Window = { start: 0, end: Infinity };

/** Counted quantities and the reason of their limits. */
const limitNames = { requests: "request_limit", tokens: "token_limit", nano_usd: "budget_limit" } as const;

type Measure = keyof typeof limitNames;

type LimitName = (typeof limitNames)[Measure];

const measures = Object.keys(limitNames) as Measure[];

/** Quantities of which a call uses an amount. A request counts as one. */
type Amount = "tokens" | "nano_usd";

/** Usage of a model in a pool. */
export interface UsageCounts {
  /** Requests. */
  readonly requests: number;
  /** Tokens. */
  readonly tokens: number;
  /** Cost in nano-dollars. */
  readonly nano_usd: number;
  /** End of the window, wall-clock ms; undefined when counting between two standbys. */
  readonly window_end?: number;
}

/** Reservation of a call, from {@linkcode Quota.reserve} to {@linkcode Quota.settle}. */
export interface QuotaReservation extends Readonly<Record<Amount, number>> {
  /** The windows it is reserved in. */
  readonly windows: Readonly<Record<Amount, WindowSums>>;
  /** Whether other processes that share the quota see it. */
  isConfirmed: boolean;
}

/** Options of a {@linkcode Quota}. */
interface QuotaOptions {
  /** Name of the shared counters. */
  readonly name?: string;
  /** The same quota under earlier settings; both share their counters. */
  readonly before?: Quota | undefined;
  /** How long the standby for a spent calendar window lasts, ms; undefined: until the window ends. */
  readonly cooldownMs?: number | undefined;
}

/**
 * Counters of one model in one pool, with their limits. A request is admitted while used and reserved amounts are below
 * the limit, so concurrent requests exceed it by at most one request. When several processes share the quota, each
 * request reserves in the shared counters. Without a calendar window, counters have a generation: the first process
 * whose standby ends starts the next generation for all.
 */
export class Quota implements CounterGroup {
  readonly #settings: DeactivationSettings;
  readonly #wallTimeMs: () => number;
  readonly #name: string;
  readonly #counters: Readonly<Record<Measure, WindowCounter>>;
  readonly #limited: readonly Measure[];
  readonly #cooldownMs: number | undefined;
  /** Requests that are admitted and not sent yet. */
  readonly #admitted: { requests: number };
  #generation = 0;
  /** Set while other processes share the quota: reports changes to them. */
  #report: (() => void) | undefined;
  /** Number of standbys that have ended in this process. */
  #recoveries = 0;

  /** @param wallTimeMs Wall clock, ms. Windows are UTC calendar windows. */
  constructor(settings: DeactivationSettings, wallTimeMs: () => number, options: QuotaOptions = {}) {
    const { name = "", before, cooldownMs } = options;
    const { requestLimit, tokenLimit, budgetLimitNanoUsd, quotaWindow } = settings;
    this.#settings = settings;
    this.#wallTimeMs = wallTimeMs;
    this.#name = name;
    this.#cooldownMs = cooldownMs;
    const isSameWindow = before !== undefined && before.#settings.quotaWindow === quotaWindow;
    const counters = isSameWindow ? before.#counters : undefined;
    const windowAt = quotaWindow === undefined ? () => always : quotaWindow === "monthly" ? monthWindow : dayWindow;
    this.#counters = {
      requests: new WindowCounter({ limit: requestLimit, windowAt, before: counters?.requests }),
      tokens: new WindowCounter({ limit: tokenLimit, windowAt, before: counters?.tokens }),
      nano_usd: new WindowCounter({ limit: budgetLimitNanoUsd, windowAt, before: counters?.nano_usd }),
    };
    this.#admitted = isSameWindow ? before.#admitted : { requests: 0 };
    this.#limited = measures.filter((measure) => this.#counters[measure].limit < Infinity);
  }

  /** Begins to share the quota with other processes. Local counters are reset, since the store has the total. */
  startReplication(report: () => void): void {
    this.#report = report;
    this.#clear();
  }

  /** Returns the counters to replicate. */
  *counters(wallTimeMs: number): Iterable<ReplicatedCounter> {
    if (this.#limited.length === 0) return;
    if (this.#settings.quotaWindow === undefined) yield this.#generationCounter(wallTimeMs);
    for (const measure of this.#limited) {
      const present = this.#window(measure);
      for (const window of this.#counters[measure].windows) {
        const isPresent = window === present;
        yield { ...this.#counter(measure, window, "spent"), isPresent };
        if (measure !== "requests") yield { ...this.#counter(measure, window, "taken"), isPresent };
      }
    }
  }

  /**
   * Returns one replicated counter: of used amounts (`spent`), or of used and reserved amounts (`taken`). Requests are
   * used when they are sent.
   */
  #counter(measure: Measure, window: WindowSums, kind: "spent" | "taken"): ReplicatedCounter {
    const isCalendar = this.#settings.quotaWindow !== undefined;
    const generation = this.#generation;
    const { spent, reserved, unconfirmed } = window;
    const leased = kind === "spent" ? 0 : reserved - unconfirmed;
    return {
      key: `limit ${this.#name} ${isCalendar ? formatUtcDay(window.end) : generation} ${measure} ${kind}`,
      expiresAt: isCalendar ? window.end : this.#wallTimeMs() + lifeMs,
      own: sum(spent, leased),
      leased,
      isPresent: true,
      apply: (others) => {
        if (generation === this.#generation) window[kind === "spent" ? "othersSpent" : "othersTaken"] = others;
      },
    };
  }

  /**
   * Returns what a call requests of the shared counters. There is capacity while they are below their limits.
   *
   * @param reservation The reservation of the call.
   * @param isFirst Whether it is the first call of its request.
   */
  counterRequests(reservation: QuotaReservation, isFirst: boolean): CounterRequest[] {
    return this.#limited.flatMap((measure): CounterRequest[] => {
      const reason = limitNames[measure];
      const { limit } = this.#counters[measure];
      if (measure === "requests") {
        const counter = this.#counter(measure, this.#window(measure), "spent");
        return isFirst ? [{ counter, amount: 1, limit, isLeased: false, reason }] : [];
      }
      const amount = reservation[measure];
      if (amount === 0) return [];
      const counter = this.#counter(measure, reservation.windows[measure], "taken");
      return [{ counter, amount, limit: sum(limit - 1, amount), isLeased: true, reason }];
    });
  }

  /** Shows a reservation to other processes after the shared counters have granted it, or hides it again. */
  confirm(reservation: QuotaReservation, isConfirmed = true): void {
    if (reservation.isConfirmed === isConfirmed) return;
    reservation.isConfirmed = isConfirmed;
    const { windows, tokens, nano_usd } = reservation;
    windows.tokens.confirm(tokens, isConfirmed);
    windows.nano_usd.confirm(nano_usd, isConfirmed);
  }

  #generationCounter(wallTimeMs: number): ReplicatedCounter {
    return {
      key: `limit ${this.#name} generation`,
      expiresAt: wallTimeMs + lifeMs,
      own: this.#recoveries,
      isPresent: true,
      atLeast: this.#generation,
      apply: (_others, total) => {
        if (total === this.#generation) return;
        this.#generation = total;
        this.#clear();
      },
    };
  }

  /** Whether the cost is limited. */
  get hasBudget(): boolean {
    return this.#settings.budgetLimitNanoUsd !== undefined;
  }

  /** The limit that is reached only with reservations. A limit reached by usage puts the model in standby instead. */
  get reserved(): LimitName | undefined {
    const full = this.#spent === undefined
      ? this.#limited.find((measure) => this.#isReached(measure, true))
      : undefined;
    return full && limitNames[full];
  }

  /** Counts an admitted request. */
  reserveRequest(): void {
    this.#admitted.requests++;
  }

  /** Counts an admitted request as sent. */
  addRequest(): void {
    this.#admitted.requests--;
    this.#window("requests").grow(1);
  }

  /** Removes an admitted request that was not sent. */
  withdrawRequest(): void {
    this.#admitted.requests--;
  }

  /**
   * Reserves for a call, even beyond a limit.
   *
   * @param tokens Estimated tokens.
   * @param nano_usd Upper bound of the cost, nano-dollars.
   */
  reserve(tokens: number, nano_usd: number): QuotaReservation {
    const windows = { tokens: this.#window("tokens"), nano_usd: this.#window("nano_usd") };
    const reservation = { tokens: whole(tokens), nano_usd: whole(nano_usd), windows, isConfirmed: false };
    windows.tokens.reserve(reservation.tokens);
    windows.nano_usd.reserve(reservation.nano_usd);
    return reservation;
  }

  /**
   * Settles a reservation: the call has ended or was not sent.
   *
   * @param taken Actual usage; unknown values count as reserved.
   */
  settle(
    reservation: QuotaReservation,
    taken: { readonly tokens?: number | undefined; readonly nano_usd?: number | undefined },
  ): void {
    this.confirm(reservation);
    const { windows, tokens, nano_usd } = reservation;
    windows.tokens.settle(tokens, taken.tokens);
    windows.nano_usd.settle(nano_usd, taken.nano_usd);
    if (this.#limited.length > 0) this.#report?.(); // if the process ends now, the store keeps what was used
  }

  /** Returns the standby that an exhausted limit requires. */
  decision(): DeactivationDecision | undefined {
    const measure = this.#spent;
    if (measure === undefined) return undefined;
    const limit = limitNames[measure];
    if (this.#settings.quotaWindow === undefined) return { reason: limit, scope: "model" };
    const standbyMs = this.#cooldownMs ?? Math.max(0, this.#window(measure).end - this.#wallTimeMs());
    return { reason: "quota_window", scope: "model", standbyMs, metadata: { limit } };
  }

  /** Resets the counters after a standby, unless there is a calendar window. */
  recovered(): void {
    if (this.#settings.quotaWindow !== undefined) return;
    this.#recoveries++;
    this.#clear();
  }

  /** Returns the state to persist; undefined when nothing is limited or counted. */
  snapshot(): UsageCounts | undefined {
    // reservations count as used, since after a restart no process could settle them
    const [requests, tokens, nano_usd] = measures.map((measure) => this.#taken(measure)) as [number, number, number];
    if (this.#limited.length === 0 || requests + tokens + nano_usd === 0) return undefined;
    const { end } = this.#window("requests");
    return { requests, tokens, nano_usd, ...(end < Infinity && { window_end: end }) };
  }

  /**
   * Merges a record: adds the difference between two of its versions. Counts of another window are ignored.
   *
   * @param stored The record's current version; undefined when nothing has been counted.
   * @param known The version this process read last.
   */
  merge(stored: UsageCounts | undefined, known?: UsageCounts): void {
    for (const measure of measures) {
      const window = this.#window(measure);
      const countUsage = (counts: UsageCounts | undefined) =>
        (counts?.window_end ?? Infinity) === window.end ? counts?.[measure] ?? 0 : 0;
      window.grow(countUsage(stored) - countUsage(known));
    }
  }

  /** Returns the current window. When the wall clock goes backwards, the window stays. */
  #window(measure: Measure): WindowSums {
    return this.#counters[measure].latest(this.#wallTimeMs());
  }

  /** Amount used and reserved by this process. */
  #taken(measure: Measure): number {
    const { spent, reserved } = this.#window(measure);
    return sum(spent, reserved + (measure === "requests" ? this.#admitted.requests : 0));
  }

  #isReached(measure: Measure, withReserved: boolean): boolean {
    const { spent, othersSpent, othersTaken } = this.#window(measure);
    const { limit } = this.#counters[measure];
    return withReserved
      ? this.#taken(measure) + Math.max(othersSpent, othersTaken) >= limit
      : spent + othersSpent >= limit;
  }

  /** The first limit that is exhausted by usage. */
  get #spent(): Measure | undefined {
    return this.#limited.find((measure) => this.#isReached(measure, false));
  }

  #clear(): void {
    for (const measure of measures) {
      const window = this.#window(measure);
      window.spent = window.othersSpent = window.othersTaken = 0;
    }
  }
}

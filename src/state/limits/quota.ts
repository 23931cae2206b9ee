/**
 * How much a model may serve in a pool before it goes into standby: requests, tokens, costs; between two standbys, or per calendar
 * window.
 * @module
 */
import type { DeactivationSettings } from "../../config/settings/settings.ts";
import { dayOf, dayWindow, monthWindow, type Window } from "../../util/windows.ts";
import type { DeactivationDecision } from "../breaker/model_breakers.ts";
import type { CounterRequest, CounterSource, ReplicatedCounter } from "../replication/counter_replicator.ts";
import { sum, whole, WindowCounter, type WindowSums } from "./window_counter.ts";

/** How long counts that do not change are shared, ms. */
const lifeMs = 2_678_400_000;

/** What counts between two standbys has one window, which begins anew. */
const always: Window = { start: 0, end: Infinity };

/** What is counted, and its limit. */
const limitNames = { requests: "request_limit", tokens: "token_limit", nano_usd: "budget_limit" } as const;

type Measure = keyof typeof limitNames;

type LimitName = (typeof limitNames)[Measure];

const measures = Object.keys(limitNames) as Measure[];

/** What a call takes as much of as it will, and not one of. */
type Amount = "tokens" | "nano_usd";

/** What was used of the limits of a model in a pool. */
export interface UsageCounts {
  /** Requests. */
  readonly requests: number;
  /** Tokens. */
  readonly tokens: number;
  /** Nano-dollars. */
  readonly nano_usd: number;
  /** When the window ends they were counted in: wall clock, ms; left out when they count between two standbys. */
  readonly window_end?: number;
}

/** What a call reserves of the limits, from {@linkcode Quota.reserve} to {@linkcode Quota.settle}. */
export interface QuotaReservation extends Readonly<Record<Amount, number>> {
  /** The windows it was taken in. */
  readonly windows: Readonly<Record<Amount, WindowSums>>;
  /** Other processes may know of it. */
  isConfirmed: boolean;
}

/**
 * Counts against the limits of one (pool, model). A request is admitted while what was counted and reserved stays below
 * a limit, so requests at once exceed it by no more than one of them would. Where several processes share them, each
 * request asks for room in the sum of all, and counts between two standbys have a generation: the process whose standby
 * is over first begins the next one for all.
 */
export class Quota implements CounterSource {
  readonly #settings: DeactivationSettings;
  readonly #wall: () => number;
  readonly #name: string;
  readonly #counters: Readonly<Record<Measure, WindowCounter>>;
  readonly #limited: readonly Measure[];
  /** Requests that are admitted and not sent yet. */
  readonly #admitted: { requests: number };
  #generation = 0;
  /** There where other processes count, too: has them know what changed. */
  #report: (() => void) | undefined;
  /** Standbys that were over here. */
  #recoveries = 0;

  /**
   * @param settings The limits.
   * @param wall The wall clock, ms: windows are calendar ones, in UTC.
   * @param names Whose they are, where several processes count; the same counts under other limits: both go on with them.
   */
  constructor(
    settings: DeactivationSettings,
    wall: () => number,
    { name = "", before }: { readonly name?: string; readonly before?: Quota | undefined } = {},
  ) {
    const { requestLimit, tokenLimit, budgetLimitNano, quotaWindow } = settings;
    this.#settings = settings;
    this.#wall = wall;
    this.#name = name;
    const isSameWindow = before !== undefined && before.#settings.quotaWindow === quotaWindow;
    const counters = isSameWindow ? before.#counters : undefined;
    const windowAt = quotaWindow === undefined ? () => always : quotaWindow === "monthly" ? monthWindow : dayWindow;
    this.#counters = {
      requests: new WindowCounter({ limit: requestLimit, windowAt, before: counters?.requests }),
      tokens: new WindowCounter({ limit: tokenLimit, windowAt, before: counters?.tokens }),
      nano_usd: new WindowCounter({ limit: budgetLimitNano, windowAt, before: counters?.nano_usd }),
    };
    this.#admitted = isSameWindow ? before.#admitted : { requests: 0 };
    this.#limited = measures.filter((measure) => this.#counters[measure].limit < Infinity);
  }

  /** Other processes count, too, and a store knows what was counted so far. */
  startReplication(report: () => void): void {
    this.#report = report;
    this.#clear();
  }

  /** What of them other processes have to know. */
  *counters(wall: number): Iterable<ReplicatedCounter> {
    if (this.#limited.length === 0) return;
    if (this.#settings.quotaWindow === undefined) yield this.#generationCounter(wall);
    for (const measure of this.#limited) {
      const present = this.#window(measure);
      for (const window of this.#counters[measure].windows) {
        const isPresent = window === present;
        yield { ...this.#counter(measure, window, "spent"), isPresent };
        if (measure !== "requests") yield { ...this.#counter(measure, window, "taken"), isPresent };
      }
    }
  }

  /** What was used, or that and what is reserved: requests are used when they are sent. */
  #counter(measure: Measure, window: WindowSums, what: "spent" | "taken"): ReplicatedCounter {
    const isCalendar = this.#settings.quotaWindow !== undefined;
    const generation = this.#generation;
    const { spent, reserved, unconfirmed } = window;
    const leased = what === "spent" ? 0 : reserved - unconfirmed;
    return {
      key: `limit ${this.#name} ${isCalendar ? dayOf(window.end) : generation} ${measure} ${what}`,
      expiresAt: isCalendar ? window.end : this.#wall() + lifeMs,
      own: sum(spent, leased),
      leased,
      isPresent: true,
      apply: (others) => {
        if (generation === this.#generation) window[what === "spent" ? "othersSpent" : "othersTaken"] = others;
      },
    };
  }

  /**
   * What a call takes of sums that several processes make together: there is room while they are below their limits.
   *
   * @param reservation Of the call.
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

  /** Lets other processes know of a reservation: there is room for it in what they have left. */
  confirm(reservation: QuotaReservation): void {
    if (reservation.isConfirmed) return;
    reservation.isConfirmed = true;
    const { windows, tokens, nano_usd } = reservation;
    windows.tokens.confirm(tokens);
    windows.nano_usd.confirm(nano_usd);
  }

  #generationCounter(wall: number): ReplicatedCounter {
    return {
      key: `limit ${this.#name} generation`,
      expiresAt: wall + lifeMs,
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

  /** Whether money is limited. */
  get hasBudget(): boolean {
    return this.#settings.budgetLimitNano !== undefined;
  }

  /** The limit that is reached by what is reserved, and not by what was used: then the model is in standby. */
  get reserved(): LimitName | undefined {
    const full = this.#spent === undefined
      ? this.#limited.find((measure) => this.#isReached(measure, true))
      : undefined;
    return full && limitNames[full];
  }

  /** A request was admitted. */
  reserveRequest(): void {
    this.#admitted.requests++;
  }

  /** It is sent. */
  addRequest(): void {
    this.#admitted.requests--;
    this.#window("requests").grow(1);
  }

  /** It was not sent after all. */
  withdrawRequest(): void {
    this.#admitted.requests--;
  }

  /**
   * Reserves for a call that is sent, also beyond a limit.
   *
   * @param tokens What it will take, by estimate.
   * @param nano_usd Upper bound of its cost, nano-dollars.
   */
  reserve(tokens: number, nano_usd: number): QuotaReservation {
    const windows = { tokens: this.#window("tokens"), nano_usd: this.#window("nano_usd") };
    const reservation = { tokens: whole(tokens), nano_usd: whole(nano_usd), windows, isConfirmed: false };
    windows.tokens.reserve(reservation.tokens);
    windows.nano_usd.reserve(reservation.nano_usd);
    return reservation;
  }

  /**
   * Ends a reservation: the call was answered, failed, or was not sent.
   *
   * @param taken What it took; as reserved where that is not known.
   */
  settle(
    reservation: QuotaReservation,
    taken: { readonly tokens?: number | undefined; readonly nano_usd?: number | undefined },
  ): void {
    this.confirm(reservation);
    const { windows, tokens, nano_usd } = reservation;
    windows.tokens.settle(tokens, taken.tokens);
    windows.nano_usd.settle(nano_usd, taken.nano_usd);
    if (this.#limited.length > 0) this.#report?.(); // of a process that ends the store subtracts what it reserved: not what it used, too
  }

  /** The standby that a spent limit asks for. */
  decision(): DeactivationDecision | undefined {
    const measure = this.#spent;
    if (measure === undefined) return undefined;
    const limit = limitNames[measure];
    if (this.#settings.quotaWindow === undefined) return { reason: limit, scope: "model" };
    const standbyMs = Math.max(0, this.#window(measure).end - this.#wall());
    return { reason: "quota_window", scope: "model", standbyMs, metadata: { limit } };
  }

  /** Without a window the counts go back to zero when the standby is over. */
  recovered(): void {
    if (this.#settings.quotaWindow !== undefined) return;
    this.#recoveries++;
    this.#clear();
  }

  /** What is stored of them; undefined while nothing has been counted, and where nothing is limited. */
  snapshot(): UsageCounts | undefined {
    // what is reserved counts as used after a restart: no process is left that could settle it
    const [requests, tokens, nano_usd] = measures.map((measure) => this.#taken(measure)) as [number, number, number];
    if (this.#limited.length === 0 || requests + tokens + nano_usd === 0) return undefined;
    const { end } = this.#window("requests");
    return { requests, tokens, nano_usd, ...(end < Infinity && { window_end: end }) };
  }

  /**
   * Merges what is stored: by how much it differs from what this one knew of it. Counts of another window are over.
   *
   * @param stored As it is stored now; undefined: nothing has been counted.
   * @param known As it was stored when this one looked last.
   */
  merge(stored: UsageCounts | undefined, known?: UsageCounts): void {
    for (const measure of measures) {
      const window = this.#window(measure);
      const countOf = (counts: UsageCounts | undefined) =>
        (counts?.window_end ?? Infinity) === window.end ? counts?.[measure] ?? 0 : 0;
      window.grow(countOf(stored) - countOf(known));
    }
  }

  /** A wall clock that goes back stays in the window it was in. */
  #window(measure: Measure): WindowSums {
    return this.#counters[measure].latest(this.#wall());
  }

  /** What was used and is reserved here. */
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

  /** The first limit that is spent. */
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

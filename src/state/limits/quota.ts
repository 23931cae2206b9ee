/**
 * Quotas: requests, tokens and cost that a model may serve in a pool before it enters standby; per calendar window, or
 * between two standbys.
 * @module
 */
import type { DeactivationSettings } from "../../config/settings/settings.ts";
import { dayWindow, formatUtcDay, monthWindow, type Window } from "../../util/windows.ts";
import type { DeactivationDecision } from "../breaker/model_breakers.ts";
import type { CounterRequest, ReplicatedCounter } from "../counters/replicated_counter.ts";
import { type SavedWindow, sum, type WindowSums } from "../counters/window_counter.ts";
import { type ReservedAmounts, WindowLimit, WindowLimits } from "./window_limit.ts";

/** How long an unchanged counter is kept by the store, ms. */
const lifeMs = 2_678_400_000;

/** The single window of counters without a calendar window. */
const always: Window = { start: 0, end: Infinity };

/** The amounts of a call that the measures count. A request counts as one. */
const usedAmounts = { requests: undefined, tokens: "tokens", nano_usd: "costNanoUsd" } as const;

/** Counted quantities and the reason of their limits. */
const limitNames = { requests: "request_limit", tokens: "token_limit", nano_usd: "budget_limit" } as const;

type Measure = keyof typeof limitNames;

type LimitName = (typeof limitNames)[Measure];

const measures = Object.keys(limitNames) as Measure[];

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

/**
 * Counters of one model in one pool, with their limits. A request is admitted while used and reserved amounts are below
 * the limit, so concurrent requests exceed it by at most one request. When several processes share the quota, each
 * request reserves in the shared counters. Without a calendar window, counters have a generation: the first process
 * whose standby ends starts the next generation for all.
 */
export class Quota extends WindowLimits {
  readonly #settings: DeactivationSettings;
  readonly #wallTimeMs: () => number;
  readonly #name: string;
  readonly #limits: Readonly<Record<Measure, WindowLimit>>;
  readonly #limited: readonly Measure[];
  readonly #cooldownMs: number | undefined;
  /** Requests that are admitted and not sent yet. */
  readonly #admitted: { requests: number };
  readonly #generation: { number: number };
  /** Number of standbys that have ended in this process. */
  #recoveries = 0;

  /**
   * @param wallTimeMs Wall clock, ms. Windows are UTC calendar windows.
   * @param options Name of the shared counters; the same quota under earlier settings, with which it shares its
   *   counters; and how long the standby for a spent calendar window lasts, ms, by default until the window ends.
   */
  constructor(settings: DeactivationSettings, wallTimeMs: () => number, { name = "", before, cooldownMs }: {
    readonly name?: string;
    readonly before?: Quota | undefined;
    readonly cooldownMs?: number | undefined;
  } = {}) {
    const { requestLimit, tokenLimit, budgetLimitNanoUsd, quotaWindow } = settings;
    const isSameWindow = before !== undefined && before.#settings.quotaWindow === quotaWindow;
    const generation = { number: 0 };
    const parts = { name, quotaWindow, generation, wallTimeMs };
    const earlier = isSameWindow ? before.#limits : undefined;
    const limits = {
      requests: createLimit({ ...parts, measure: "requests", limit: requestLimit, before: earlier?.requests }),
      tokens: createLimit({ ...parts, measure: "tokens", limit: tokenLimit, before: earlier?.tokens }),
      nano_usd: createLimit({ ...parts, measure: "nano_usd", limit: budgetLimitNanoUsd, before: earlier?.nano_usd }),
    };
    super(Object.values(limits));
    this.#settings = settings;
    this.#wallTimeMs = wallTimeMs;
    this.#name = name;
    this.#cooldownMs = cooldownMs;
    this.#limits = limits;
    this.#generation = generation;
    this.#admitted = isSameWindow ? before.#admitted : { requests: 0 };
    this.#limited = measures.filter((measure) => limits[measure].limit < Infinity);
  }

  /** Returns the counters to replicate. */
  override *counters(wallTimeMs: number): Iterable<ReplicatedCounter> {
    if (this.#limited.length === 0) return;
    if (this.#settings.quotaWindow === undefined) yield this.#generationCounter(wallTimeMs);
    yield* super.counters(wallTimeMs);
  }

  /** Every sync reads it: there are as many as models, and what others count ends or begins a standby. */
  override get changes(): undefined {
    return undefined;
  }

  /** Returns what the first call of a request requests of the shared counters, besides its reservation. */
  counterRequests(): readonly CounterRequest[] {
    return this.#limits.requests.request(this.#window("requests"), 1);
  }

  #generationCounter(wallTimeMs: number): ReplicatedCounter {
    return {
      key: `limit ${this.#name} generation`,
      expiresAt: wallTimeMs + lifeMs,
      own: this.#recoveries,
      isPresent: true,
      atLeast: this.#generation.number,
      apply: (_others, total) => {
        if (total === this.#generation.number) return;
        this.#generation.number = total;
        this.clear();
      },
    };
  }

  /** Whether the cost is limited. */
  get hasBudget(): boolean {
    return this.#settings.budgetLimitNanoUsd !== undefined;
  }

  /** The limit that is reached only with reservations. A limit reached by usage puts the model in standby instead. */
  get reserved(): LimitName | undefined {
    const full = this.#spent === undefined ? this.#limited.find((measure) => this.#isTaken(measure)) : undefined;
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
   * @param costNanoUsd Upper bound of the cost, nano-dollars.
   */
  reserve(tokens: number, costNanoUsd: number): ReservedAmounts {
    return this.reserveAmounts({ tokens, costNanoUsd }, { wallTimeMs: this.#wallTimeMs() });
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
    this.clear();
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
   * Merges a record: adds the difference between two of its versions. Counts of another window are ignored. A shared
   * quota ignores it: the store has the total.
   *
   * @param stored The record's current version; undefined when nothing has been counted.
   * @param base The version this process read last.
   */
  merge(stored: UsageCounts | undefined, base?: UsageCounts): void {
    if (this.isShared) return;
    for (const measure of measures) {
      const { start, end } = this.#window(measure);
      const toSums = (counts: UsageCounts | undefined): SavedWindow[] => {
        const isSame = (counts?.window_end ?? Infinity) === end;
        return [{ start, spent: isSame ? counts?.[measure] ?? 0 : 0, reserved: 0 }];
      };
      this.#limits[measure].merge(toSums(stored), toSums(base));
    }
  }

  /** Returns the current window. When the wall clock goes backwards, the window stays. */
  #window(measure: Measure): WindowSums {
    return this.#limits[measure].present(this.#wallTimeMs());
  }

  /** Amount used and reserved by this process. */
  #taken(measure: Measure): number {
    const { spent, reserved } = this.#window(measure);
    return sum(spent, reserved + (measure === "requests" ? this.#admitted.requests : 0));
  }

  /** Whether used and reserved amounts reach a limit. */
  #isTaken(measure: Measure): boolean {
    const { othersSpent, othersTaken } = this.#window(measure);
    return this.#taken(measure) + Math.max(othersSpent, othersTaken) >= this.#limits[measure].limit;
  }

  /** The first limit that is exhausted by usage. */
  get #spent(): Measure | undefined {
    return this.#limited.find((measure) => this.#limits[measure].isSpent(this.#window(measure)));
  }
}

/** Creates a limit. Its functions keep nothing of earlier settings alive, nor of the quota before. */
function createLimit({ name, measure, limit, quotaWindow, generation, wallTimeMs, before }: {
  /** Name of the quota's shared counters. */
  readonly name: string;
  readonly measure: Measure;
  readonly limit: number | undefined;
  readonly quotaWindow: DeactivationSettings["quotaWindow"];
  readonly generation: { readonly number: number };
  readonly wallTimeMs: () => number;
  /** The same limit under earlier settings; both share their sums. */
  readonly before: WindowLimit | undefined;
}): WindowLimit {
  return new WindowLimit({
    limit,
    windowAt: quotaWindow === undefined ? () => always : quotaWindow === "monthly" ? monthWindow : dayWindow,
    before,
    measure: usedAmounts[measure],
    staysInWindow: true,
    reason: limitNames[measure],
    keyFor: ({ end }) => `limit ${name} ${end < Infinity ? formatUtcDay(end) : generation.number} ${measure}`,
    expiresAt: ({ end }) => end < Infinity ? end : wallTimeMs() + lifeMs,
  });
}

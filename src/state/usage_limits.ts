/**
 * How much a model may serve in a pool before it rests: requests, tokens, money; between two rests, or per calendar
 * window.
 * @module
 */
import type { DeactivationSettings } from "../config/settings.ts";
import { dayWindow, monthWindow } from "../util/windows.ts";
import type { UsageCounts } from "./counts.ts";
import type { StandbyOrder } from "./meter.ts";
import type { SharedPart, SharedSource } from "./shared_ledger.ts";

/** How long counts that nobody changes are shared, ms. */
const lifeMs = 2_678_400_000;

type LimitName = "request_limit" | "token_limit" | "budget_limit";

/** What was counted. */
interface Counts {
  requests: number;
  tokens: number;
  nano: number;
}

/**
 * Counts against the limits of one (pool, model). Where several processes share them, counts between two rests have a
 * generation: whoever's rest is over begins the next one for all.
 */
export class UsageLimits implements SharedSource {
  readonly #settings: DeactivationSettings;
  readonly #wall: () => number;
  readonly #name: string;
  /** What other processes have counted. */
  #others: Counts = { requests: 0, tokens: 0, nano: 0 };
  #generation = 0;
  /** Rests that were over here. */
  #recoveries = 0;
  #requests = 0;
  #tokens = 0;
  #nano = 0;
  #windowEnd = -Infinity;

  /**
   * @param settings The limits.
   * @param wall The wall clock, ms: windows are calendar ones, in UTC.
   * @param name Whose they are, where several processes count.
   */
  constructor(settings: DeactivationSettings, wall: () => number, name = "") {
    this.#settings = settings;
    this.#wall = wall;
    this.#name = name;
  }

  /** Other processes count, too, and a store knows what was counted so far. */
  share(): void {
    this.#clear();
  }

  /** What of them other processes have to know. */
  *parts(wall: number): Iterable<SharedPart> {
    const { requestLimit, tokenLimit, budgetLimitNano, quotaWindow } = this.#settings;
    if (requestLimit === undefined && tokenLimit === undefined && budgetLimitNano === undefined) return;
    this.#turn();
    if (quotaWindow === undefined) yield this.#generationPart(wall);
    const generation = this.#generation;
    const time = quotaWindow === undefined ? generation : new Date(this.#windowEnd).toISOString().slice(0, 10);
    const part = (what: keyof Counts, own: number): SharedPart => ({
      key: `limit ${this.#name} ${time} ${what}`,
      expiresAt: quotaWindow === undefined ? wall + lifeMs : this.#windowEnd,
      own,
      isPresent: true,
      learn: (others) => {
        if (generation === this.#generation) this.#others[what] = others;
      },
    });
    if (requestLimit !== undefined) yield part("requests", this.#requests);
    if (tokenLimit !== undefined) yield part("tokens", this.#tokens);
    if (budgetLimitNano !== undefined) yield part("nano", this.#nano);
  }

  #generationPart(wall: number): SharedPart {
    return {
      key: `limit ${this.#name} generation`,
      expiresAt: wall + lifeMs,
      own: this.#recoveries,
      isPresent: true,
      atLeast: this.#generation,
      learn: (_others, total) => {
        if (total === this.#generation) return;
        this.#generation = total;
        this.#clear();
      },
    };
  }

  /** A request is on its way. */
  addRequest(): void {
    this.#turn();
    this.#requests++;
  }

  /**
   * A request has been answered.
   *
   * @param tokens What it took.
   * @param nano What it cost, nano-dollars.
   */
  addUsage(tokens: number, nano: number): void {
    this.#turn();
    this.#tokens += tokens;
    this.#nano += nano;
  }

  /** The rest that a spent limit asks for. */
  order(): StandbyOrder | undefined {
    this.#turn();
    const limit = this.#spent();
    if (limit === undefined) return undefined;
    if (this.#settings.quotaWindow === undefined) return { reason: limit, scope: "model" };
    const restMs = Math.max(0, this.#windowEnd - this.#wall());
    return { reason: "quota_window", scope: "model", restMs, metadata: { limit } };
  }

  /** Without a window the counts go back to zero when the rest is over. */
  recovered(): void {
    if (this.#settings.quotaWindow !== undefined) return;
    this.#recoveries++;
    this.#clear();
  }

  /** What is stored of them; undefined while nothing has been counted, and where nothing is limited. */
  snapshot(): UsageCounts | undefined {
    this.#turn();
    const { requestLimit, tokenLimit, budgetLimitNano } = this.#settings;
    const isLimited = [requestLimit, tokenLimit, budgetLimitNano].some((limit) => limit !== undefined);
    if (!isLimited || this.#requests === 0 && this.#tokens === 0 && this.#nano === 0) return undefined;
    const counts = { requests: this.#requests, tokens: this.#tokens, nano: this.#nano };
    return this.#settings.quotaWindow === undefined ? counts : { ...counts, window_end: this.#windowEnd };
  }

  /**
   * Takes up what is stored: by how much it differs from what this one knew of it. Counts of another window are over.
   *
   * @param stored As it is stored now; undefined: nothing has been counted.
   * @param known As it was stored when this one looked last.
   */
  merge(stored: UsageCounts | undefined, known?: UsageCounts): void {
    this.#turn();
    const grown = (name: "requests" | "tokens" | "nano") => this.#present(stored, name) - this.#present(known, name);
    this.#requests = Math.max(0, this.#requests + grown("requests"));
    this.#tokens = Math.max(0, this.#tokens + grown("tokens"));
    this.#nano = Math.max(0, this.#nano + grown("nano"));
  }

  #present(counts: UsageCounts | undefined, name: "requests" | "tokens" | "nano"): number {
    const windowEnd = this.#settings.quotaWindow === undefined ? undefined : this.#windowEnd;
    return counts?.window_end === windowEnd ? counts?.[name] ?? 0 : 0;
  }

  #spent(): LimitName | undefined {
    const { requestLimit = Infinity, tokenLimit = Infinity, budgetLimitNano = Infinity } = this.#settings;
    if (this.#requests + this.#others.requests >= requestLimit) return "request_limit";
    if (this.#tokens + this.#others.tokens >= tokenLimit) return "token_limit";
    return this.#nano + this.#others.nano >= budgetLimitNano ? "budget_limit" : undefined;
  }

  /** A wall clock that goes back stays in the window it was in. */
  #turn(): void {
    const { quotaWindow } = this.#settings;
    if (quotaWindow === undefined) return;
    const wall = this.#wall();
    if (wall < this.#windowEnd) return;
    this.#windowEnd = (quotaWindow === "monthly" ? monthWindow : dayWindow)(wall).end;
    this.#clear();
  }

  #clear(): void {
    this.#requests = 0;
    this.#tokens = 0;
    this.#nano = 0;
    this.#others = { requests: 0, tokens: 0, nano: 0 };
  }
}

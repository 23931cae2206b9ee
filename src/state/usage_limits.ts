/**
 * How much a model may serve in a pool before it rests: requests, tokens, money; between two rests, or per calendar
 * window.
 * @module
 */
import type { DeactivationSettings } from "../config/settings.ts";
import { dayWindow, monthWindow } from "../util/windows.ts";
import type { UsageCounts } from "./counts.ts";
import type { StandbyOrder } from "./meter.ts";

type LimitName = "request_limit" | "token_limit" | "budget_limit";

/** What counts against limits. */
interface Counts {
  requests: number;
  tokens: number;
  nano: number;
  windowEnd: number;
}

/** Counts against the limits of one (pool, model). */
export class UsageLimits {
  readonly #settings: DeactivationSettings;
  readonly #wall: () => number;
  readonly #counts: Counts;

  /**
   * @param settings The limits.
   * @param wall The wall clock, ms: windows are calendar ones, in UTC.
   * @param before The same counts under other limits: both go on with them.
   */
  constructor(settings: DeactivationSettings, wall: () => number, before?: UsageLimits) {
    this.#settings = settings;
    this.#wall = wall;
    const isSameWindow = before !== undefined && before.#settings.quotaWindow === settings.quotaWindow;
    this.#counts = isSameWindow ? before.#counts : { requests: 0, tokens: 0, nano: 0, windowEnd: -Infinity };
  }

  /** A request is on its way. */
  addRequest(): void {
    this.#turn();
    this.#counts.requests++;
  }

  /**
   * A request has been answered.
   *
   * @param tokens What it took.
   * @param nano What it cost, nano-dollars.
   */
  addUsage(tokens: number, nano: number): void {
    this.#turn();
    this.#counts.tokens += tokens;
    this.#counts.nano += nano;
  }

  /** The rest that a spent limit asks for. */
  order(): StandbyOrder | undefined {
    this.#turn();
    const limit = this.#spent();
    if (limit === undefined) return undefined;
    if (this.#settings.quotaWindow === undefined) return { reason: limit, scope: "model" };
    const restMs = Math.max(0, this.#counts.windowEnd - this.#wall());
    return { reason: "quota_window", scope: "model", restMs, metadata: { limit } };
  }

  /** Without a window the counts go back to zero when the rest is over. */
  recovered(): void {
    if (this.#settings.quotaWindow === undefined) this.#clear();
  }

  /** What is stored of them; undefined while nothing has been counted, and where nothing is limited. */
  snapshot(): UsageCounts | undefined {
    this.#turn();
    const { requestLimit, tokenLimit, budgetLimitNano } = this.#settings;
    const isLimited = [requestLimit, tokenLimit, budgetLimitNano].some((limit) => limit !== undefined);
    const { requests, tokens, nano, windowEnd } = this.#counts;
    if (!isLimited || requests === 0 && tokens === 0 && nano === 0) return undefined;
    const counts = { requests, tokens, nano };
    return this.#settings.quotaWindow === undefined ? counts : { ...counts, window_end: windowEnd };
  }

  /**
   * Takes up what is stored: by how much it differs from what this one knew of it. Counts of another window are over.
   *
   * @param stored As it is stored now; undefined: nothing has been counted.
   * @param known As it was stored when this one looked last.
   */
  merge(stored: UsageCounts | undefined, known?: UsageCounts): void {
    this.#turn();
    for (const name of ["requests", "tokens", "nano"] as const) {
      const grown = this.#present(stored, name) - this.#present(known, name);
      this.#counts[name] = Math.max(0, this.#counts[name] + grown);
    }
  }

  #present(counts: UsageCounts | undefined, name: "requests" | "tokens" | "nano"): number {
    const windowEnd = this.#settings.quotaWindow === undefined ? undefined : this.#counts.windowEnd;
    return counts?.window_end === windowEnd ? counts?.[name] ?? 0 : 0;
  }

  #spent(): LimitName | undefined {
    const { requestLimit = Infinity, tokenLimit = Infinity, budgetLimitNano = Infinity } = this.#settings;
    const { requests, tokens, nano } = this.#counts;
    if (requests >= requestLimit) return "request_limit";
    if (tokens >= tokenLimit) return "token_limit";
    return nano >= budgetLimitNano ? "budget_limit" : undefined;
  }

  /** A wall clock that goes back stays in the window it was in. */
  #turn(): void {
    const { quotaWindow } = this.#settings;
    if (quotaWindow === undefined) return;
    const wall = this.#wall();
    if (wall < this.#counts.windowEnd) return;
    this.#counts.windowEnd = (quotaWindow === "monthly" ? monthWindow : dayWindow)(wall).end;
    this.#clear();
  }

  #clear(): void {
    Object.assign(this.#counts, { requests: 0, tokens: 0, nano: 0 });
  }
}

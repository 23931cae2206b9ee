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

/** Counts against the limits of one (pool, model). */
export class UsageLimits {
  readonly #settings: DeactivationSettings;
  readonly #wall: () => number;
  #requests = 0;
  #tokens = 0;
  #nano = 0;
  #windowEnd = -Infinity;

  /**
   * @param settings The limits.
   * @param wall The wall clock, ms: windows are calendar ones, in UTC.
   */
  constructor(settings: DeactivationSettings, wall: () => number) {
    this.#settings = settings;
    this.#wall = wall;
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
    if (this.#settings.quotaWindow === undefined) this.#clear();
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
    if (this.#requests >= requestLimit) return "request_limit";
    if (this.#tokens >= tokenLimit) return "token_limit";
    return this.#nano >= budgetLimitNano ? "budget_limit" : undefined;
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
  }
}

/**
 * How much a model may serve in a pool before it goes into standby: requests, tokens, costs; between two standbys, or per calendar
 * window.
 * @module
 */
import type { DeactivationSettings } from "../../config/settings/settings.ts";
import { dayWindow, monthWindow } from "../../util/windows.ts";
import type { DeactivationDecision } from "../breaker/model_breakers.ts";
import type { CounterSource, ReplicatedCounter } from "../replication/counter_replicator.ts";

/** How long counts that do not change are shared, ms. */
const lifeMs = 2_678_400_000;

const nothing: Readonly<Counts> = { requests: 0, tokens: 0, nano: 0 };

type LimitName = "request_limit" | "token_limit" | "budget_limit";

/** What was counted. */
interface Counts {
  requests: number;
  tokens: number;
  nano: number;
}

/** What was used of the limits of a model in a pool. */
export interface UsageCounts {
  /** Requests. */
  readonly requests: number;
  /** Tokens. */
  readonly tokens: number;
  /** Nano-dollars. */
  readonly nano: number;
  /** When the window ends they were counted in: wall clock, ms; left out when they count between two standbys. */
  readonly window_end?: number;
}

/** What a call reserves of the limits, from {@linkcode Quota.reserve} to {@linkcode Quota.settle}. */
export interface QuotaReservation {
  /** Tokens. */
  readonly tokens: number;
  /** Nano-dollars. */
  readonly nano: number;
}

/**
 * Counts against the limits of one (pool, model). A request is admitted while what was counted and reserved stays below
 * a limit, so requests at once exceed it by no more than one of them would. Where several processes share them, counts
 * between two standbys have a generation: the process whose standby is over first begins the next one for all.
 */
export class Quota implements CounterSource {
  readonly #settings: DeactivationSettings;
  readonly #wall: () => number;
  readonly #name: string;
  /** What other processes have counted. */
  #others: Counts = { requests: 0, tokens: 0, nano: 0 };
  #generation = 0;
  /** Rests that were over here. */
  #recoveries = 0;
  readonly #counts: Counts & { windowEnd: number; readonly reserved: Counts };

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
    this.#settings = settings;
    this.#wall = wall;
    this.#name = name;
    const isSameWindow = before !== undefined && before.#settings.quotaWindow === settings.quotaWindow;
    this.#counts = isSameWindow
      ? before.#counts
      : { requests: 0, tokens: 0, nano: 0, windowEnd: -Infinity, reserved: { ...nothing } };
  }

  /** Other processes count, too, and a store knows what was counted so far. */
  startReplication(): void {
    this.#clear();
  }

  /** What of them other processes have to know. */
  *counters(wall: number): Iterable<ReplicatedCounter> {
    const { requestLimit, tokenLimit, budgetLimitNano, quotaWindow } = this.#settings;
    if (requestLimit === undefined && tokenLimit === undefined && budgetLimitNano === undefined) return;
    this.#turn();
    if (quotaWindow === undefined) yield this.#generationPart(wall);
    const generation = this.#generation;
    const time = quotaWindow === undefined ? generation : new Date(this.#counts.windowEnd).toISOString().slice(0, 10);
    const part = (what: keyof Counts, own: number): ReplicatedCounter => ({
      key: `limit ${this.#name} ${time} ${what}`,
      expiresAt: quotaWindow === undefined ? wall + lifeMs : this.#counts.windowEnd,
      own,
      isPresent: true,
      apply: (others) => {
        if (generation === this.#generation) this.#others[what] = others;
      },
    });
    if (requestLimit !== undefined) yield part("requests", this.#counts.requests);
    if (tokenLimit !== undefined) yield part("tokens", this.#counts.tokens);
    if (budgetLimitNano !== undefined) yield part("nano", this.#counts.nano);
  }

  #generationPart(wall: number): ReplicatedCounter {
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
    this.#turn();
    return this.#spent(nothing) === undefined ? this.#spent(this.#reserved) : undefined;
  }

  /** A request was admitted. */
  reserveRequest(): void {
    this.#reserved.requests++;
  }

  /** It is sent. */
  addRequest(): void {
    this.#turn();
    this.#reserved.requests--;
    this.#counts.requests++;
  }

  /** It was not sent after all. */
  withdrawRequest(): void {
    this.#reserved.requests--;
  }

  /**
   * Reserves for a call that is sent, also beyond a limit.
   *
   * @param tokens What it will take, by estimate.
   * @param nano Upper bound of its cost, nano-dollars.
   */
  reserve(tokens: number, nano: number): QuotaReservation {
    this.#reserved.tokens += tokens;
    this.#reserved.nano += nano;
    return { tokens, nano };
  }

  /**
   * Ends a reservation: the call was answered, failed, or was not sent.
   *
   * @param own The reservation.
   * @param taken What it took; as reserved where that is not known.
   */
  settle(own: QuotaReservation, { tokens = own.tokens, nano = own.nano }: Partial<QuotaReservation>): void {
    this.#turn();
    this.#reserved.tokens -= own.tokens;
    this.#reserved.nano -= own.nano;
    this.#counts.tokens += tokens;
    this.#counts.nano += nano;
  }

  /** The standby that a spent limit asks for. */
  decision(): DeactivationDecision | undefined {
    this.#turn();
    const limit = this.#spent(nothing);
    if (limit === undefined) return undefined;
    if (this.#settings.quotaWindow === undefined) return { reason: limit, scope: "model" };
    const standbyMs = Math.max(0, this.#counts.windowEnd - this.#wall());
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
    this.#turn();
    const { requestLimit, tokenLimit, budgetLimitNano } = this.#settings;
    const isLimited = [requestLimit, tokenLimit, budgetLimitNano].some((limit) => limit !== undefined);
    const { reserved, windowEnd } = this.#counts;
    // what is reserved counts as used after a restart: no process is left that could settle it
    const sum = (name: keyof Counts) => exact(this.#counts[name] + reserved[name]);
    const [requests, tokens, nano] = [sum("requests"), sum("tokens"), sum("nano")];
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

  get #reserved(): Counts {
    return this.#counts.reserved;
  }

  #spent(reserved: Readonly<Counts>): LimitName | undefined {
    const { requestLimit = Infinity, tokenLimit = Infinity, budgetLimitNano = Infinity } = this.#settings;
    const { requests, tokens, nano } = this.#counts;
    const others = this.#others;
    if (requests + reserved.requests + others.requests >= requestLimit) return "request_limit";
    if (tokens + reserved.tokens + others.tokens >= tokenLimit) return "token_limit";
    return nano + reserved.nano + others.nano >= budgetLimitNano ? "budget_limit" : undefined;
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
    this.#others = { requests: 0, tokens: 0, nano: 0 };
  }
}

/** A sum as it can be stored: sums of absurd limits end at the last exact number. */
function exact(sum: number): number {
  return Math.min(Math.max(0, sum), Number.MAX_SAFE_INTEGER);
}

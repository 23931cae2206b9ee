/**
 * The limits of a client, a team, a tag or an end user: one class, whatever they are of.
 * @module
 */
import type { BudgetSettings } from "../../config/settings/settings.ts";
import type { Clock } from "../../contracts/runtime.ts";
import { RateLimitError } from "../../errors.ts";
import { SlidingWindow } from "../../util/sliding_window.ts";
import { type RateGrant, slicedMinute } from "../counters/shared_rate.ts";
import type { ReservedPart } from "../counters/reservation.ts";
import { getAcknowledged, unregister } from "../counters/acknowledged.ts";
import type { CounterGroup } from "../counters/replicated_counter.ts";
import type { Replication, SharedCounters } from "../counters/shared_counters.ts";
import { Budget } from "./budget.ts";
import { ConcurrencySlots } from "./concurrency_slots.ts";
import { TokenRate } from "./token_rate.ts";

/** The window of limits per minute, ms. */
const minuteMs = 60_000;

/** Limits of a {@linkcode LimitedScope}; undefined where there is none. */
export interface ScopeLimits {
  readonly budget?: BudgetSettings | undefined;
  /** Requests per minute. */
  readonly rpm?: number | undefined;
  /** Tokens per minute. */
  readonly tpm?: number | undefined;
  /** Requests at once. */
  readonly concurrent?: number | undefined;
}

/** What identifies a {@linkcode LimitedScope}. */
export interface ScopeIdentity {
  readonly kind: "client" | "team" | "tag" | "user";
  /** Its identity among those of its kind; of an end user a hash. */
  readonly key: string;
  /** Its name; that of an end user is not kept. */
  readonly name?: string | undefined;
}

/** A budget, to be persisted with the state. */
export interface OwnedBudget {
  /** The kind and the key of its scope. */
  readonly id: string;
  /** The name of its scope, unless it is the key. */
  readonly name?: string;
  readonly budget: Budget;
}

/** The state in which scopes count. */
interface ScopeState {
  readonly sharedCounters: SharedCounters;
  /** Persists a budget with the state. */
  addBudgetScope(scope: OwnedBudget): void;
  /** Forgets a budget. */
  removeBudgetScope(id: string): void;
}

/** Where and when scopes count. */
export interface ScopeContext {
  readonly state: ScopeState;
  readonly clock: Clock;
}

/** Retry delay of a request that is denied because of requests in flight, whose end is unknown, ms. */
const inFlightRetryMs = 1_000;

/** The limits of one client, team, tag or end user, and what counts against them. Times are monotonic ms. */
export class LimitedScope {
  /** The kind and the key: the name of its counters, in the state and in a shared store. */
  readonly id: string;
  readonly identity: ScopeIdentity;
  /** Its name in messages, such as `team "growth"`. */
  readonly label: string;
  /** Its limits. */
  limits: ScopeLimits = {};
  /** Names of the only pools that it may use; undefined for all. */
  pools: ReadonlySet<string> | undefined;
  /** Undefined while there is no limit. */
  budget: Budget | undefined;
  readonly #context: ScopeContext;
  /** What was spent under earlier settings. */
  readonly #earlier: Budget | undefined;
  /** Kept while there is no limit, since a later limit includes what was spent before. */
  #budget: Budget | undefined;
  /** Created with the first limit of requests per minute, and kept when that is removed. */
  #requests: SlidingWindow | undefined;
  /** The same of tokens. */
  #tokens: TokenRate | undefined;
  readonly #inFlight: { count: number };
  /** Set once several processes share the tokens. */
  #tokenGroup: CounterGroup | undefined;
  /** Set once several processes share a limit of requests at once. */
  #slots: ConcurrencySlots | undefined;

  /**
   * @param context Where it counts.
   * @param before The same scope under earlier settings, whose requests and spending still count.
   */
  constructor(identity: ScopeIdentity, context: ScopeContext, before?: LimitedScope) {
    const { kind, key, name = key } = identity;
    this.id = `${kind} ${key}`;
    this.identity = identity;
    this.label = kind === "user" ? "end user" : `${kind} "${name}"`;
    this.#context = context;
    // a shared store provides the sums of what is replicated
    const local = context.state.sharedCounters.replication === undefined ? before : undefined;
    this.#earlier = local && (local.#budget ?? local.#earlier);
    this.#requests = before && before.#requests;
    this.#tokens = local && local.#tokens;
    this.#inFlight = local === undefined ? { count: 0 } : local.#inFlight;
  }

  /** Applies other limits. Earlier requests and spending count against them. */
  change(limits: ScopeLimits): void {
    const { budget, rpm, tpm, concurrent } = limits;
    this.limits = limits;
    if (budget !== undefined) this.#budget ??= this.#createBudget(budget);
    this.#budget?.setLimits(budget ?? []);
    this.budget = budget && this.#budget;
    if (rpm !== undefined) this.#requests ??= createMinute();
    if (tpm !== undefined) this.#shareTokens(this.#tokens ??= new TokenRate());
    if (this.#tokens !== undefined) this.#tokens.limit = tpm ?? Infinity;
    if (concurrent !== undefined) this.#shareSlots(concurrent);
  }

  /** Whether it has a limit of anything but pools. */
  get isLimited(): boolean {
    const { budget, rpm, tpm, concurrent } = this.limits;
    return (budget ?? rpm ?? tpm ?? concurrent) !== undefined;
  }

  /** Requests in flight, as far as is known: those of other processes where they share a limit of them. */
  get inFlight(): number {
    return this.#inFlight.count + (this.#slots?.others ?? 0);
  }

  /**
   * Whether nothing counts against its limits now, so that another one could replace it.
   *
   * @param wallTimeMs Wall-clock ms.
   */
  isIdle(now: number, wallTimeMs: number): boolean {
    const isUsed = this.#inFlight.count > 0 || this.#countRequests(now) > 0 || this.#tokens?.isEmpty(now) === false;
    return !isUsed && this.#countSpent(wallTimeMs) === 0;
  }

  /** Whether a request or a reservation of it has not ended. */
  isInUse(wallTimeMs: number): boolean {
    return this.#inFlight.count > 0 || this.#budget?.windows(wallTimeMs).some(({ reserved }) => reserved > 0) === true;
  }

  /** Returns the largest share of its limits that is used, from 0. */
  findShare(now: number, wallTimeMs: number): number {
    const { rpm = Infinity } = this.limits;
    const spent = (this.#budget?.windows(wallTimeMs) ?? []).map(({ spent, limit }) => spent / Math.max(1, limit));
    return Math.max(0, this.#countRequests(now) / rpm, ...spent);
  }

  /**
   * Checks the limit of requests at once.
   *
   * @throws {RateLimitError} If one more request would exceed it.
   */
  checkConcurrency(): void {
    const { concurrent = Infinity } = this.limits;
    if (this.inFlight >= concurrent) throw this.createConcurrencyError();
  }

  /**
   * Checks the limit of requests per minute, by what this process has counted.
   *
   * @throws {RateLimitError} If one more request would exceed it.
   */
  checkRate(now: number): void {
    const { rpm = Infinity } = this.limits;
    if (this.#countRequests(now) >= rpm) throw this.#tooMany(this.#requests!.fallsTo(now, rpm - 1) - now);
  }

  /** Counts a request as in flight, or as ended. */
  addInFlight(count: 1 | -1): void {
    this.#inFlight.count += count;
  }

  /** Counts a request of this minute. */
  countRequest(now: number): void {
    this.#requests?.add(now, 1);
  }

  /** The places of requests at once that several processes share; undefined without such a limit. */
  get slots(): ConcurrencySlots | undefined {
    return this.limits.concurrent === undefined ? undefined : this.#slots;
  }

  /**
   * Requests one request of this minute from the store; undefined without a limit, and while the store is unavailable.
   *
   * @throws {RateLimitError} If the limit is exceeded.
   */
  async requestRate(replication: Replication, now: number): Promise<RateGrant | undefined> {
    const { rpm } = this.limits;
    if (rpm === undefined) return undefined;
    const grant = await replication.admit({ name: this.id, limit: rpm, ...slicedMinute });
    if (grant === undefined) this.checkRate(now);
    else if (grant.waitMs > 0) throw this.#tooMany(grant.waitMs);
    return grant;
  }

  /** Returns when tokens fit, as far as is known: `now` if they fit already. */
  tokensFreeAt(now: number, tokens: number): number {
    return this.#tokens?.freesAt(now, tokens) ?? now;
  }

  /** Reserves tokens for a call; undefined without a limit of tokens. */
  reserveTokens(now: number, tokens: number): ReservedPart | undefined {
    return this.limits.tpm === undefined ? undefined : this.#tokens?.reserve(now, tokens);
  }

  /** The message of a request that exceeds the tokens per minute. Others learn no numbers of what they share. */
  get tokenMessage(): string {
    const { tpm } = this.limits;
    return this.identity.kind === "client"
      ? `The ${this.label} may use ${tpm} tokens a minute (tpm)`
      : `The ${this.label} is at its limit of tokens a minute (tpm)`;
  }

  /** Returns the error of a request that exceeds the requests at once. */
  createConcurrencyError(): RateLimitError {
    const message = this.identity.kind === "client"
      ? `The ${this.label} may have ${this.limits.concurrent} requests at once (concurrent)`
      : `The ${this.label} is at its limit of requests at once (concurrent)`;
    return new RateLimitError(message, { code: "rate_limit_exceeded", retryAfterMs: inFlightRetryMs });
  }

  #countSpent(wallTimeMs: number): number {
    const windows = this.#budget?.windows(wallTimeMs) ?? [];
    return windows.reduce((total, { spent, reserved }) => total + spent + reserved, 0);
  }

  /** Whether other processes know all that counts here. */
  isReported(wallTimeMs: number): boolean {
    const { sharedCounters } = this.#context.state;
    if (sharedCounters.replication === undefined) return true;
    return this.#listGroups().flatMap((group) => [...group.counters(wallTimeMs)]).every((counter) => {
      const { amount, leased } = getAcknowledged(sharedCounters, counter);
      return counter.own === amount && (counter.leased ?? 0) === 0 && leased === 0;
    });
  }

  /** Forgets the scope: it counts nothing any more. What a shared store has of it expires there. */
  close(wallTimeMs: number): void {
    this.#context.state.removeBudgetScope(this.id);
    for (const group of this.#listGroups()) unregister(this.#context.state.sharedCounters, group, wallTimeMs);
  }

  #listGroups(): readonly CounterGroup[] {
    return [this.#budget, this.#tokenGroup, this.#slots].flatMap((group) => group ?? []);
  }

  #createBudget(settings: BudgetSettings): Budget {
    const { id, identity: { key, name = key } } = this;
    const { sharedCounters } = this.#context.state;
    const budget = new Budget(settings, id, this.#earlier);
    this.#context.state.addBudgetScope({ id, budget, ...(name !== key && { name }) });
    if (sharedCounters.replication !== undefined) sharedCounters.register(budget);
    return budget;
  }

  #countRequests(now: number): number {
    return this.#requests?.sum(now) ?? 0;
  }

  #shareTokens(tokens: TokenRate): void {
    const { clock, state: { sharedCounters } } = this.#context;
    if (sharedCounters.replication === undefined || this.#tokenGroup !== undefined) return;
    sharedCounters.register(this.#tokenGroup = tokens.createGroup(this.id, clock));
  }

  #shareSlots(concurrent: number): void {
    const { sharedCounters } = this.#context.state;
    if (this.#slots !== undefined) this.#slots.limit = concurrent;
    else if (sharedCounters.replication !== undefined) {
      sharedCounters.register(this.#slots = new ConcurrencySlots(this.id, concurrent));
    }
  }

  #tooMany(retryAfterMs: number): RateLimitError {
    const message = this.identity.kind === "client"
      ? `The ${this.label} may send ${this.limits.rpm} requests a minute (rpm)`
      : `The ${this.label} is at its limit of requests a minute (rpm)`;
    // a second late, official clients would not retry at all
    return new RateLimitError(message, { code: "rate_limit_exceeded", retryAfterMs: Math.min(retryAfterMs, minuteMs) });
  }
}

function createMinute(): SlidingWindow {
  return new SlidingWindow({ windowMs: minuteMs, slices: 60, expiresLate: true });
}

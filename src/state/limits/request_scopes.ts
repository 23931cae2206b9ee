/**
 * The limits that one request counts against besides those of the mesh: of its client, its team, its tags and its end
 * user. It counts against all of them or none.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import { BudgetExceededError, RateLimitError } from "../../errors.ts";
import type { AdmissionDenial } from "../counters/admission_denial.ts";
import type { ReservedPart } from "../counters/reservation.ts";
import type { RateGrant } from "../counters/shared_rate.ts";
import type { Replication, SharedCounters } from "../counters/shared_counters.ts";
import type { Budget, BudgetWindow } from "./budget.ts";
import type { ConcurrencySlots } from "./concurrency_slots.ts";
import type { LimitedScope } from "./limited_scope.ts";

/** Describes what is left of limits; passed in, since only errors need it. */
type DescribeLeft = (windows: readonly BudgetWindow[]) => string | undefined;

function describeSpent({ label }: LimitedScope): string {
  return `The budget of the ${label} is spent`;
}

/** The scopes of one request, from its admission to the end of its response. */
export class RequestScopes {
  readonly #scopes: readonly LimitedScope[];
  readonly #clock: Clock;
  readonly #sharedCounters: SharedCounters;
  #isCounted = false;
  #counting: Promise<void> | undefined;
  #isInFlight = false;
  /** The limits that several processes share of which it has a place. */
  #slots: readonly ConcurrencySlots[] = [];
  #isOver = false;

  /** @param scopes At least one, the most specific first: messages are about the first one that denies. */
  constructor(scopes: readonly LimitedScope[], { clock, sharedCounters }: {
    readonly clock: Clock;
    readonly sharedCounters: SharedCounters;
  }) {
    this.#scopes = scopes;
    this.#clock = clock;
    this.#sharedCounters = sharedCounters;
  }

  /** Budgets, in addition to those of the mesh. */
  get budgets(): readonly Budget[] {
    return this.#scopes.flatMap(({ budget }) => budget ?? []);
  }

  /**
   * Counts the request, once. Called when it is about to be routed, since requests that are refused before do not count.
   *
   * @returns A promise if several processes share a limit.
   * @throws {RateLimitError} If a limit of requests is exceeded, per minute or at once; it is then counted nowhere.
   */
  admit(): Promise<void> | undefined {
    if (this.#isCounted) return this.#counting;
    const { replication } = this.#sharedCounters;
    const now = this.#clock.monotonic();
    // check and count are in the same turn of the event loop
    for (const scope of this.#scopes) {
      scope.checkConcurrency();
      if (replication === undefined) scope.checkRate(now);
    }
    this.#isCounted = true;
    if (!this.#isOver) { // else its client has left already
      this.#isInFlight = true;
      for (const scope of this.#scopes) scope.addInFlight(1);
    }
    if (replication !== undefined) return this.#counting = this.#admitShared(replication);
    for (const scope of this.#scopes) scope.countRequest(now);
    return undefined;
  }

  /** Ends the request: it is no longer in flight. Later calls have no effect. */
  end(): void {
    this.#isOver = true;
    this.#release();
  }

  /** @throws {BudgetExceededError} If a budget is spent. */
  checkBudgets(): void {
    const wallTimeMs = this.#clock.now();
    const ends = this.budgets.flatMap((budget) => budget.resetsAt(wallTimeMs) ?? []);
    if (ends.length > 0) {
      const spent = this.#scopes.find(({ budget }) => budget?.resetsAt(wallTimeMs) !== undefined)!;
      throw new BudgetExceededError(describeSpent(spent), Math.max(...ends) - wallTimeMs);
    }
  }

  /**
   * Returns why tokens cannot be reserved now.
   *
   * @param now Monotonic ms.
   */
  denial(tokens: number, now: number): AdmissionDenial | undefined {
    for (const scope of this.#scopes) {
      const until = scope.tokensFreeAt(now, tokens);
      if (until > now) return { reason: "client_limit", until, message: scope.tokenMessage };
    }
    return undefined;
  }

  /** Reserves tokens for a call, even beyond a limit. */
  reserveTokens(tokens: number, now: number): readonly ReservedPart[] {
    return this.#scopes.flatMap((scope) => scope.reserveTokens(now, tokens) ?? []);
  }

  /**
   * Returns the error of a request that no model has served because of these limits; undefined if it has another cause.
   *
   * @param kind Why all models have denied it.
   * @param facts The message about other budgets, the time until there is room again, ms, and the denials of models.
   */
  createError(kind: string | undefined, { spent, describeLeft, retryAfterMs, denials }: {
    /** The message about the budgets of the mesh. */
    readonly spent: string;
    readonly describeLeft: DescribeLeft;
    readonly retryAfterMs: number | undefined;
    readonly denials: ReadonlyMap<unknown, AdmissionDenial>;
  }): BudgetExceededError | RateLimitError | undefined {
    if (kind === "budget" && this.budgets.length > 0) {
      const message = this.describeBudget(spent, this.#clock.now(), describeLeft);
      return new BudgetExceededError(message, retryAfterMs);
    }
    if (kind !== "client_limit") return undefined;
    const { message = "" } = [...denials.values()].find(({ reason }) => reason === kind) ?? {};
    return new RateLimitError(message, { code: "rate_limit_exceeded", retryAfterMs });
  }

  /**
   * Returns the message of a request for which a budget does not suffice.
   *
   * @param otherwise The message if no budget of these scopes is spent.
   * @param wallTimeMs Wall-clock ms.
   * @param describeLeft Describes what is left of the limits of a budget.
   */
  describeBudget(otherwise: string, wallTimeMs: number, describeLeft: DescribeLeft): string {
    const spent = this.#scopes.find(({ budget }) => budget?.isSpent(wallTimeMs));
    if (spent !== undefined) return describeSpent(spent);
    const scopes = this.#scopes.filter(({ budget }) => budget !== undefined);
    if (scopes.length === 0) return otherwise;
    const labels = scopes.map(({ label }) => `the ${label}`).join(" or ");
    // a sum of several clients would show one of them what others have spent
    const own = scopes.flatMap(({ identity: { kind }, label, budget }) =>
      kind === "client" || kind === "user" ? `the ${label} has ${describeLeft(budget!.windows(wallTimeMs))}` : []
    );
    const left = own.length === 0 ? "" : `: ${own.join(", ")}`;
    return `${otherwise}, or what is left to ${labels} is too little for this request${left}`;
  }

  async #admitShared(replication: Replication): Promise<void> {
    const granted: RateGrant[] = [];
    try {
      await this.#takeSlots(replication);
      for (const scope of this.#scopes) {
        const grant = await scope.requestRate(replication, this.#clock.monotonic());
        if (grant !== undefined) granted.push(grant);
      }
    } catch (error) {
      for (const grant of granted) grant.release();
      this.#release();
      throw error;
    }
    if (this.#isOver) this.#release(); // its client has left meanwhile
    const now = this.#clock.monotonic();
    for (const scope of this.#scopes) scope.countRequest(now);
  }

  /** Takes a place of every limit of requests at once, or of none. */
  async #takeSlots(replication: Replication): Promise<void> {
    const slots = this.#scopes.flatMap(({ slots }) => slots ?? []);
    if (slots.length === 0) return;
    const listRequests = () => slots.map((limit) => limit.request(this.#clock.now()));
    const take = () => {
      if (this.#slots.length > 0) return;
      for (const limit of slots) limit.take();
      this.#slots = slots;
    };
    let reason = await replication.reserve(listRequests(), take);
    if (reason !== undefined) {
      await replication.refresh(); // releases unused reservations of this process
      reason = await replication.reserve(listRequests(), take);
    }
    if (reason === undefined) return take(); // also when the store is unavailable: the next sync reports it
    this.#release(); // it does not count against itself
    for (const scope of this.#scopes) scope.checkConcurrency();
    throw this.#scopes.find((scope) => scope.slots !== undefined)!.createConcurrencyError();
  }

  #release(): void {
    const [isInFlight, slots] = [this.#isInFlight, this.#slots];
    this.#isInFlight = false;
    this.#slots = [];
    if (isInFlight) { for (const scope of this.#scopes) scope.addInFlight(-1); }
    for (const limit of slots) limit.release();
  }
}

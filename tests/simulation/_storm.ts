/**
 * A total outage that many requests run into: how many calls it costs once all are in standby.
 * @module
 */
import type { Book } from "./book.ts";
import type { Scenario } from "./scenario.ts";
import { stormFrom, stormMs } from "./_troubles.ts";

/** Attempts per request under a total outage. */
const maxAttempts = 1.2;

/** Requests that a verdict needs. */
const minRequests = 100;

/** Counts from the moment at which every model is in standby for the first time in the outage. */
export class Storm {
  readonly #scenario: Scenario;
  readonly #book: Book;
  #settledAt: number | undefined;
  #requests = 0;
  #sends = 0;
  #isOver: boolean;

  /**
   * @param scenario Whether there is such an outage.
   * @param book What is in standby.
   */
  constructor(scenario: Scenario, book: Book) {
    this.#scenario = scenario;
    this.#book = book;
    this.#isOver = !scenario.isStorm;
  }

  /** A request has arrived. Monotonic ms. */
  arrived(now: number): void {
    if (this.#counts(now)) this.#requests++;
  }

  /** A call was sent. */
  sent(now: number): void {
    if (this.#counts(now)) this.#sends++;
  }

  /**
   * Looks whether states have settled, or the outage is over.
   *
   * @returns What is wrong.
   */
  look(now: number): string | undefined {
    if (this.#isOver || now < stormFrom) return undefined;
    if (this.#settledAt === undefined && this.#allInStandby()) this.#settledAt = now;
    if (now < stormFrom + stormMs) return undefined;
    this.#isOver = true;
    if (this.#settledAt === undefined) {
      return this.#goesAnywhere ? "not every model has rested in a total outage, expected all of them" : undefined;
    }
    if (this.#requests < minRequests || this.#sends <= maxAttempts * this.#requests) return undefined;
    return `${this.#requests} requests under a total outage led to ${this.#sends} calls since all models rested at ` +
      `${this.#settledAt} ms, expected at most ${maxAttempts} times as many`;
  }

  #counts(now: number): boolean {
    return !this.#isOver && this.#settledAt !== undefined && now < stormFrom + stormMs;
  }

  /** Every failing request goes on to all models: nothing but a state keeps it from one. */
  get #goesAnywhere(): boolean {
    const { pools, models, providers, dailyUsd } = this.#scenario;
    const isBounded = [...pools, ...providers].some((one) => one.dailyUsd !== undefined) || dailyUsd !== undefined ||
      models.some(({ limits }) => Object.keys(limits).length > 0);
    return !isBounded && pools.every(({ scope, minDeltaMs }) => scope === "any" && minDeltaMs === undefined);
  }

  #allInStandby(): boolean {
    const { pools, models } = this.#scenario;
    const providers = new Map(models.map(({ name, provider }) => [name, provider]));
    return pools.every((pool) =>
      pool.models.every((model) =>
        this.#book.standby({ pool: pool.name, model, provider: providers.get(model)! }).length > 0
      )
    );
  }
}

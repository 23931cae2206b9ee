/**
 * The money of a simulated world: what answers cost, by whose budget and which UTC day.
 * @module
 */
import { usageFor } from "./_answers.ts";
import type { Journey } from "./journeys.ts";
import type { ModelPlan, Scenario } from "./scenario.ts";

const dayMs = 86_400_000;
const nanoPerUsd = 1_000_000_000;

/** One budget. */
interface BudgetScope {
  readonly name: string;
  readonly limitNano: number;
  /** Provider's own budgets stop models that are free too. */
  readonly holdsForFree: boolean;
  /** Settled by day: all of it, and that part whose requests had a token limit, so that no estimate was too low. */
  readonly spent: Map<number, { all: number; bounded: number }>;
}

/** What a request costs at a model, nano-dollars. */
export function getCost(journey: Journey, { price }: ModelPlan): number {
  const { prompt_tokens, completion_tokens } = usageFor(journey.arrival);
  return Math.round((prompt_tokens * price.input + completion_tokens * price.output) * 1000);
}

/** All budgets of a world. */
export class BudgetScopes {
  readonly #budgetScopes = new Map<string, BudgetScope>();
  /** Calls that were given up: their cost to a mesh is unknown, but not above what it reserved. */
  givenUp = 0;
  /** Providers that an operator activated: a free model of theirs may be asked until a response shows what is spent. */
  readonly #takenBack = new Set<string>();
  /** The highest prices of all models. */
  readonly #dearest: ModelPlan["price"];

  /** @param scenario Whose budgets. */
  constructor({ providers, pools, models, dailyUsd }: Scenario) {
    this.#dearest = {
      input: Math.max(...models.map(({ price }) => price.input)),
      output: Math.max(...models.map(({ price }) => price.output)),
    };
    for (const { id, dailyUsd } of providers) this.#add(`provider ${id}`, dailyUsd, true);
    for (const { name, dailyUsd } of pools) this.#add(`pool ${name}`, dailyUsd, false);
    this.#add("all", dailyUsd, false);
  }

  /** The budget that stands against a request although it is about to be sent; one that is spent. */
  spentFor({ pool }: Journey, model: ModelPlan, wall: number): string | undefined {
    const isFree = model.price.input === 0 && model.price.output === 0;
    const isHeld = !isFree || !this.#takenBack.has(model.provider);
    const spent = this.#for(pool.name, model).find(({ limitNano, spent, holdsForFree }) =>
      (holdsForFree ? isHeld : !isFree) && (spent.get(Math.floor(wall / dayMs))?.all ?? 0) >= limitNano
    );
    return spent?.name;
  }

  /** An operator took a provider back, if it is one. */
  takenBack(provider: string): void {
    this.#takenBack.add(provider);
  }

  /** Whether there is money, however much a mesh reserves for every request under way. */
  isAmple({ pool, arrival }: Journey, model: ModelPlan, at: { wall: number; open: number }): boolean {
    const highest = (10_000 * this.#dearest.input + Math.max(arrival.maxTokens ?? 0, 2000) * this.#dearest.output) *
      1000;
    return this.#for(pool.name, model).every(({ limitNano, spent }) =>
      (spent.get(Math.floor(at.wall / dayMs))?.all ?? 0) + (at.open + this.givenUp + 1) * highest <= limitNano
    );
  }

  /**
   * A response has been paid for.
   *
   * @returns The budget that was passed by requests that could have been reckoned exactly.
   */
  pay(journey: Journey, model: ModelPlan, wall: number): string | undefined {
    const nano = getCost(journey, model);
    this.#takenBack.delete(model.provider);
    let passed: string | undefined;
    for (const { name, limitNano, spent } of this.#for(journey.pool.name, model)) {
      const day = Math.floor(wall / dayMs);
      const sums = spent.get(day) ?? { all: 0, bounded: 0 };
      sums.all += nano;
      if (journey.arrival.maxTokens !== undefined) sums.bounded += nano;
      spent.set(day, sums);
      if (sums.bounded > limitNano) passed = `${name}: ${sums.bounded} of ${limitNano} nano-dollars`;
    }
    return passed;
  }

  #add(name: string, usd: number | undefined, holdsForFree: boolean): void {
    if (usd === undefined) return;
    this.#budgetScopes.set(name, { name, limitNano: Math.round(usd * nanoPerUsd), holdsForFree, spent: new Map() });
  }

  #for(pool: string, { provider }: ModelPlan): BudgetScope[] {
    return [`provider ${provider}`, `pool ${pool}`, "all"].flatMap((name) => this.#budgetScopes.get(name) ?? []);
  }
}

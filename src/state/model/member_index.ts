/**
 * Finds what belongs to an owner of breakers, without a search through everything.
 * @module
 */
import type { BreakerOwner } from "../breaker/circuit_breaker.ts";
import { getOrCreate } from "../../util/once.ts";

/** Items that belong to a model in a pool, by provider and model. */
export class MemberIndex<Item> {
  readonly #byProvider = new Map<string, Item[]>();
  readonly #byModel = new Map<string, Item[]>();
  readonly #getOwner: (item: Item) => Required<BreakerOwner>;

  /** @param getOwner Returns the model, pool and provider of an item. */
  constructor(getOwner: (item: Item) => Required<BreakerOwner>) {
    this.#getOwner = getOwner;
  }

  add(item: Item): void {
    const { provider, model } = this.#getOwner(item);
    getOrCreate(this.#byProvider, provider, () => []).push(item);
    getOrCreate(this.#byModel, toIndexKey(provider, model!), () => []).push(item);
  }

  clear(): void {
    this.#byProvider.clear();
    this.#byModel.clear();
  }

  /**
   * Finds items, in the order in which they were added.
   *
   * @param owner A model in a pool, a model across all pools, or a provider.
   */
  find({ pool, model, provider }: BreakerOwner): readonly Item[] {
    const items = model === undefined ? this.#byProvider.get(provider) : this.#byModel.get(toIndexKey(provider, model));
    if (items === undefined || pool === undefined) return items ?? [];
    return items.filter((item) => this.#getOwner(item).pool === pool);
  }
}

function toIndexKey(provider: string, model: string): string {
  return `${provider}\n${model}`;
}

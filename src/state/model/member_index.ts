/**
 * Finds what belongs to an owner of breakers, without a search through everything.
 * @module
 */
import type { BreakerOwner } from "../breaker/circuit_breaker.ts";

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
    addTo(this.#byProvider, provider, item);
    addTo(this.#byModel, toIndexKey(provider, model!), item);
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

function addTo<Item>(index: Map<string, Item[]>, key: string, item: Item): void {
  const known = index.get(key);
  if (known === undefined) index.set(key, [item]);
  else known.push(item);
}

/**
 * Records on their way to a place that may be slow or unavailable.
 * @module
 */

/** How a {@linkcode DeliveryQueue} works. */
interface DeliveryQueueOptions<Item> {
  /** Most items that wait; beyond it the oldest are dropped. */
  readonly capacity: number;
  /** Most items that are delivered together. */
  readonly batch: number;
  /** Resolves when the next batch may begin. @default at once */
  readonly pause?: () => Promise<void>;
  /** Delivers the items; the next ones wait until it is over. What it throws says that all of them are lost. */
  readonly deliver: (items: readonly Item[]) => Promise<void>;
}

/** Delivers items one batch after the other. It is bounded, adding never waits or throws, and what is lost is counted. */
export class DeliveryQueue<Item> {
  readonly #options: DeliveryQueueOptions<Item>;
  #waiting: Item[] = [];
  #lost = 0;
  #delivery: Promise<void> | undefined;

  /** @param options Its bounds, and where items go. */
  constructor(options: DeliveryQueueOptions<Item>) {
    this.#options = options;
  }

  /** Items that were dropped, or could not be delivered. */
  get lost(): number {
    return this.#lost;
  }

  /** Adds an item. */
  add(item: Item): void {
    if (this.#waiting.length >= this.#options.capacity) {
      this.#waiting.shift();
      this.#lost++;
    }
    this.#waiting.push(item);
    this.#delivery ??= this.#deliver();
  }

  /** Resolves when nothing is left to deliver. */
  async idle(): Promise<void> {
    while (this.#delivery !== undefined) await this.#delivery;
  }

  async #deliver(): Promise<void> {
    const { batch, pause, deliver } = this.#options;
    await Promise.resolve(); // what is added in the same turn goes with it
    while (this.#waiting.length > 0) {
      await pause?.();
      const items = this.#waiting.splice(0, batch);
      try {
        await deliver(items);
      } catch {
        this.#lost += items.length;
      }
    }
    this.#delivery = undefined;
  }
}

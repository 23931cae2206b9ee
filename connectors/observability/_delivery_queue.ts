/**
 * A bounded queue of records for a destination that may be slow or unavailable.
 * @module
 */
import { Queue } from "../../src/util/queue.ts";

/** Options of a {@linkcode DeliveryQueue}. */
interface DeliveryQueueOptions<Item> {
  /** Maximum number of queued items; beyond it, the oldest are dropped. */
  readonly capacity: number;
  /** Maximum number of items per batch. */
  readonly batch: number;
  /** Resolves when the next batch may start. @default immediately */
  readonly pause?: () => Promise<void>;
  /** Delivers a batch; the next one waits until it settles. If it throws, all items of the batch count as lost. */
  readonly deliver: (items: readonly Item[]) => Promise<void>;
}

/**
 * Delivers items in sequential batches. The queue is bounded; adding never waits or throws, and lost items are counted.
 */
export class DeliveryQueue<Item> {
  readonly #options: DeliveryQueueOptions<Item>;
  readonly #waiting = new Queue<Item>();
  #lost = 0;
  #delivery: Promise<void> | undefined;

  /** @param options Bounds and destination. */
  constructor(options: DeliveryQueueOptions<Item>) {
    this.#options = options;
  }

  /** Number of items that were dropped or failed to be delivered. */
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

  /** Resolves when the queue is empty. */
  async idle(): Promise<void> {
    while (this.#delivery !== undefined) await this.#delivery;
  }

  async #deliver(): Promise<void> {
    const { batch, pause, deliver } = this.#options;
    await Promise.resolve(); // items added in the same turn join the batch
    while (this.#waiting.length > 0) {
      await pause?.();
      const items: Item[] = [];
      while (items.length < batch && this.#waiting.length > 0) items.push(this.#waiting.shift()!);
      try {
        await deliver(items);
      } catch {
        this.#lost += items.length;
      }
    }
    this.#delivery = undefined;
  }
}

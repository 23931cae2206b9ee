/**
 * A bounded queue of records for a destination that may be slow or unavailable.
 * @module
 */
import { Queue } from "../../src/util/queue.ts";

/** Options of a {@linkcode DeliveryQueue}. */
interface DeliveryQueueOptions<Item> {
  /** Maximum number of queued items; beyond it, the oldest are dropped. */
  readonly capacity: number;
  /** Maximum size of the items that are queued or being delivered, bytes; beyond it, the oldest queued ones are dropped. */
  readonly maxBytes?: number;
  /** Size of an item, bytes. @default 0 */
  readonly measure?: (item: Item) => number;
  /** Maximum number of items per batch. */
  readonly batch: number;
  /** Maximum size of a batch of several items, bytes. */
  readonly batchBytes?: number;
  /** Resolves when the next batch may start. @default immediately */
  readonly pause?: () => Promise<void>;
  /**
   * Delivers a batch; the next one waits until it settles. Returns the number of items that were lost; if it throws, all
   * items of the batch count as lost.
   */
  readonly deliver: (items: readonly Item[]) => Promise<number | void>;
}

/**
 * Delivers items in sequential batches. The queue is bounded; adding never waits or throws, and lost items are counted.
 */
export class DeliveryQueue<Item> {
  readonly #options: DeliveryQueueOptions<Item>;
  readonly #measure: (item: Item) => number;
  readonly #waiting = new Queue<Item>();
  #waitingBytes = 0;
  #bytesInDelivery = 0;
  #lost = 0;
  #delivery: Promise<void> | undefined;

  /** @param options Bounds and destination. */
  constructor(options: DeliveryQueueOptions<Item>) {
    this.#options = options;
    this.#measure = options.measure ?? (() => 0);
  }

  /** Number of items that were dropped or failed to be delivered. */
  get lost(): number {
    return this.#lost;
  }

  /** Whether the queued items fill a batch. */
  get hasFullBatch(): boolean {
    const { batch, batchBytes = Infinity } = this.#options;
    return this.#waiting.length >= batch || this.#waitingBytes >= batchBytes;
  }

  /** Adds an item. One that exceeds the maximum size by itself is lost. */
  add(item: Item): void {
    const { capacity, maxBytes = Infinity } = this.#options;
    const size = this.#measure(item);
    while (
      this.#waiting.length > 0 &&
      (this.#waiting.length >= capacity || this.#waitingBytes + this.#bytesInDelivery + size > maxBytes)
    ) {
      this.#take();
      this.#lost++;
    }
    if (this.#bytesInDelivery + size > maxBytes) return void this.#lost++;
    this.#waiting.push(item);
    this.#waitingBytes += size;
    this.#delivery ??= this.#deliver();
  }

  /** Resolves when the queue is empty. */
  async idle(): Promise<void> {
    while (this.#delivery !== undefined) await this.#delivery;
  }

  async #deliver(): Promise<void> {
    const { pause, deliver } = this.#options;
    await Promise.resolve(); // items added in the same turn join the batch
    while (this.#waiting.length > 0) {
      await pause?.();
      const items = this.#takeBatch();
      try {
        this.#lost += await deliver(items) ?? 0;
      } catch {
        this.#lost += items.length;
      }
      this.#bytesInDelivery = 0;
    }
    this.#delivery = undefined;
  }

  #takeBatch(): readonly Item[] {
    const { batch, batchBytes = Infinity } = this.#options;
    const items: Item[] = [];
    while (items.length < batch && this.#waiting.length > 0) {
      const size = this.#measure(this.#waiting.first!);
      if (items.length > 0 && this.#bytesInDelivery + size > batchBytes) break;
      items.push(this.#take());
      this.#bytesInDelivery += size;
    }
    return items;
  }

  #take(): Item {
    const item = this.#waiting.shift()!;
    this.#waitingBytes -= this.#measure(item);
    return item;
  }
}

/**
 * Delivery of records in batches, at an interval, to a service that may be slow, unavailable or misconfigured for a time.
 * @module
 */
import type { Observability } from "../../src/contracts/observability.ts";
import type { Runtime } from "../../src/contracts/runtime.ts";
import { DeliveryQueue } from "./_delivery_queue.ts";
import { Pause } from "./_pause.ts";

/** Maximum number of queued records. */
const capacity = 100_000;

/** Maximum number of records of a batch, and its maximum size, bytes. */
const batch = 10_000;
const maxBatchBytes = 8_388_608;

/** Backoff after the first failure, and the maximum, ms. The actual one is random, between half of it and all of it. */
const firstWaitMs = 1_000;
const maxWaitMs = 60_000;

/** Time that a flush may take, ms: less than the 5 s after which a mesh that closes stops waiting for it. */
const flushLimitMs = 4_000;

/** The service rejected the records themselves, so that a retry is pointless. */
export class RejectedError extends Error {}

/** Calls the service until it accepts the call. Throws if the records were rejected, or the time of a flush is over. */
export type Attempt = (call: (signal: AbortSignal) => Promise<void>) => Promise<void>;

/** Options of a {@linkcode BatchDelivery}. */
interface BatchDeliveryOptions<Item> {
  /** Interval between batches, ms; a full batch is delivered at once. */
  readonly intervalMs: number;
  /** Maximum size of the records that wait, bytes; beyond it, the oldest are dropped. */
  readonly maxBytes: number;
  /** Maximum size of a batch, bytes, at most 8 MiB. @default 8 MiB */
  readonly batchBytes?: number;
  /** Size of a record, bytes. */
  readonly measure: (item: Item) => number;
  /** Delivers a batch; returns the number of records that were lost. */
  readonly deliver: (items: readonly Item[], attempt: Attempt) => Promise<number>;
  /** Reports why the service does not accept a call: once, until it accepts one again. */
  readonly warn: ((message: string) => void) | undefined;
}

/**
 * Delivers batches one after the other. While the service does not accept a batch, it is retried with backoff, and records
 * wait within the bounds of the queue. A flush retries as well, and after 4 s drops what is left, so that it is counted.
 */
export class BatchDelivery<Item> {
  readonly #options: BatchDeliveryOptions<Item>;
  readonly #runtime: Pick<Runtime, "clock" | "random">;
  readonly #queue: DeliveryQueue<Item>;
  readonly #pause: Pause;
  #flushes = 0;
  #stop = new AbortController();
  #isFailing = false;

  /**
   * @param runtime Clock and randomness.
   * @param options Bounds and destination.
   */
  constructor(runtime: Pick<Runtime, "clock" | "random">, options: BatchDeliveryOptions<Item>) {
    const { measure, maxBytes, batchBytes = maxBatchBytes } = options;
    this.#options = options;
    this.#runtime = runtime;
    this.#pause = new Pause(runtime.clock);
    this.#queue = new DeliveryQueue({
      capacity,
      maxBytes,
      measure,
      batch,
      batchBytes: Math.min(batchBytes, maxBatchBytes, maxBytes / 2),
      pause: async () => {
        if (this.#flushes === 0 && !this.#queue.hasFullBatch) await this.#pause.wait(options.intervalMs);
      },
      deliver: (items) => options.deliver(items, (call) => this.#attempt(call)),
    });
  }

  /** Number of records that were dropped, rejected or not delivered in time. */
  get lost(): number {
    return this.#queue.lost;
  }

  /** Adds a record. Never waits or throws. */
  add(item: Item): void {
    this.#queue.add(item);
    if (!this.#isFailing && this.#queue.hasFullBatch) this.#pause.end();
  }

  /** Delivers what waits. Resolves when it is delivered, or after 4 s, when the rest is dropped and counted. */
  async flush(): Promise<void> {
    this.#flushes++;
    this.#pause.end();
    const cancel = this.#runtime.clock.after(flushLimitMs, () => this.#stop.abort());
    try {
      await this.#queue.idle();
    } finally {
      cancel();
      if (--this.#flushes === 0) this.#stop = new AbortController();
    }
  }

  async #attempt(call: (signal: AbortSignal) => Promise<void>): Promise<void> {
    for (let failures = 0;; failures++) {
      const { signal } = this.#stop;
      if (signal.aborted) throw new Error("The time of the flush is over");
      try {
        await call(signal);
        this.#isFailing = false;
        return;
      } catch (error) {
        if (error instanceof RejectedError) {
          this.#isFailing = false;
          throw error;
        }
        if (!signal.aborted) await this.#backOff(failures, error);
      }
    }
  }

  async #backOff(failures: number, error: unknown): Promise<void> {
    if (!this.#isFailing) this.#options.warn?.(error instanceof Error ? error.message : "The service cannot be used");
    this.#isFailing = true;
    const waitMs = this.#flushes > 0 ? firstWaitMs : Math.min(maxWaitMs, firstWaitMs * 2 ** failures);
    const end = () => this.#pause.end();
    this.#stop.signal.addEventListener("abort", end, { once: true });
    await this.#pause.wait(waitMs * (0.5 + this.#runtime.random() / 2));
    this.#stop.signal.removeEventListener("abort", end);
  }
}

/** Returns the sink of a delivery: each record of any section is put into it. */
export function createRecordSink<Item>(delivery: BatchDelivery<Item>, put: (record: object) => void): Observability {
  return {
    get lost() {
      return delivery.lost;
    },
    emit: (record) => put(record),
    log: (record) => put(record),
    trace: (record) => put(record),
    async flush(report) {
      if (report === undefined) return await delivery.flush();
      report.records.forEach((record) => put(record)); // an interval of statistics does not end a batch
    },
  };
}

/**
 * A ring buffer with the latest records of a proxy, for `/mesh/events`.
 * @module
 */
import type { Observability } from "../../contracts/observability.ts";
import type { Cancel, Clock } from "../../contracts/runtime.ts";

/** Maximum number of records. */
const capacity = 1_000;

/** Members of a record that determine its owner. */
export interface OwnedRecord {
  readonly type: string;
  readonly pool?: string;
  readonly model?: string | null;
  /** The previous value of what an event is about. */
  readonly from?: string;
  readonly client?: string;
  readonly client_id?: string;
  /** The kind of an event. */
  readonly event?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Consecutive records. */
export interface RecordPage {
  /** The id of the latest record; the first one is 1. */
  readonly latest: number;
  readonly records: readonly (readonly [id: number, record: OwnedRecord])[];
}

/** Options for waiting. */
interface RecordWait {
  readonly waitMs: number;
  readonly signal?: AbortSignal;
}

/** A source of records. */
export interface RecordSource {
  /**
   * Returns records when there are any, or none after a timeout.
   *
   * @param after The id of the last record that the reader has; null requests only the latest id, immediately.
   * @param wait Timeout and abort signal.
   */
  next(after: number | null, wait: RecordWait): Promise<RecordPage>;
}

/** Receives all records, in bounded memory. */
export class RecordRing implements Observability, RecordSource {
  readonly #clock: Clock;
  readonly #records: (OwnedRecord | undefined)[] = [];
  #latest = 0;
  readonly #waiting = new Set<() => void>();

  /** @param clock For timeouts. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  emit(record: OwnedRecord): void {
    this.#records[++this.#latest % capacity] = record;
    for (const wake of this.#waiting) wake();
  }

  log(record: OwnedRecord): void {
    this.emit(record);
  }

  trace(record: OwnedRecord): void {
    this.emit(record);
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }

  async next(after: number | null, { waitMs, signal }: RecordWait): Promise<RecordPage> {
    if (after === null) return { latest: this.#latest, records: [] };
    if (after === this.#latest && waitMs > 0) await this.#nextRecord(waitMs, signal);
    return { latest: this.#latest, records: this.#since(after) };
  }

  #nextRecord(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      let cancel: Cancel = () => {};
      const wake = () => {
        cancel();
        this.#waiting.delete(wake);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      cancel = this.#clock.after(waitMs, wake);
      this.#waiting.add(wake);
      signal?.addEventListener("abort", wake);
    });
  }

  /** An id from before a restart may be greater than the latest one. */
  #since(after: number): RecordPage["records"] {
    const records: [number, OwnedRecord][] = [];
    for (let id = Math.max(after, this.#latest - capacity) + 1; id <= this.#latest; id++) {
      records.push([id, this.#records[id % capacity]!]);
    }
    return records;
  }
}

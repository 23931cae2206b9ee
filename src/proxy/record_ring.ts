/**
 * The latest records of a proxy, for `/mesh/events`.
 * @module
 */
import type { Observability } from "../contracts/observability.ts";
import type { Clock } from "../contracts/runtime.ts";
import type { PlainStream } from "../contracts/shell.ts";

/** Records that are kept. */
const capacity = 1_000;

/** A comment is sent so often where nothing happens, ms. */
const commentMs = 15_000;

/** So often a stream looks whether the proxy stops, ms. */
const lookMs = 1_000;

/** What of a record says whose it is. */
export interface OwnedRecord {
  readonly type: string;
  readonly pool?: string;
  readonly client?: string;
  /** Of events: its kind. */
  readonly event?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** How records are streamed. */
interface RecordStreamOptions {
  readonly clock: Clock;
  /** The id of the last record that the reader has; NaN: only new ones. */
  readonly after: number;
  readonly isVisible: (record: OwnedRecord) => boolean;
  /** Whether the proxy stops: the stream ends then. */
  readonly isStopping: () => boolean;
}

/** Takes every record; its memory is bounded. */
export class RecordRing implements Observability {
  readonly #records: (OwnedRecord | undefined)[] = [];
  /** The id of the latest record; the first one has 1. */
  #latest = 0;
  readonly #waiting = new Set<() => void>();

  emit(record: OwnedRecord): void {
    this.#add(record);
  }

  log(record: OwnedRecord): void {
    this.#add(record);
  }

  trace(record: OwnedRecord): void {
    this.#add(record);
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }

  /** Records as server-sent events: those kept after an id and a comment, then those that come. A reader that is too slow misses some. */
  stream({ clock, after, isVisible, isStopping }: RecordStreamOptions): PlainStream {
    let last = Number.isNaN(after) || after > this.#latest ? this.#latest : after;
    let isOver = false;
    let wake = () => {};
    let spokenAt: number | undefined;
    const read = async (): Promise<string | undefined> => {
      while (!isOver && !isStopping()) {
        const text = this.#since(last, isVisible);
        last = this.#latest;
        const now = clock.monotonic();
        const isFirst = spokenAt === undefined;
        if (text !== "" || isFirst || now - spokenAt! >= commentMs) {
          spokenAt = now;
          return isFirst || text === "" ? `${text}:\n\n` : text;
        }
        await new Promise<void>((resolve) => {
          const cancel = clock.after(lookMs, () => wake());
          wake = () => {
            cancel();
            this.#waiting.delete(wake);
            resolve();
          };
          this.#waiting.add(wake);
        });
      }
      return undefined;
    };
    const cancel = () => {
      isOver = true;
      wake();
    };
    return { read, cancel };
  }

  #add(record: OwnedRecord): void {
    this.#records[++this.#latest % capacity] = record;
    for (const wake of this.#waiting) wake();
  }

  #since(last: number, isVisible: RecordStreamOptions["isVisible"]): string {
    let text = "";
    for (let id = Math.max(last, this.#latest - capacity) + 1; id <= this.#latest; id++) {
      const record = this.#records[id % capacity]!;
      if (isVisible(record)) text += `id: ${id}\ndata: ${JSON.stringify(record)}\n\n`;
    }
    return text;
  }
}

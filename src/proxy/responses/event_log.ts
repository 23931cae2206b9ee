/**
 * The events of a response whose work goes on in the background: in the memory of the process that does the work, and in
 * the storage for all others.
 * @module
 */
import type { Cancel, Clock } from "../../contracts/runtime.ts";

/** How long events wait to be stored together, ms. */
const delayMs = 1_000;

/** Maximum length of all events of a response, characters. */
const maxChars = 64 * 1024 * 1024;

/** Where readers get events. */
export interface EventSource {
  /**
   * Waits for events.
   *
   * @param position Number of events before.
   * @returns The next ones, at least one; undefined at the end.
   */
  read(position: number): Promise<readonly string[] | undefined>;
  /** Ends a wait. */
  cancel(): void;
}

/** Dependencies of {@linkcode EventLog}. */
interface LogParts {
  readonly clock: Clock;
  /** Stores events. */
  readonly save: (chunk: number, events: readonly string[]) => Promise<void>;
}

/** All events of a response. An event's position is its sequence number. */
export class EventLog {
  readonly #parts: LogParts;
  readonly #events: string[] = [];
  #chars = 0;
  /** Number of stored events, and of the records with them. */
  #saved = 0;
  #chunks = 0;
  #isOver = false;
  #last: Promise<void> = Promise.resolve();
  #cancelTimer: Cancel | undefined;
  #waiting: (() => void)[] = [];

  constructor(parts: LogParts) {
    this.#parts = parts;
  }

  /** Number of events so far. */
  get length(): number {
    return this.#events.length;
  }

  /** Whether there is no room for more events. */
  get isFull(): boolean {
    return this.#chars > maxChars;
  }

  /** Adds an event. It is stored a little later. */
  add(event: string): void {
    this.#events.push(event);
    this.#chars += event.length;
    this.#cancelTimer ??= this.#parts.clock.after(delayMs, () => {
      this.#cancelTimer = undefined;
      this.flush().catch(() => {}); // the next one tries again, and the last one reports it
    });
    this.#wake();
  }

  /**
   * Stores what is not stored yet.
   *
   * @throws {ConnectorError} If the storage fails.
   */
  flush(): Promise<void> {
    const flushed = this.#last.then(() => this.#flush());
    this.#last = flushed.catch(() => {});
    return flushed;
  }

  /** Ends the log with an event that is not stored here. */
  end(event: string): void {
    this.#events.push(event);
    this.#isOver = true;
    this.#cancelTimer?.();
    this.#wake();
  }

  /** Creates a source for one reader. */
  open(): EventSource {
    let isCancelled = false;
    return {
      read: async (position) => {
        while (position >= this.#events.length && !this.#isOver && !isCancelled) {
          await new Promise<void>((resolve) => this.#waiting.push(resolve));
        }
        const events = isCancelled ? [] : this.#events.slice(position);
        return events.length === 0 ? undefined : events;
      },
      cancel: () => {
        isCancelled = true;
        this.#wake();
      },
    };
  }

  async #flush(): Promise<void> {
    const events = this.#events.slice(this.#saved);
    if (events.length === 0 || this.#isOver) return;
    await this.#parts.save(this.#chunks, events);
    this.#chunks++;
    this.#saved += events.length;
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

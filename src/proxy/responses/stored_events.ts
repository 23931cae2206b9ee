/**
 * The stored events of a background response, also while another process goes on with it.
 * @module
 */
import { findLastEvent, isUnderWay } from "../../dialects/responses/background.ts";
import type { Clock } from "../../contracts/runtime.ts";
import type { EventSource } from "./event_log.ts";
import { formatEvent } from "./event_text.ts";
import type { ResponseRecord } from "./response_records.ts";

/** Interval at which new events are looked for, ms. */
const intervalMs = 500;

/** Access to a response. */
interface StoredParts {
  readonly clock: Clock;
  /** Loads it in its current state; undefined if it was deleted. */
  readonly load: () => Promise<ResponseRecord | undefined>;
  /** Loads one record of events, numbered from 0; undefined if there is none yet. */
  readonly loadEvents: (number: number) => Promise<readonly string[] | undefined>;
}

/** Reads the events of a response from the storage. */
export class StoredEvents implements EventSource {
  readonly #parts: StoredParts;
  readonly #stopper = new AbortController();
  #chunk = 0;
  /** Number of events in the chunks so far. */
  #count = 0;
  #isOver = false;

  constructor(parts: StoredParts) {
    this.#parts = parts;
  }

  async read(position: number): Promise<readonly string[] | undefined> {
    const { load, loadEvents, clock } = this.#parts;
    while (!this.#isOver && !this.#stopper.signal.aborted) {
      const record = await load(); // before the events, which are stored before its end
      const events = await loadEvents(this.#chunk);
      if (events !== undefined) {
        const start = this.#count;
        this.#chunk++;
        this.#count += events.length;
        if (this.#count > position) return events.slice(Math.max(0, position - start));
      } else if (record === undefined || !isUnderWay(record.response)) {
        this.#isOver = true;
        return this.#findLast(record, position);
      } else await clock.sleep(intervalMs, this.#stopper.signal).catch(() => {}); // cancelled
    }
    return undefined;
  }

  cancel(): void {
    this.#stopper.abort();
  }

  /**
   * The event that ends the response. A client may have received events which were not stored before their process has
   * ended: for it, that event is the next one.
   */
  #findLast(record: ResponseRecord | undefined, position: number): readonly string[] | undefined {
    if (record === undefined) return undefined; // deleted
    const { response, events = this.#count, isCut } = record;
    if (position > events && !isCut) return undefined;
    const type = findLastEvent(response);
    return [formatEvent(type, { type, sequence_number: Math.max(events, position), response })];
  }
}

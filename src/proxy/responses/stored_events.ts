/**
 * The stored events of a background response, also while another process goes on with it.
 * @module
 */
import { findLastEvent, isUnderWay } from "../../dialects/responses/background.ts";
import type { Clock } from "../../contracts/runtime.ts";
import type { EventSource } from "./event_log.ts";
import { formatEvent } from "./event_text.ts";
import type { ResponseMemory } from "./response_memory.ts";
import type { ResponseRecord, ResponseRef } from "./response_records.ts";

/** Interval at which new events are looked for, ms. */
const intervalMs = 500;

/** Reads the events of a response from the storage. */
export class StoredEvents implements EventSource {
  readonly #memory: ResponseMemory;
  readonly #ref: ResponseRef;
  readonly #clock: Clock;
  readonly #stopper = new AbortController();
  #chunk = 0;
  /** Number of events in the chunks so far. */
  #count = 0;
  #isOver = false;

  constructor(memory: ResponseMemory, ref: ResponseRef, clock: Clock) {
    this.#memory = memory;
    this.#ref = ref;
    this.#clock = clock;
  }

  async read(position: number): Promise<readonly string[] | undefined> {
    while (!this.#isOver && !this.#stopper.signal.aborted) {
      const record = await this.#memory.loadCurrent(this.#ref); // before the events, which are stored before its end
      const events = await this.#memory.records.loadEvents(this.#ref, this.#chunk);
      if (events !== undefined) {
        const start = this.#count;
        this.#chunk++;
        this.#count += events.length;
        if (this.#count > position) return events.slice(Math.max(0, position - start));
      } else if (record === undefined || !isUnderWay(record.response)) {
        this.#isOver = true;
        return this.#findLast(record, position);
      } else await this.#clock.sleep(intervalMs, this.#stopper.signal).catch(() => {}); // cancelled
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

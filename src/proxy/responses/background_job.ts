/**
 * The work on a response in the background. One process does it, under its lease in the storage. It is not repeated
 * elsewhere, since what was sent may be billed: when the process is gone, another one marks the response as failed.
 * @module
 */
import { findLastEvent, formatFailed } from "../../dialects/responses/background.ts";
import { formatStored } from "../../dialects/responses/stored_response.ts";
import type { JsonObject, OpenAiError } from "../../contracts/openai.ts";
import type { Clock, Stopper, StopSignal } from "../../contracts/runtime.ts";
import type { PlainResponse } from "../../contracts/shell.ts";
import { ConnectorError, StreamInterruptedError } from "../../errors.ts";
import { isStream } from "../../util/bytes.ts";
import { editMembers } from "../../util/json_members.ts";
import { EventLog, type EventSource } from "./event_log.ts";
import { findHead, formatEvent, splitEvents } from "./event_text.ts";
import type { ResponseRecords, ResponseRef } from "./response_records.ts";

/** Interval at which the process looks for cancellation by others, ms. */
const checkMs = 1_000;

/** Delays between attempts to store the final response, ms. */
const storeDelaysMs = [500, 1_000, 2_000, 4_000, 8_000];

/** Why work ends early. */
type StopCause = "cancelled" | "deleted" | "stopped";

const stopError: OpenAiError = {
  message: "The proxy was stopped before the response was complete. It may have been billed, and is not repeated",
  type: "server_error",
  code: "server_error",
  param: null,
};

/** Dependencies of a {@linkcode BackgroundJob}. */
interface JobParts {
  readonly ref: ResponseRef;
  readonly records: ResponseRecords;
  readonly clock: Clock;
  readonly stopper: Stopper;
  /** The response as accepted. */
  readonly queued: JsonObject;
  /** Members that replace those of the provider's response. */
  readonly members: JsonObject;
  readonly isStreamed: boolean;
  /** Identifies its record as stored; others change it. */
  readonly stamp: string | undefined;
  /** Performs the request. */
  readonly perform: (signal: StopSignal) => Promise<PlainResponse>;
  /** Converts a failure to the error of the response. */
  readonly toError: (error: unknown) => OpenAiError;
  /** Receives a failure to store the response. */
  readonly report: (error: unknown) => void;
}

/** The work on one response. */
export class BackgroundJob {
  /** Resolves when the response is stored. */
  readonly ended: Promise<void>;
  readonly #parts: JobParts;
  readonly #log: EventLog | undefined;
  /** Items that are complete. */
  readonly #output: unknown[] = [];
  #cause: StopCause | undefined;

  constructor(parts: JobParts) {
    const { records, ref, clock, isStreamed } = parts;
    this.#parts = parts;
    if (isStreamed) {
      this.#log = new EventLog({ clock, save: (chunk, events) => records.saveEvents(ref, chunk, events) });
      const type = "response.created";
      this.#log.add(formatEvent(type, { type, sequence_number: 0, response: parts.queued }));
    }
    this.ended = this.#run();
  }

  /** Opens its events; undefined if it has none. */
  openEvents(): EventSource | undefined {
    return this.#log?.open();
  }

  /**
   * Ends the work early.
   *
   * @returns Resolves when the response is stored.
   */
  async stop(cause: StopCause): Promise<void> {
    this.#cause ??= cause;
    this.#parts.stopper.abort(new DOMException(`The response was ${cause}`, "AbortError"));
    await this.ended;
  }

  async #run(): Promise<void> {
    const { clock, report } = this.#parts;
    const stopChecking = clock.every(checkMs, () => this.#check());
    try {
      await this.#finish(await this.#perform());
    } catch (error) {
      report(error);
    }
    stopChecking();
  }

  /** Returns the final response. */
  async #perform(): Promise<JsonObject> {
    const { perform, stopper, queued, toError } = this.#parts;
    try {
      return await this.#receive(await perform(stopper.signal));
    } catch (error) {
      const partial = { ...queued, status: "in_progress", output: this.#output };
      if (this.#cause === "cancelled") return { ...partial, status: "cancelled" };
      return formatFailed(partial, this.#cause === undefined ? toError(error) : stopError);
    }
  }

  async #receive({ headers, body }: PlainResponse): Promise<JsonObject> {
    const { members, stopper: { signal } } = this.#parts;
    const decoder = new TextDecoder();
    const toText = (chunk: Uint8Array | string) => typeof chunk === "string" ? chunk : decoder.decode(chunk);
    let last: JsonObject | undefined;
    if (isStream(body)) {
      for (let chunk = await body.read(); chunk !== undefined; chunk = await body.read()) {
        last = this.#addEvents(toText(chunk)) ?? last;
        if (!this.#log!.isFull) continue;
        body.cancel();
        throw new ConnectorError("The response is too long to be stored", undefined, "full");
      }
    } else if (headers["content-type"] === "application/json") {
      last = formatStored({ ...JSON.parse(toText(body ?? "")), ...members });
    } else last = this.#addEvents(toText(body ?? ""));
    if (this.#cause === "cancelled") throw signal.reason;
    if (last === undefined) throw new StreamInterruptedError("The response has no valid last event", "");
    return last;
  }

  /** Adds the events of a chunk, and returns the final response if it is among them. */
  #addEvents(chunk: string): JsonObject | undefined {
    for (const event of splitEvents(chunk)) {
      const { type, data } = event;
      if (type === undefined || type === "response.created") continue;
      const response = findHead(event)?.response;
      const changed = response && formatStored({ ...response, ...this.#parts.members });
      if (changed !== undefined && findLastEvent(changed) === type) return changed;
      if (type === "response.output_item.done") this.#output.push(JSON.parse(data).item);
      const edits = { sequence_number: this.#log!.length, ...(changed === undefined ? {} : { response: changed }) };
      this.#log!.add(`event: ${type}\ndata: ${editMembers(data, edits)}\n\n`);
    }
  }

  /** Stores the final response, unless another process has ended it. */
  async #finish(final: JsonObject): Promise<void> {
    const { records, ref } = this.#parts;
    let response = final;
    try {
      if (this.#cause === "deleted") await records.delete(ref);
      else response = await this.#store(final);
    } finally {
      const type = findLastEvent(response);
      this.#log?.end(formatEvent(type, { type, sequence_number: this.#log.length, response }));
    }
  }

  async #store(final: JsonObject): Promise<JsonObject> {
    const { records, ref, clock } = this.#parts;
    for (let attempt = 0;; attempt++) {
      try {
        await this.#log?.flush();
        const events = this.#log?.length;
        const stored = await records.end(ref, () => ({ response: final, ...(events === undefined ? {} : { events }) }));
        if (stored === undefined) await records.delete(ref); // it was deleted elsewhere: so are its events
        return stored?.response ?? final;
      } catch (error) {
        const delayMs = storeDelaysMs[attempt];
        if (delayMs === undefined || this.#cause === "stopped") throw error;
        await clock.sleep(delayMs);
      }
    }
  }

  /** Ends the work if another process has cancelled or deleted the response. A failure of the storage is ignored. */
  async #check(): Promise<void> {
    const { records, ref, stamp: before } = this.#parts;
    const stamp = await records.readStamp(ref);
    if (stamp === before) return;
    this.stop(stamp === undefined ? "deleted" : "cancelled").catch(() => {}); // it is reported where it ends
  }
}

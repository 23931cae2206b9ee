/**
 * Stored responses as records of the storage.
 * @module
 */
import { isUnderWay } from "../../dialects/responses/background.ts";
import { findCreationTime } from "../../dialects/responses/stored_response.ts";
import type { JsonObject } from "../../contracts/openai.ts";
import type { Clock } from "../../contracts/runtime.ts";
import type { Storage } from "../../contracts/storage.ts";
import { ConnectorError } from "../../errors.ts";
import { RecordLock } from "../../state/persistence/record_lock.ts";
import { isObject } from "../../util/is_object.ts";
import { ResponseBounds } from "./response_bounds.ts";

/** Prefix of all records. */
const prefix = "responses/";

/** Maximum size of a record, bytes; storages read no larger ones than twice that. */
const maxRecordBytes = 32 * 1024 * 1024;

/** Locking of concurrent changes, ms. */
const locking = { timeoutMs: 10_000, retryIntervalMs: 20 };

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A response of a client. */
export interface ResponseRef {
  /** Hash of the client's identity. */
  readonly owner: string;
  readonly id: string;
}

/** What is stored of a response. */
export interface ResponseRecord {
  readonly version: 1;
  /** As returned to the client. */
  readonly response: JsonObject;
  /** The items that its request has added to the conversation, as received. */
  readonly input: readonly JsonObject[];
  /** The ids of the last responses before it, oldest first, without a gap. */
  readonly ancestors: readonly string[];
  /** Whether its events are stored: those of a background response that is streamed. */
  readonly isStreamed?: boolean;
  /** The process that works on it in the background. */
  readonly runner?: string;
  /** Number of events before the last one, once the work has ended. */
  readonly events?: number;
  /** Whether another process than its runner has ended it. */
  readonly isCut?: boolean;
}

/** The stored responses of all clients. */
export class ResponseRecords {
  readonly bounds: ResponseBounds;
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #maxBytes: number;

  constructor(parts: {
    readonly storage: Storage;
    readonly clock: Clock;
    readonly ttlMs: number;
    readonly maxBytes: number;
  }) {
    const { storage, clock, maxBytes } = parts;
    this.#storage = storage;
    this.#clock = clock;
    this.#maxBytes = Math.min(maxRecordBytes, maxBytes);
    this.bounds = new ResponseBounds({ ...parts, prefix });
  }

  /**
   * Loads a response.
   *
   * @returns Undefined if the client has none with this id, or it has expired.
   * @throws {ConnectorError} If the storage fails.
   */
  async load(ref: ResponseRef): Promise<ResponseRecord | undefined> {
    if (!this.#isCurrent(ref)) return undefined;
    const bytes = await this.#storage.load(toKey(ref));
    return bytes === undefined ? undefined : checkRecord(parse(bytes, ref), ref);
  }

  /** Whether there is a record of a response, readable or not. */
  async has(ref: ResponseRef): Promise<boolean> {
    return this.#isCurrent(ref) && await this.#storage.exists(toKey(ref));
  }

  #isCurrent({ id }: ResponseRef): boolean {
    return findCreationTime(id) !== undefined && !this.bounds.isExpired(id);
  }

  /**
   * Saves a response.
   *
   * @throws {ConnectorError} If the storage fails, or the response is too large for it.
   */
  async save(ref: ResponseRef, record: ResponseRecord): Promise<void> {
    await this.#save(toKey(ref), record);
  }

  /** Identifies a version of a response; undefined if there is none. */
  async readStamp(ref: ResponseRef): Promise<string | undefined> {
    const stat = await this.#storage.stat(toKey(ref));
    return stat && `${stat.modifiedAt} ${stat.size}`;
  }

  /** Saves events of a response. The records of one response are numbered from 0. */
  async saveEvents(ref: ResponseRef, number: number, events: readonly string[]): Promise<void> {
    await this.#save(toEventsKey(ref, number), { events }); // storages take only objects for JSON
  }

  /** Loads such a record; undefined if there is none yet. */
  async loadEvents(ref: ResponseRef, number: number): Promise<readonly string[] | undefined> {
    const bytes = await this.#storage.load(toEventsKey(ref, number));
    return bytes === undefined ? undefined : checkEvents(parse(bytes, ref), ref);
  }

  /**
   * Ends work in the background, unless it has ended.
   *
   * @param end Returns the final response and the number of its events.
   * @returns The record after that; undefined if there is none.
   */
  async end(
    ref: ResponseRef,
    end: (record: ResponseRecord) => Pick<ResponseRecord, "response" | "events" | "isCut">,
  ): Promise<ResponseRecord | undefined> {
    return await this.#change(ref, (record) => isUnderWay(record.response) ? { ...record, ...end(record) } : undefined);
  }

  /** Deletes a response with all of its records; false if there was none. */
  async delete(ref: ResponseRef): Promise<boolean> {
    const key = toKey(ref);
    const others = (await this.#storage.list(`${key}/`)).map((other) => this.#storage.delete(other));
    const [isDeleted] = await Promise.all([this.#storage.delete(key), ...others]);
    this.bounds.remove(key);
    return isDeleted;
  }

  /**
   * Changes a response, without losing changes of other processes.
   *
   * @param change Returns the new record; undefined to leave it as it is.
   * @returns The record after that; undefined if there is none.
   */
  async #change(
    ref: ResponseRef,
    change: (record: ResponseRecord) => ResponseRecord | undefined,
  ): Promise<ResponseRecord | undefined> {
    const key = toKey(ref);
    let latest: ResponseRecord | undefined;
    const lock = new RecordLock({ storage: this.#storage, key: toLockKey(ref), locking, clock: this.#clock });
    await lock.run(async (isOurs) => {
      latest = await this.load(ref);
      const changed = latest && change(latest);
      if (!isOurs()) return false;
      if (changed !== undefined) await this.#save(key, changed);
      latest = changed ?? latest;
      return true;
    });
    return latest;
  }

  async #save(key: string, value: unknown): Promise<void> {
    const bytes = encoder.encode(JSON.stringify(value));
    if (bytes.length > this.#maxBytes) {
      const message = `Cannot store a response of ${bytes.length} bytes: up to ${this.#maxBytes} bytes are stored`;
      throw new ConnectorError(message, undefined, "full");
    }
    await this.#storage.save(key, bytes);
    this.bounds.add(key, bytes.length);
  }
}

/** Responses share a few locks, since some storages never delete one. */
function toLockKey({ id }: ResponseRef): string {
  return `${prefix}change/${id.at(-1)}`;
}

function toEventsKey(ref: ResponseRef, number: number): string {
  return `${toKey(ref)}/${String(number).padStart(6, "0")}`;
}

function toKey({ owner, id }: ResponseRef): string {
  return `${prefix}${owner}/${id}`;
}

function parse(bytes: Uint8Array, ref: ResponseRef): JsonObject {
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes));
    if (isObject(value)) return value;
  } catch { /* unreadable, too */ }
  throw unreadable(ref);
}

function checkRecord(value: JsonObject, ref: ResponseRef): ResponseRecord {
  const { version, response, input, ancestors } = value;
  if (version !== 1 || !isObject(response) || !Array.isArray(input) || !Array.isArray(ancestors)) throw unreadable(ref);
  return value as unknown as ResponseRecord;
}

function checkEvents({ events }: JsonObject, ref: ResponseRef): readonly string[] {
  if (Array.isArray(events)) return events;
  throw unreadable(ref);
}

function unreadable({ id }: ResponseRef): ConnectorError {
  return new ConnectorError(`The record of "${id}" is not what this version writes`, undefined, "unreadable");
}

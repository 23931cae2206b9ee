/**
 * The record of all clients in a storage. It is read when it has changed, and written under a lock.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import { RecordLock } from "../../state/persistence/record_lock.ts";
import type { Storage } from "../../contracts/storage.ts";
import { type ClientsDocument, noClients, readDocument } from "./client_record.ts";

const recordKey = "clients";

/** Locking of concurrent changes, ms. */
const locking = { timeoutMs: 10_000, retryIntervalMs: 20 };

/**
 * A record that was just written is read again for this long, ms: some storages round times to seconds, and a second
 * change within the same second would be missed.
 */
const unsettledMs = 2_500;

/** One process's view of the record. */
export class ClientRecords {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #lock: RecordLock;
  #last: Promise<unknown> = Promise.resolve();
  /** Facts about the record when it was last read. */
  #stat: string | undefined;
  #settledAt = -Infinity;
  #text: string | undefined;
  /** Number of changes made in this process. */
  #changes = 0;

  constructor(storage: Storage, clock: Clock) {
    this.#storage = storage;
    this.#clock = clock;
    this.#lock = new RecordLock({ storage, key: recordKey, locking, clock });
  }

  /**
   * Returns the record if it has changed since the last read.
   *
   * @throws {ConnectorError} If it cannot be read.
   */
  async changedDocument(): Promise<ClientsDocument | undefined> {
    const stat = await this.#storage.stat(recordKey);
    const seen = stat === undefined ? "" : `${stat.modifiedAt} ${stat.size}`;
    const now = this.#clock.monotonic();
    if (seen === this.#stat && now >= this.#settledAt) return undefined;
    const changes = this.#changes;
    const text = seen === "" ? "" : await this.#load();
    if (changes !== this.#changes) return undefined; // read before a local change: the next check detects it
    if (seen !== this.#stat) this.#settledAt = now + unsettledMs;
    this.#stat = seen;
    if (text === this.#text) return undefined;
    const document = text === "" ? noClients : readDocument(text);
    this.#text = text;
    return document;
  }

  /**
   * Changes the current record in the storage, without losing changes of other processes.
   *
   * @param change Returns the new record, or throws.
   * @returns The new record.
   * @throws {ConnectorError} If it cannot be read or written.
   */
  change(change: (document: ClientsDocument) => ClientsDocument): Promise<ClientsDocument> {
    const changed = this.#last.then(() => this.#change(change));
    this.#last = changed.catch(() => {});
    return changed;
  }

  async #change(change: (document: ClientsDocument) => ClientsDocument): Promise<ClientsDocument> {
    let written = noClients;
    await this.#lock.run(async (isOurs) => {
      const before = await this.#load();
      written = change(before === "" ? noClients : readDocument(before));
      if (!isOurs()) return false;
      const text = JSON.stringify(written);
      this.#changes++;
      await this.#storage.save(recordKey, new TextEncoder().encode(text));
      this.#changes++;
      this.#text = text;
      return true;
    });
    return written;
  }

  async #load(): Promise<string> {
    const bytes = await this.#storage.load(recordKey);
    return bytes === undefined ? "" : new TextDecoder().decode(bytes);
  }
}

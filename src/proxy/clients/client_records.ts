/**
 * The record of all clients in a storage: read when it has changed, written under a lock.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import { RecordLock } from "../../state/persistence/record_lock.ts";
import type { Storage } from "../../contracts/storage.ts";
import { type ClientsDocument, noClients, readDocument } from "./client_record.ts";

const recordKey = "clients";

/** How an administrator's request waits for another one, ms. */
const locking = { timeoutMs: 10_000, retryIntervalMs: 20 };

/**
 * A record that was just written is read again for so long, ms: a storage may date writes in whole seconds, and another one in the same
 * second would be overlooked.
 */
const unsettledMs = 2_500;

/** One process's view of the record. */
export class ClientRecords {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #lock: RecordLock;
  #last: Promise<unknown> = Promise.resolve();
  /** What was known of the record when it was read last. */
  #stat: string | undefined;
  #settledAt = -Infinity;
  #text: string | undefined;
  /** How many changes were made here. */
  #changes = 0;

  constructor(storage: Storage, clock: Clock) {
    this.#storage = storage;
    this.#clock = clock;
    this.#lock = new RecordLock({ storage, key: recordKey, locking, clock });
  }

  /**
   * The record, where it is another one than last time.
   *
   * @throws {ConnectorError} When it cannot be read.
   */
  async changedDocument(): Promise<ClientsDocument | undefined> {
    const stat = await this.#storage.stat(recordKey);
    const seen = stat === undefined ? "" : `${stat.modifiedAt} ${stat.size}`;
    const now = this.#clock.monotonic();
    if (seen === this.#stat && now >= this.#settledAt) return undefined;
    const changes = this.#changes;
    const text = seen === "" ? "" : await this.#load();
    if (changes !== this.#changes) return undefined; // read before it was changed here: the next look sees it
    if (seen !== this.#stat) this.#settledAt = now + unsettledMs;
    this.#stat = seen;
    if (text === this.#text) return undefined;
    const document = text === "" ? noClients : readDocument(text);
    this.#text = text;
    return document;
  }

  /**
   * Changes the record as it is now in the storage: no change of another process is lost.
   *
   * @param change Returns the new record, or throws.
   * @returns The new record.
   * @throws {ConnectorError} When it cannot be read or written.
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

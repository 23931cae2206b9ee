/**
 * The record of all clients in a storage. It is read when it has changed, and written under a lock.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import type { Storage } from "../../contracts/storage.ts";
import { RecordLock } from "../../state/persistence/record_lock.ts";
import { loadBudgetWindows } from "../../state/limits/budget.ts";
import { dayMs } from "../../util/windows.ts";
import { usageDays } from "../usage/daily_usage.ts";
import { type ClientsDocument, noClients, readDocument, type StoredClient } from "./client_record.ts";

const recordKey = "clients";

/** Locking of concurrent changes, ms. */
const locking = { timeoutMs: 10_000, retryIntervalMs: 20 };

/**
 * A record that was just written is read again for this long, ms: some storages round times to seconds, and a second
 * change within the same second would be missed.
 */
const unsettledMs = 2_500;

/** How long the revocation of a client is stored, as its usage is, ms. */
const revokedMs = usageDays * dayMs;

/**
 * One process's view of the record. A storage that processes share may lose its data, or fail over to a copy that lags
 * behind: what this process knows and the record lacks is written again.
 */
export class ClientRecords {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #lock: RecordLock;
  readonly #onRestored: (count: number) => void;
  #last: Promise<unknown> = Promise.resolve();
  /** Facts about the record when it was last read. */
  #stat: string | undefined;
  #settledAt = -Infinity;
  #text: string | undefined;
  #latest: ClientsDocument;
  /** Number of changes made in this process. */
  #changes = 0;

  constructor(storage: Storage, clock: Clock, { initial = noClients, onRestored = () => {} }: {
    /** The record as already known, from the same storage. */
    readonly initial?: ClientsDocument;
    /** Called when clients that the storage had lost are written again, with their number. */
    readonly onRestored?: (count: number) => void;
  } = {}) {
    this.#storage = storage;
    this.#clock = clock;
    this.#latest = initial;
    this.#onRestored = onRestored;
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
    const document = text === this.#text ? this.#latest : documentIn(text);
    if (this.#restored(document) !== document) return await this.change((restored) => restored);
    if (seen !== this.#stat) this.#settledAt = now + unsettledMs;
    this.#stat = seen;
    if (text === this.#text) return undefined;
    this.#text = text;
    return this.#latest = document;
  }

  /**
   * Changes the current record in the storage, without losing changes of other processes.
   *
   * @param change Returns the new record, or throws.
   * @throws {ConnectorError} If it cannot be read or written.
   */
  change(change: (document: ClientsDocument) => ClientsDocument): Promise<ClientsDocument> {
    const changed = this.#last.then(() => this.#change(change));
    this.#last = changed.catch(() => {});
    return changed;
  }

  async #change(change: (document: ClientsDocument) => ClientsDocument): Promise<ClientsDocument> {
    await this.#lock.run(async (isOurs) => {
      const before = await this.#load();
      const stored = documentIn(before);
      const restored = this.#restored(stored);
      const written = change(restored);
      const text = JSON.stringify(written);
      await importWindows(text);
      if (!isOurs()) return false;
      if (written !== stored) await this.#save(text);
      else this.#text = before; // another process has restored it
      this.#latest = written;
      if (restored !== stored) this.#onRestored(restored.clients.length - stored.clients.length);
      return true;
    });
    return this.#latest;
  }

  async #save(text: string): Promise<void> {
    this.#changes++;
    await this.#storage.save(recordKey, new TextEncoder().encode(text));
    this.#changes++;
    this.#text = text;
  }

  /** The record with what it has lost; the same record if it has lost nothing. */
  #restored(stored: ClientsDocument): ClientsDocument {
    if (this.#storage.shared === undefined) return stored;
    const since = new Date(this.#clock.now() - revokedMs).toISOString();
    return restoreClients(stored, { earlier: this.#latest, since });
  }

  async #load(): Promise<string> {
    const bytes = await this.#storage.load(recordKey);
    const text = bytes === undefined ? "" : new TextDecoder().decode(bytes);
    await importWindows(text);
    return text;
  }
}

/** Imports the code of the windows that budgets of clients may have, before the clients are created. */
async function importWindows(text: string): Promise<void> {
  if (text.includes('"budget":[')) await loadBudgetWindows();
}

function documentIn(text: string): ClientsDocument {
  return text === "" ? noClients : readDocument(text);
}

/**
 * Adds what the record lacks. A client that was revoked stays revoked, whichever of both has it; of two versions of a
 * client the one with more changes counts, so that a replaced token does not come back either.
 *
 * @returns The same record if it lacks nothing.
 */
function restoreClients(stored: ClientsDocument, { earlier, since }: {
  readonly earlier: ClientsDocument;
  /** Revocations are known from then on, ISO 8601. */
  readonly since: string;
}): ClientsDocument {
  const revokedIds = new Set(stored.revoked.map(({ id }) => id));
  const lost = earlier.revoked.filter(({ id, revoked_at }) => revoked_at >= since && !revokedIds.has(id));
  for (const { id } of lost) revokedIds.add(id);
  const versions = new Map(stored.clients.map((client) => [client.id, client]));
  for (const client of earlier.clients) {
    const other = versions.get(client.id);
    if (other === undefined || countChanges(client) > countChanges(other)) versions.set(client.id, client);
  }
  const clients = [...versions.values()].filter(({ id }) => !revokedIds.has(id));
  const isSame = lost.length === 0 && clients.length === stored.clients.length &&
    clients.every((client, index) => client === stored.clients[index]);
  return isSame ? stored : { ...stored, clients, revoked: [...stored.revoked, ...lost] };
}

/** Number of changes since the client was created. */
function countChanges({ revision = 0 }: StoredClient): number {
  return revision;
}

/**
 * Records in the browser's IndexedDB, which persist when page and browser are closed.
 * @module
 */
import type { Clock } from "../../src/contracts/runtime.ts";
import type { Lock, LockOptions, Storage, StorageStat } from "../../src/contracts/storage.ts";
import { ConnectorError } from "../../src/errors.ts";
import type {
  Database,
  DatabaseFactory,
  ObjectStore,
  OpenRequest,
  PendingRequest,
  Transaction,
} from "./_indexed_db.ts";
import { acquireLock, isHeld, isHeldByOther, type LockRecord } from "./_lock.ts";
import { isFull } from "./_web_storage.ts";

const id = "mesh.indexeddb.v1";
const instead = "localStorageStorage() or memoryStorage()";

/** Schema version: one object store, with keys `["data", key]` for records and `["lock", key]` for locks. */
const version = 1;
const storeName = "records";

/** Options of an {@linkcode IndexedDbStorage}. */
export interface IndexedDbOptions {
  /** Name of the database, which must not be used for anything else. @default {"modelmesh"} */
  readonly database?: string;
  /** Replaces the browser's `indexedDB`. */
  readonly factory?: { open(name: string, version: number): unknown };
}

/** A stored record. */
interface StoredRecord {
  readonly data: Uint8Array;
  readonly modifiedAt: number;
}

/**
 * Records in IndexedDB, limited only by the browser's quota. Also available in workers. Any script of the site can read
 * them. Locks are exact across all tabs and workers of the site.
 */
export class IndexedDbStorage implements Storage {
  readonly #clock: Clock;
  readonly #name: string;
  readonly #factory: DatabaseFactory | undefined;
  #database: Promise<Database> | undefined;

  /**
   * Creates a storage; does not open the database yet.
   *
   * @param clock Clock, for the times of records and locks.
   * @param options Database name and factory.
   */
  constructor(clock: Clock, { database = "modelmesh", factory }: IndexedDbOptions = {}) {
    this.#clock = clock;
    this.#name = database;
    this.#factory = factory as DatabaseFactory | undefined;
  }

  async load(key: string): Promise<Uint8Array | undefined> {
    return (await this.#find(key))?.data;
  }

  async save(key: string, data: Uint8Array): Promise<void> {
    const record: StoredRecord = { data: data.slice(), modifiedAt: this.#clock.now() }; // a view would store its whole buffer
    await this.#transact("save", key, (store) => request(store.put(record, ["data", key])));
  }

  async list(prefix = ""): Promise<readonly string[]> {
    // in key order, strings precede arrays, and "lock" follows "data"
    const found = await this.#transact("list", prefix, (store) => request(store.getAllKeys()));
    const keys = (found as [kind: string, key: string][]).filter(([kind]) => kind === "data").map(([, key]) => key);
    return keys.filter((key) => key.startsWith(prefix)).sort();
  }

  delete(key: string): Promise<boolean> {
    return this.#transact("delete", key, async (store) => {
      const isThere = await request(store.getKey(["data", key])) !== undefined;
      await request(store.delete(["data", key]));
      return isThere;
    });
  }

  async stat(key: string): Promise<StorageStat | undefined> {
    const record = await this.#find(key);
    return record && { size: record.data.length, modifiedAt: record.modifiedAt };
  }

  async exists(key: string): Promise<boolean> {
    return await this.#transact("read", key, (store) => request(store.getKey(["data", key]))) !== undefined;
  }

  /** Acquires a lock. Exact, since it is read and written in one transaction. */
  acquire(key: string, options: LockOptions): Promise<Lock> {
    return acquireLock(
      { connector: id, clock: this.#clock, key, options },
      (wanted: LockRecord) =>
        this.#transact("lock", key, async (store) => {
          const current = await request(store.get(["lock", key]));
          if (isHeldByOther(current, wanted.owner, this.#clock.now())) return false;
          await request(store.put(wanted, ["lock", key]));
          return true;
        }),
    );
  }

  release({ key, owner }: Lock): Promise<void> {
    return this.#transact("unlock", key, async (store) => {
      const current = await request(store.get(["lock", key]));
      if (Object(current).owner === owner) await request(store.delete(["lock", key]));
    });
  }

  async isLocked(key: string): Promise<boolean> {
    return isHeld(await this.#transact("read", key, (store) => request(store.get(["lock", key]))), this.#clock.now());
  }

  async #find(key: string): Promise<StoredRecord | undefined> {
    const found: unknown = await this.#transact("read", key, (store) => request(store.get(["data", key])));
    if (found === undefined) return undefined;
    const { data, modifiedAt } = Object(found);
    if (data instanceof Uint8Array && Number.isFinite(modifiedAt)) return { data, modifiedAt };
    throw createIndexedDbError(
      `cannot read "${key}": the record in the database "${this.#name}" is damaged, or belongs to another program. Delete it, ` +
        "or choose another database",
      { problem: "unreadable" },
    );
  }

  /** Runs a transaction, which is atomic. */
  async #transact<T>(action: string, key: string, work: (store: ObjectStore) => Promise<T>): Promise<T> {
    const mode = action === "read" || action === "list" ? "readonly" : "readwrite";
    const database = await this.#connect();
    try {
      const transaction = database.transaction(storeName, mode);
      const [done, ended] = await Promise.allSettled([
        work(transaction.objectStore(storeName)),
        completion(transaction),
      ]);
      if (ended.status === "rejected") throw ended.reason; // the cause of the abort, which the request itself does not report
      if (done.status === "rejected") throw done.reason;
      return done.value;
    } catch (cause) {
      throw isFull(cause)
        ? createIndexedDbError(
          `cannot save "${key}": the browser's quota for this site is exceeded. Delete what the site no longer needs, or ` +
            "free space on the disk",
          { cause, problem: "full" },
        )
        : createIndexedDbError(`cannot ${action} "${key}": IndexedDB failed (see the error's cause)`, { cause });
    }
  }

  #connect(): Promise<Database> {
    return this.#database ??= this.#open().catch((error) => {
      this.#database = undefined; // the failure may be temporary: the next call opens the database again
      throw error;
    });
  }

  async #open(): Promise<Database> {
    const database = await openDatabase(this.#openRequest(), this.#name);
    // closes the connection so that another page can delete or upgrade the database; the next call reopens it
    database.onversionchange = () => this.#leave(database);
    database.onclose = () => this.#leave(database);
    if (database.objectStoreNames.contains(storeName)) return database;
    database.close();
    throw foreignDatabase(this.#name);
  }

  #leave(database: Database): void {
    database.close();
    this.#database = undefined;
  }

  #openRequest(): OpenRequest {
    let factory: DatabaseFactory | null | undefined = this.#factory;
    try {
      factory ??= (globalThis as { indexedDB?: DatabaseFactory | null }).indexedDB;
      if (factory !== null && factory !== undefined) return factory.open(this.#name, version);
    } catch (cause) {
      throw forbidden(cause);
    }
    throw createIndexedDbError(`cannot be used: there is no IndexedDB here. Use ${instead}`, { problem: "forbidden" });
  }
}

function request<T>(pending: PendingRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    pending.onsuccess = () => resolve(pending.result);
    pending.onerror = () => reject(pending.error);
  });
}

/** A write is durable when its transaction has completed, not when its request has. */
function completion(transaction: Transaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}

function openDatabase(pending: OpenRequest, name: string): Promise<Database> {
  return new Promise((resolve, reject) => {
    let isGivenUp = false;
    pending.onupgradeneeded = () => pending.result.createObjectStore(storeName);
    pending.onsuccess = () => isGivenUp ? pending.result.close() : resolve(pending.result);
    pending.onerror = () =>
      reject(pending.error?.name === "VersionError" ? foreignDatabase(name, pending.error) : forbidden(pending.error));
    pending.onblocked = () => {
      isGivenUp = true;
      reject(createIndexedDbError(
        `cannot be used: another tab has an older version of the database "${name}" open. Close the other tabs of ` +
          "this site, and reload the page",
        { problem: "locked" },
      ));
    };
  });
}

function foreignDatabase(name: string, cause?: unknown): ConnectorError {
  return createIndexedDbError(
    `cannot be used: the database "${name}" belongs to another program, or to a newer release of this package. Reload the ` +
      "page, or choose another database",
    { cause, problem: "forbidden" },
  );
}

function forbidden(cause: unknown): ConnectorError {
  return createIndexedDbError(
    "cannot be used: the browser forbids this page its IndexedDB. Allow the site to store data (cookies count " +
      `as that), do not run it in a frame with a sandbox or in a private window, or use ${instead}`,
    { cause, problem: "forbidden" },
  );
}

function createIndexedDbError(
  what: string,
  { cause, problem }: { cause?: unknown; problem?: ConnectorError["problem"] } = {},
): ConnectorError {
  return new ConnectorError(`"${id}" ${what}`, cause, problem);
}

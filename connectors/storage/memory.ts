/**
 * Records in memory.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { Clock } from "../../src/contracts/runtime.ts";
import type { ExpiringEntries, Lock, LockOptions, Storage, StorageStat } from "../../src/contracts/storage.ts";
import { onceResolved } from "../../src/util/once.ts";
import { acquireLock, isHeld, isHeldByOther, type LockRecord } from "./_lock.ts";

const id = "mesh.memory.v1";

const attributes = {
  max_bytes: {
    type: "size",
    default: 67_108_864,
    about: "Maximum size of all entries of a cache. Beyond it, the least recently used ones are deleted.",
  },
} as const;

/** A storage that does not persist: for tests, and for several meshes in one process. */
export class MemoryStorage implements Storage {
  /** Entries that expire, the code of which is imported with the first call. */
  readonly entries: ExpiringEntries;
  readonly #clock: Clock;
  readonly #records = new Map<string, { readonly data: Uint8Array; readonly modifiedAt: number }>();
  readonly #locks = new Map<string, LockRecord>();

  /**
   * @param clock Clock, for the times of records, locks and entries.
   * @param maxBytes Maximum size of all entries.
   */
  constructor(clock: Clock, maxBytes: number = attributes.max_bytes.default) {
    this.#clock = clock;
    let opened: Pick<ExpiringEntries, "held"> = { held: { entries: 0, bytes: 0 } };
    const open = onceResolved(async () =>
      opened = new (await import("../../src/util/memory_entries.ts")).MemoryEntries(clock, maxBytes)
    );
    this.entries = {
      get held() {
        return opened.held;
      },
      get: async (key) => (await open()).get(key),
      set: async (key, data, expiresAt) => (await open()).set(key, data, expiresAt),
      delete: async (key) => (await open()).delete(key),
      stats: async () => (await open()).stats(),
      clear: async () => (await open()).clear(),
    };
  }

  load(key: string): Promise<Uint8Array | undefined> {
    return Promise.resolve(this.#records.get(key)?.data.slice());
  }

  save(key: string, data: Uint8Array): Promise<void> {
    this.#records.set(key, { data: data.slice(), modifiedAt: this.#clock.now() });
    return Promise.resolve();
  }

  list(prefix = ""): Promise<readonly string[]> {
    return Promise.resolve([...this.#records.keys()].filter((key) => key.startsWith(prefix)).sort());
  }

  delete(key: string): Promise<boolean> {
    return Promise.resolve(this.#records.delete(key));
  }

  stat(key: string): Promise<StorageStat | undefined> {
    const record = this.#records.get(key);
    return Promise.resolve(record && { size: record.data.length, modifiedAt: record.modifiedAt });
  }

  exists(key: string): Promise<boolean> {
    return Promise.resolve(this.#records.has(key));
  }

  /** Acquires a lock, shared by all users of this object. */
  acquire(key: string, options: LockOptions): Promise<Lock> {
    return acquireLock({ connector: id, clock: this.#clock, key, options }, (wanted) => {
      const isFree = !isHeldByOther(this.#locks.get(key), wanted.owner, this.#clock.now());
      if (isFree) this.#locks.set(key, wanted);
      return Promise.resolve(isFree);
    });
  }

  release({ key, owner }: Lock): Promise<void> {
    if (this.#locks.get(key)?.owner === owner) this.#locks.delete(key);
    return Promise.resolve();
  }

  isLocked(key: string): Promise<boolean> {
    return Promise.resolve(isHeld(this.#locks.get(key), this.#clock.now()));
  }
}

/** Storage in memory. */
export const memoryStorageConnector: Connector<"storage"> = {
  id,
  kind: "storage",
  sharing: "none",
  hasEntries: true,
  attributes,
  create: ({ max_bytes: maxBytes }, { clock }) => new MemoryStorage(clock, maxBytes as number | undefined),
};

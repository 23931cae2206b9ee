/**
 * Records in the browser's `localStorage`, which persist when page and browser are closed.
 * @module
 */
import type { Clock } from "../../src/contracts/runtime.ts";
import type { Lock, LockOptions, Storage, StorageStat } from "../../src/contracts/storage.ts";
import { ConnectorError } from "../../src/errors.ts";
import { acquireLock, isHeld, isHeldByOther, type LockRecord } from "./_lock.ts";
import { checkedPrefix, WebArea, type WebStorage } from "./_web_storage.ts";
import { fromBase64, toBase64 } from "../../src/util/base64.ts";

export type { WebStorage };

const id = "mesh.localstorage.v1";
const instead = "indexedDbStorage() or memoryStorage()";

/** Time until a write is visible to other tabs, ms. */
const settlingMs = 50;

/** Options of a {@linkcode LocalStorageStorage}. */
export interface LocalStorageOptions {
  /** Prefix of the item keys: letters, digits, `_` and `-`. @default {"modelmesh"} */
  readonly prefix?: string;
  /** Replaces the browser's `localStorage`, for example with `sessionStorage`. */
  readonly area?: WebStorage;
}

/**
 * Small records in `localStorage`. Its quota is about five million characters per site, shared with all other data of
 * the site, and it stores only strings: a record takes four characters for three bytes, plus about fifteen. Any script
 * of the site can read the records. Writes block the page: for more than some hundred kilobytes, use
 * `mesh.indexeddb.v1`.
 *
 * Locks: `localStorage` has no compare-and-set. A lock is written, and read again after 50 ms; of two tabs at the same
 * moment, the last write wins. Locks are exclusive as long as browsers show a write to other tabs within that time,
 * which they usually do but do not guarantee. For guaranteed locks use `mesh.indexeddb.v1`.
 */
export class LocalStorageStorage implements Storage {
  readonly #clock: Clock;
  readonly #records: WebArea;
  readonly #locks: WebArea;

  /**
   * Creates a storage; does not access `localStorage` yet.
   *
   * @param clock Clock, for the times of records and locks.
   * @param options Prefix and storage area.
   * @throws {ConnectorError} If the prefix is invalid.
   */
  constructor(clock: Clock, { prefix = "modelmesh", area }: LocalStorageOptions = {}) {
    const start = checkedPrefix(prefix, id);
    const parts = { connector: id, name: "localStorage", area, instead } as const;
    this.#clock = clock;
    this.#records = new WebArea({ ...parts, prefix: `${start}.data.` });
    this.#locks = new WebArea({ ...parts, prefix: `${start}.lock.` });
  }

  load(key: string): Promise<Uint8Array | undefined> {
    return afterSettling(() => {
      const found = this.#find(key);
      return found && this.#decodeBytes(found.base64, key);
    });
  }

  save(key: string, data: Uint8Array): Promise<void> {
    return afterSettling(() => this.#records.set(key, `${this.#clock.now()},${toBase64(data)}`));
  }

  list(prefix?: string): Promise<readonly string[]> {
    return afterSettling(() => this.#records.keys(prefix));
  }

  delete(key: string): Promise<boolean> {
    return afterSettling(() => this.#records.delete(key));
  }

  stat(key: string): Promise<StorageStat | undefined> {
    return afterSettling(() => {
      const found = this.#find(key);
      return found && { size: measureBase64(found.base64), modifiedAt: found.modifiedAt };
    });
  }

  exists(key: string): Promise<boolean> {
    return afterSettling(() => this.#records.get(key) !== undefined);
  }

  /** Acquires a lock, within the limits of `localStorage`: see the class. */
  acquire(key: string, options: LockOptions): Promise<Lock> {
    return acquireLock({ connector: id, clock: this.#clock, key, options }, async (wanted) => {
      if (isHeldByOther(this.#lock(key), wanted.owner, this.#clock.now())) return false;
      this.#locks.set(key, JSON.stringify(wanted));
      await this.#clock.sleep(settlingMs); // an abort would leave a lock without an owner
      return this.#lock(key)?.owner === wanted.owner;
    });
  }

  release({ key, owner }: Lock): Promise<void> {
    return afterSettling(() => {
      if (this.#lock(key)?.owner === owner) this.#locks.delete(key);
    });
  }

  isLocked(key: string): Promise<boolean> {
    return afterSettling(() => isHeld(this.#lock(key), this.#clock.now()));
  }

  #find(key: string): { readonly modifiedAt: number; readonly base64: string } | undefined {
    const text = this.#records.get(key);
    if (text === undefined) return undefined;
    const comma = text.indexOf(",");
    const [modifiedAt, base64] = [text.slice(0, comma), text.slice(comma + 1)];
    if (!/^\d{1,15}$/.test(modifiedAt) || base64.length % 4 !== 0) throw this.#unreadable(key);
    return { modifiedAt: Number(modifiedAt), base64 };
  }

  #decodeBytes(base64: string, key: string): Uint8Array {
    try {
      return fromBase64(base64);
    } catch (error) {
      throw this.#unreadable(key, error);
    }
  }

  #unreadable(key: string, cause?: unknown): ConnectorError {
    return new ConnectorError(
      `"${id}" cannot read "${key}": the item "${
        this.#records.toItemKey(key)
      }" of localStorage is damaged, or belongs to another ` +
        "program. Delete it, or choose another prefix",
      cause,
      "unreadable",
    );
  }

  /** An invalid lock counts as none. */
  #lock(key: string): LockRecord | undefined {
    try {
      return JSON.parse(this.#locks.get(key) ?? "null") ?? undefined;
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }
}

/** Turns exceptions into rejections, as the contract requires. */
// deno-lint-ignore require-await
async function afterSettling<T>(work: () => T): Promise<T> {
  return work();
}

function measureBase64(base64: string): number {
  return base64.length / 4 * 3 - (base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0);
}

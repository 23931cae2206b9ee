/**
 * Timeouts of storages. A decorator for every storage, since any of them may hang.
 * @module
 */
import { storageTimeoutMs } from "../config/settings/defaults.ts";
import type { Clock } from "../contracts/runtime.ts";
import type {
  ExpiringEntries,
  Lock,
  LockOptions,
  Shared,
  Storage,
  StorageStat,
  UsageRows,
} from "../contracts/storage.ts";
import { ConnectorError } from "../errors.ts";
import { waitWithin } from "../util/within.ts";

/** Timeout of closing, ms. */
const closeTimeoutMs = 5_000;

/** Options of a {@linkcode TimedStorage}. */
interface TimedStorageOptions {
  /** Its name in error messages, such as `The storage "aws.s3.v1"`. */
  readonly title: string;
  readonly clock: Pick<Clock, "after">;
}

/** A storage whose calls fail when it does not respond. */
export class TimedStorage implements Storage {
  readonly #inner: Storage;
  readonly #options: TimedStorageOptions;

  constructor(inner: Storage, options: TimedStorageOptions) {
    this.#inner = inner;
    this.#options = options;
  }

  /** Its users time out the calls: they continue without it much earlier. */
  get shared(): Shared | undefined {
    return this.#inner.shared;
  }

  /** Its rows, whose calls time out. */
  get usage(): UsageRows | undefined {
    const { usage } = this.#inner;
    return usage && {
      add: (id, rows) => this.#timed("add usage", () => usage.add(id, rows)),
      read: (from, to) => this.#timed("read usage", () => usage.read(from, to)),
      drop: (before) => this.#timed("delete usage", () => usage.drop(before)),
    };
  }

  /** Its entries, whose calls time out. */
  get entries(): ExpiringEntries | undefined {
    const { entries } = this.#inner;
    return entries && {
      get held() {
        return entries.held;
      },
      get: (key) => this.#timed("read an entry", () => entries.get(key)),
      set: (key, data, expiresAt) => this.#timed("write an entry", () => entries.set(key, data, expiresAt)),
      delete: (key) => this.#timed("delete an entry", () => entries.delete(key)),
      stats: () => this.#timed("count its entries", () => entries.stats()),
      clear: () => this.#timed("delete its entries", () => entries.clear()),
    };
  }

  load(key: string): Promise<Uint8Array | undefined> {
    return this.#timed(`load "${key}"`, () => this.#inner.load(key));
  }

  save(key: string, data: Uint8Array): Promise<void> {
    return this.#timed(`save "${key}"`, () => this.#inner.save(key, data));
  }

  list(prefix?: string): Promise<readonly string[]> {
    return this.#timed("list its records", () => this.#inner.list(prefix));
  }

  delete(key: string): Promise<boolean> {
    return this.#timed(`delete "${key}"`, () => this.#inner.delete(key));
  }

  stat(key: string): Promise<StorageStat | undefined> {
    return this.#timed(`read the metadata of "${key}"`, () => this.#inner.stat(key));
  }

  exists(key: string): Promise<boolean> {
    return this.#timed(`look for "${key}"`, () => this.#inner.exists(key));
  }

  /** The wait for another owner is not part of the timeout. */
  acquire(key: string, options: LockOptions): Promise<Lock> {
    const waitMs = options.timeoutMs ?? 30_000;
    return this.#timed(`lock "${key}"`, () => this.#inner.acquire(key, options), waitMs + storageTimeoutMs);
  }

  release(lock: Lock): Promise<void> {
    return this.#timed(`unlock "${lock.key}"`, () => this.#inner.release(lock));
  }

  isLocked(key: string): Promise<boolean> {
    return this.#timed(`look for the lock of "${key}"`, () => this.#inner.isLocked(key));
  }

  async close(): Promise<void> {
    const { close } = this.#inner;
    if (close !== undefined) await this.#timed("close", () => close.call(this.#inner), closeTimeoutMs);
  }

  #timed<T>(task: string, start: () => Promise<T>, ms: number = storageTimeoutMs): Promise<T> {
    const { title, clock } = this.#options;
    const expired = () =>
      new ConnectorError(`${title} cannot ${task}: it did not respond within ${ms / 1000} s`, undefined, "unavailable");
    return waitWithin(start, { clock, ms, expired });
  }
}

/**
 * Limits the age and the size of what is stored of responses.
 * @module
 */
import { findCreationTime } from "../../dialects/responses/stored_response.ts";
import type { Cancel, Clock } from "../../contracts/runtime.ts";
import type { Storage } from "../../contracts/storage.ts";

/** Interval at which responses that other processes have stored become known, ms. */
const refreshMs = 10_000;

/** Interval at which expired responses are deleted, if none is stored meanwhile, ms. */
const sweepMs = 600_000;

/** Records whose sizes are requested at once. */
const concurrency = 32;

/** Dependencies of {@linkcode ResponseBounds}. */
interface BoundsParts {
  readonly storage: Storage;
  readonly clock: Clock;
  /** Prefix of all records. */
  readonly prefix: string;
  readonly ttlMs: number;
  readonly maxBytes: number;
}

/** The records of one response. */
interface StoredSize {
  readonly keys: Map<string, number>;
  bytes: number;
}

/** The sizes of all stored responses, as known to one process. */
export class ResponseBounds {
  readonly #parts: BoundsParts;
  /** By the key of the response, oldest first. */
  #sizes = new Map<string, StoredSize>();
  #bytes = 0;
  /** When the records were last listed, monotonic ms. */
  #listedAt = -Infinity;
  #last: Promise<void> = Promise.resolve();
  #hasAdded = false;
  readonly #cancel: Cancel;

  constructor(parts: BoundsParts) {
    const { clock } = this.#parts = parts;
    this.#cancel = clock.every(refreshMs, async () => {
      if (this.#hasAdded || clock.monotonic() - this.#listedAt >= sweepMs) await this.refresh();
    });
  }

  /** Stops deleting expired responses. */
  stop(): void {
    this.#cancel();
  }

  /** Whether a response has expired. */
  isExpired(id: string): boolean {
    return (findCreationTime(id) ?? -Infinity) <= this.#parts.clock.now() - this.#parts.ttlMs;
  }

  /** Notes that a record was saved. */
  add(key: string, bytes: number): void {
    const name = this.#toName(key);
    const stored = this.#sizes.get(name) ?? { keys: new Map(), bytes: 0 };
    const change = bytes - (stored.keys.get(key) ?? 0);
    stored.keys.set(key, bytes);
    stored.bytes += change;
    this.#bytes += change;
    this.#sizes.set(name, stored);
    this.#hasAdded = true;
  }

  /** Notes that all records of a response were deleted. */
  remove(name: string): void {
    this.#bytes -= this.#sizes.get(name)?.bytes ?? 0;
    this.#sizes.delete(name);
  }

  /**
   * Deletes expired responses, and the oldest ones beyond the maximum size. One call after the other.
   *
   * @throws {ConnectorError} If the storage fails.
   */
  apply(): Promise<void> {
    return this.#enqueue(() => this.#apply());
  }

  /**
   * Does so after it has read what other processes have stored.
   *
   * @throws {ConnectorError} If the storage fails.
   */
  refresh(): Promise<void> {
    return this.#enqueue(async () => {
      await this.#list();
      await this.#apply();
    });
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }

  async #apply(): Promise<void> {
    const { maxBytes, storage } = this.#parts;
    for (const [name, { keys }] of this.#sizes) {
      if (this.#bytes <= maxBytes && !this.isExpired(name.slice(name.lastIndexOf("/") + 1))) return;
      this.remove(name);
      await Promise.all([...keys.keys()].map((key) => storage.delete(key)));
    }
  }

  /** Reads which records there are. */
  async #list(): Promise<void> {
    const { storage, prefix, clock } = this.#parts;
    this.#listedAt = clock.monotonic();
    this.#hasAdded = false;
    const keys = await storage.list(prefix);
    const present = new Set(keys);
    for (const [name, { keys: own }] of this.#sizes) {
      if (![...own.keys()].some((key) => present.has(key))) this.remove(name);
    }
    const unknown = keys.filter((key) => !this.#sizes.get(this.#toName(key))?.keys.has(key));
    for (let at = 0; at < unknown.length; at += concurrency) {
      await Promise.all(
        unknown.slice(at, at + concurrency).map(async (key) => {
          const stat = await storage.stat(key);
          if (stat !== undefined) this.add(key, stat.size);
        }),
      );
    }
    if (unknown.length > 0) this.#sizes = new Map([...this.#sizes].sort(byAge));
  }

  /** The key of the response that a record belongs to. */
  #toName(key: string): string {
    const { prefix } = this.#parts;
    return prefix + key.slice(prefix.length).split("/", 2).join("/");
  }
}

function byAge([earlier]: readonly [string, unknown], [later]: readonly [string, unknown]): number {
  const [first, second] = [earlier, later].map((name) => name.slice(name.lastIndexOf("/") + 1));
  return first! < second! ? -1 : 1;
}

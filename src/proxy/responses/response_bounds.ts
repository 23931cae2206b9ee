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
  /** By the hash of the client's identity. */
  readonly #owners = new Map<string, {
    /** By the key of the response, oldest first. */
    responses: Map<string, StoredSize>;
    bytes: number;
  }>();
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
    const owner = this.#toOwner(name);
    const owned = this.#owners.get(owner) ?? { responses: new Map(), bytes: 0 };
    const stored = owned.responses.get(name) ?? { keys: new Map(), bytes: 0 };
    const change = bytes - (stored.keys.get(key) ?? 0);
    stored.keys.set(key, bytes);
    stored.bytes += change;
    owned.bytes += change;
    this.#bytes += change;
    owned.responses.set(name, stored);
    this.#owners.set(owner, owned);
    this.#hasAdded = true;
  }

  /** Notes that all records of a response were deleted. */
  remove(name: string): void {
    const owner = this.#toOwner(name);
    const owned = this.#owners.get(owner);
    const stored = owned?.responses.get(name);
    if (owned === undefined || stored === undefined) return;
    owned.responses.delete(name);
    owned.bytes -= stored.bytes;
    this.#bytes -= stored.bytes;
    if (owned.responses.size === 0) this.#owners.delete(owner);
  }

  /**
   * Deletes what exceeds the maximum size: the oldest responses of the client that stores the most, so that no client
   * displaces what others have stored. One call after the other.
   *
   * @throws {ConnectorError} If the storage fails.
   */
  apply(): Promise<void> {
    return this.#enqueue(() => this.#reduce());
  }

  /**
   * Deletes expired responses, and what exceeds the maximum size, after it has read what other processes have stored.
   *
   * @throws {ConnectorError} If the storage fails.
   */
  refresh(): Promise<void> {
    return this.#enqueue(async () => {
      await this.#list();
      await this.#deleteExpired();
      await this.#reduce();
    });
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }

  async #reduce(): Promise<void> {
    while (this.#bytes > this.#parts.maxBytes) {
      const [first, ...others] = this.#owners.values();
      const { responses } = others.reduce((most, owned) => owned.bytes > most.bytes ? owned : most, first!);
      await this.#delete(...responses.entries().next().value!);
    }
  }

  async #deleteExpired(): Promise<void> {
    for (const { responses } of this.#owners.values()) {
      for (const [name, stored] of responses) {
        if (!this.isExpired(name.slice(name.lastIndexOf("/") + 1))) break;
        await this.#delete(name, stored);
      }
    }
  }

  async #delete(name: string, { keys }: StoredSize): Promise<void> {
    this.remove(name);
    await Promise.all([...keys.keys()].map((key) => this.#parts.storage.delete(key)));
  }

  /** Reads which records there are. */
  async #list(): Promise<void> {
    const { storage, prefix, clock } = this.#parts;
    this.#listedAt = clock.monotonic();
    this.#hasAdded = false;
    const keys = await storage.list(prefix);
    const present = new Set(keys);
    for (const { responses } of this.#owners.values()) {
      for (const [name, { keys: own }] of responses) {
        if (![...own.keys()].some((key) => present.has(key))) this.remove(name);
      }
    }
    const unknown = keys.filter((key) => !this.#knows(key));
    for (let at = 0; at < unknown.length; at += concurrency) {
      await Promise.all(
        unknown.slice(at, at + concurrency).map(async (key) => {
          const stat = await storage.stat(key);
          if (stat !== undefined) this.add(key, stat.size);
        }),
      );
    }
    if (unknown.length === 0) return;
    for (const owned of this.#owners.values()) owned.responses = new Map([...owned.responses].sort(byAge));
  }

  #knows(key: string): boolean {
    const name = this.#toName(key);
    return this.#owners.get(this.#toOwner(name))?.responses.get(name)?.keys.has(key) ?? false;
  }

  #toOwner(name: string): string {
    const { length } = this.#parts.prefix;
    return name.slice(length, name.indexOf("/", length));
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

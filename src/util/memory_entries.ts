/**
 * Entries in memory that expire.
 * @module
 */
import type { Clock } from "../contracts/runtime.ts";
import type { EntryStats, ExpiringEntries } from "../contracts/storage.ts";

/** What an entry takes in addition to its data and the characters of its key, bytes; estimated. */
const overheadBytes = 200;

interface Entry {
  readonly data: Uint8Array;
  readonly expiresAt: number;
  /** What it takes, bytes. */
  readonly bytes: number;
}

/** The entries of a `MemoryStorage`. Beyond their maximum size, the least recently used ones are deleted. */
export class MemoryEntries implements ExpiringEntries {
  readonly #clock: Pick<Clock, "now">;
  readonly #maxBytes: number;
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry>();
  /** What all entries take. */
  #bytes = 0;
  #dataBytes = 0;

  /**
   * @param clock Clock by which entries expire.
   * @param maxBytes Maximum size of all entries.
   */
  constructor(clock: Pick<Clock, "now">, maxBytes: number) {
    this.#clock = clock;
    this.#maxBytes = maxBytes;
  }

  /** Number and size of the entries, with those that have expired and were not looked up since. */
  get held(): EntryStats {
    return { entries: this.#entries.size, bytes: this.#dataBytes };
  }

  get(key: string): Promise<Uint8Array | undefined> {
    const entry = this.#take(key);
    if (entry === undefined) return Promise.resolve(undefined);
    this.#put(key, entry); // as the one used last
    return Promise.resolve(entry.data.slice());
  }

  set(key: string, data: Uint8Array, expiresAt: number): Promise<void> {
    this.#take(key);
    const bytes = data.length + 2 * key.length + overheadBytes;
    if (expiresAt <= this.#clock.now() || bytes > this.#maxBytes) return Promise.resolve();
    this.#put(key, { data: data.slice(), expiresAt, bytes });
    if (this.#bytes > this.#maxBytes) this.#shrink();
    return Promise.resolve();
  }

  delete(key: string): Promise<boolean> {
    return Promise.resolve(this.#take(key) !== undefined);
  }

  stats(): Promise<EntryStats> {
    this.#dropExpired();
    return Promise.resolve(this.held);
  }

  clear(): Promise<number> {
    this.#dropExpired();
    const cleared = this.#entries.size;
    this.#entries.clear();
    this.#bytes = this.#dataBytes = 0;
    return Promise.resolve(cleared);
  }

  /** Removes an entry; returns it unless it has expired. */
  #take(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
    this.#dataBytes -= entry.data.length;
    return entry.expiresAt > this.#clock.now() ? entry : undefined;
  }

  #put(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes;
    this.#dataBytes += entry.data.length;
  }

  /** Deletes the least recently used entries until the others fit. */
  #shrink(): void {
    for (const key of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#take(key);
    }
  }

  #dropExpired(): void {
    const now = this.#clock.now();
    for (const [key, { expiresAt }] of this.#entries) if (expiresAt <= now) this.#take(key);
  }
}

/**
 * The cache of responses: what it is asked for each request.
 * @module
 */
import type { CacheSettings } from "../../config/settings/settings.ts";
import type { Clock, StopSignal } from "../../contracts/runtime.ts";
import type { EntryStats, ExpiringEntries } from "../../contracts/storage.ts";
import { DeadlineError, MeshError } from "../../errors.ts";
import type { Hub } from "../../observe/hub.ts";
import type { Pool } from "../../registry/registry.ts";
import { untilAborted } from "../../util/until_aborted.ts";
import { waitAtMost } from "../../util/within.ts";
import type { GuardedDeps } from "../guards/guarding.ts";
import type { ExplainedCache } from "../explain.ts";
import type { RouteDeps, RoutedRequest } from "../request.ts";
import { poolFor } from "../select_pool.ts";
import { type CacheEntry, decodeEntry, encodeEntry, measureForm } from "./cache_entry.ts";
import { createCacheKey } from "./cache_key.ts";
import type { PendingCall } from "./pending_call.ts";
import { CachedRequest, createMissError, type RequestCache } from "./cached_request.ts";
import { findBypass, readCacheControl } from "./cache_policy.ts";

/** Maximum time of a lookup, ms. */
const lookupMs = 100;

/** Time for which a storage that did not respond is not asked again, ms. */
const pauseMs = 1000;

/** Maximum time that the end of the mesh waits for entries to be written, ms. */
const closeMs = 5000;

/** Maximum number of responses that are being written; further ones are not kept. */
const maxWrites = 100;

/** Number of entries of one response that are written at once. */
const batch = 16;

/** Dependencies of the pipeline, with what checks requests and what repeats responses; undefined without them. */
export interface CachedDeps extends GuardedDeps {
  caching?: Caching | undefined;
}

/** Dependencies of the cache. */
interface CachingParts {
  readonly settings: CacheSettings;
  /** Hash of what decides responses in the configuration. */
  readonly generation: string;
  /** Returns the storage of the entries; undefined if it is not open. */
  readonly entries: () => ExpiringEntries | undefined;
  /** The other processes, if each has entries in its own memory. */
  readonly siblings?: { clear(): Promise<void> } | undefined;
  readonly clock: Clock;
  readonly hub: Hub;
}

/** The cache of a mesh. */
export class Caching implements RequestCache {
  readonly settings: CacheSettings;
  /** Calls of models that equal requests may share, by what those have in common. */
  readonly calls: Map<string, PendingCall> = new Map();
  readonly #parts: CachingParts;
  /** Entries that are being written, by key: equal requests already get them. */
  readonly #unwritten = new Map<string, CacheEntry>();
  readonly #pendingWrites = new Set<Promise<void>>();
  /** What the storage has failed at since it last succeeded. */
  readonly #failing = new Set<"read" | "write">();
  /** Until when the storage is not asked, monotonic ms. */
  #pausedUntil = -Infinity;

  constructor(parts: CachingParts) {
    this.#parts = parts;
    this.settings = parts.settings;
  }

  /**
   * Returns what the cache may do for a request; undefined if it passes by.
   *
   * @throws {UnsupportedRequestError} If what it says about the cache is invalid.
   * @throws {MeshError} `cache_miss` if it may not be sent to a model, and its response is not kept.
   */
  async open(request: RoutedRequest, deps: RouteDeps): Promise<CachedRequest | undefined> {
    const control = readCacheControl(request.routingConstraints?.cache);
    const pool = deps.registry.relist === undefined
      ? poolFor(request.model, request, deps.registry)
      : await (await import("../pool_once_listed.ts")).poolOnceListed(request, deps);
    if (!this.#covers(pool) || findBypass(request, control) !== undefined) {
      if (control.mode === "only") throw createMissError();
      if (this.#covers(pool)) this.#parts.hub.publish("cache_lookup", { pool: pool.name, result: "bypass" });
      return undefined;
    }
    const key = await this.createKey(request, pool);
    const { text: _, original, ...facts } = request; // the text may have more than the key, such as members twice
    const sent = original === undefined ? facts : { ...facts, original: original.withoutNative() };
    return new CachedRequest(sent, { key, pool, control, caching: this });
  }

  /**
   * Explains what would be done for a request.
   *
   * @param pool Name of its pool.
   * @throws {UnsupportedRequestError} If what it says about the cache is invalid.
   */
  explain(request: RoutedRequest, pool: string): ExplainedCache {
    const control = readCacheControl(request.routingConstraints?.cache);
    const reason = this.#covers({ name: pool }) ? findBypass(request, control) : "pool";
    return reason === undefined ? { isLookedUp: true } : { isLookedUp: false, reason };
  }

  /**
   * Looks up an entry, for at most 100 ms.
   *
   * @returns Whether the storage failed, if there is none.
   * @throws The reason of the signal, when it aborts.
   */
  async lookup(key: string, { maxAgeMs = Infinity, signal }: {
    readonly maxAgeMs?: number | undefined;
    readonly signal?: StopSignal | undefined;
  }): Promise<{ readonly entry?: CacheEntry | undefined; readonly failed?: true }> {
    const found = await this.#find(key, signal);
    const { entry } = found;
    return entry && !this.#isWithin(entry, Math.min(this.settings.ttlMs, maxAgeMs)) ? {} : found;
  }

  /**
   * Counts what a lookup has led to.
   *
   * @param savedUsd Cost of the response that was repeated.
   */
  count({ name }: Pool, result: "hit" | "miss" | "error", savedUsd?: number): void {
    this.#parts.hub.publish("cache_lookup", { pool: name, result, savedUsd });
  }

  /** Returns the key of a request, in hexadecimal. */
  createKey(request: RoutedRequest, pool: Pool): Promise<string> {
    const { settings: { scope }, generation } = this.#parts;
    return createCacheKey(request, { pool, scope, generation });
  }

  /** Keeps an entry, unless it is too long. The caller does not wait for it. */
  store(key: string, entry: CacheEntry, ttlMs?: number): void {
    if (measureForm(entry.form) <= this.settings.maxEntry) this.storeAll(new Map([[key, entry]]), ttlMs);
  }

  /** Keeps the entries of one response. The caller does not wait for that. */
  storeAll(entries: ReadonlyMap<string, CacheEntry>, ttlMs: number = Infinity): void {
    if (this.#pendingWrites.size >= maxWrites) return;
    for (const [key, entry] of entries) this.#unwritten.set(key, entry);
    const written = this.#writeAll([...entries], ttlMs).catch((error) => this.#fail("write", error)).finally(() => {
      this.#pendingWrites.delete(written);
      for (const [key, entry] of entries) if (this.#unwritten.get(key) === entry) this.#unwritten.delete(key);
    });
    this.#pendingWrites.add(written);
  }

  /** Returns the age of an entry, ms. */
  findAge({ createdAt }: Pick<CacheEntry, "createdAt">): number {
    return Math.max(0, this.#parts.clock.now() - createdAt);
  }

  /** Counts the entries. */
  async stats(): Promise<EntryStats> {
    await this.#settleWrites();
    return await this.#open().stats();
  }

  /** Deletes all entries, also those of other worker processes, and returns how many this one had. */
  async clear(): Promise<number> {
    await this.#settleWrites();
    const cleared = await this.#open().clear();
    await this.#parts.siblings?.clear();
    return cleared;
  }

  /** Resolves when the entries are written, after five seconds at the latest. */
  async close(): Promise<void> {
    await waitAtMost(() => this.#settleWrites(), { clock: this.#parts.clock, ms: closeMs });
  }

  /**
   * Whether an entry is not older than a limit. The age of one from the future is unknown: the clock was set back. Clocks of
   * processes that share entries differ by less.
   */
  #isWithin({ createdAt }: CacheEntry, maxAgeMs: number): boolean {
    return Math.abs(this.#parts.clock.now() - createdAt) <= maxAgeMs;
  }

  #covers({ name }: Pick<Pool, "name">): boolean {
    return this.settings.pools?.includes(name) ?? true;
  }

  #open(): ExpiringEntries {
    const entries = this.#parts.entries();
    if (entries !== undefined) return entries;
    throw new MeshError("The storage of the cache is not open", { code: "not_initialized" });
  }

  async #find(
    key: string,
    signal: StopSignal | undefined,
  ): Promise<{ readonly entry?: CacheEntry | undefined; readonly failed?: true }> {
    const unwritten = this.#unwritten.get(key);
    if (unwritten !== undefined) return { entry: unwritten };
    const { clock } = this.#parts;
    if (clock.monotonic() < this.#pausedUntil) return { failed: true };
    const limit = { clock, ms: lookupMs, message: `its storage did not respond within ${lookupMs} ms` };
    const work = (async () => await this.#open().get(key))();
    try {
      const bytes = await untilAborted(work, signal, limit);
      this.#recover("read");
      return { entry: bytes && await decodeEntry(key, bytes) };
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      this.#fail("read", error);
      if (DeadlineError.isInstance(error)) {
        this.#pausedUntil = clock.monotonic() + pauseMs;
        work.then(() => this.#pausedUntil = -Infinity, () => {}); // it was slow, such as with its first call
      }
      return { failed: true };
    }
  }

  async #writeAll(entries: (readonly [string, CacheEntry])[], ttlMs: number): Promise<void> {
    while (entries.length > 0) {
      await Promise.all(
        entries.splice(0, batch).map(async ([key, entry]) => {
          await this.#write(key, entry, entry.createdAt + Math.min(ttlMs, this.settings.ttlMs));
        }),
      );
    }
  }

  async #write(key: string, entry: CacheEntry, expiresAt: number): Promise<void> {
    const bytes = await encodeEntry(key, entry);
    if (bytes.length > this.settings.maxEntry) return;
    await this.#open().set(key, bytes, expiresAt);
    this.#recover("write");
  }

  async #settleWrites(): Promise<void> {
    await Promise.all(this.#pendingWrites);
  }

  /** Warns of an outage, once. */
  #fail(task: "read" | "write", error: unknown): void {
    const isNew = this.#failing.size === 0;
    this.#failing.add(task);
    if (!isNew) return;
    const reason = MeshError.isInstance(error) ? error.message : "the storage failed";
    const message = `The cache cannot be ${
      task === "read" ? "read" : "written"
    }, and requests are served without it: ${reason}`;
    this.#parts.hub.trace({ severity: "warning", component: "cache", message });
  }

  #recover(task: "read" | "write"): void {
    if (!this.#failing.delete(task) || this.#failing.size > 0) return;
    this.#parts.hub.trace({ severity: "info", component: "cache", message: "The cache can be used again" });
  }
}

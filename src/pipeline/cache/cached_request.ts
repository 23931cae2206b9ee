/**
 * Requests whose responses may be repeated.
 * @module
 */
import type { CacheSettings } from "../../config/settings/settings.ts";
import type { StopSignal } from "../../contracts/runtime.ts";
import { MeshError } from "../../errors.ts";
import type { Pool } from "../../registry/registry.ts";
import type { RoutedRequest } from "../request.ts";
import type { CacheEntry } from "./cache_entry.ts";
import type { CacheControl } from "./cache_policy.ts";
import type { PendingCall } from "./pending_call.ts";

/** What a request needs of the cache of its mesh. */
export interface RequestCache {
  readonly settings: CacheSettings;
  /** Calls of models that equal requests may share, by what those have in common. */
  readonly calls: Map<string, PendingCall>;
  createKey(request: RoutedRequest, pool: Pool): Promise<string>;
  lookup(key: string, options: {
    readonly maxAgeMs?: number | undefined;
    readonly signal?: StopSignal | undefined;
  }): Promise<{ readonly entry?: CacheEntry | undefined; readonly failed?: true }>;
  count(pool: Pool, result: "hit" | "miss" | "error", savedUsd?: number): void;
  store(key: string, entry: CacheEntry, ttlMs?: number): void;
  storeAll(entries: ReadonlyMap<string, CacheEntry>, ttlMs?: number): void;
  findAge(entry: Pick<CacheEntry, "createdAt">): number;
}

/** A request whose response may be repeated. */
export class CachedRequest {
  /** The request as it is sent to models: the forms of dialects are not kept, so that one response serves all of them. */
  readonly request: RoutedRequest;
  /** Identifies equal requests. */
  readonly key: string;
  readonly pool: Pool;
  readonly control: CacheControl;
  readonly caching: RequestCache;
  /** Whether the storage has failed. */
  #hasFailed = false;

  constructor(request: RoutedRequest, { key, pool, control, caching }: {
    readonly key: string;
    readonly pool: Pool;
    readonly control: CacheControl;
    readonly caching: RequestCache;
  }) {
    this.request = request;
    this.key = key;
    this.pool = pool;
    this.control = control;
    this.caching = caching;
  }

  /**
   * Looks up its response. A request that is served by it counts against limits of requests.
   *
   * @throws {MeshError} `cache_miss` if there is none, and the request may not be sent to a model.
   */
  async lookup(): Promise<CacheEntry | undefined> {
    const { control: { mode }, request: { signal, scopes } } = this;
    const entry = await this.find(this.key, signal);
    if (entry === undefined) {
      if (mode !== "only") return undefined;
      this.countMiss();
      throw createMissError();
    }
    this.countHit(entry.costUsd);
    const admission = scopes?.admit();
    if (admission !== undefined) await admission;
    return entry;
  }

  /** Looks up its response, or a part of it. */
  async find(key: string, signal: StopSignal | undefined): Promise<CacheEntry | undefined> {
    const { entry, failed } = await this.caching.lookup(key, { maxAgeMs: this.control.ttlMs, signal });
    if (failed) this.#hasFailed = true;
    return entry;
  }

  /** Counts it as served without a call of its own. */
  countHit(savedUsd: number | undefined): void {
    this.caching.count(this.pool, "hit", savedUsd);
  }

  /** Counts it as sent to a model, or refused. */
  countMiss(): void {
    this.caching.count(this.pool, this.#hasFailed ? "error" : "miss");
  }

  /** Keeps its response. */
  store(entry: CacheEntry): void {
    this.caching.store(this.key, entry, this.control.ttlMs);
  }
}

/** The error of a request that may only be served from the cache. */
export function createMissError(): MeshError {
  return new MeshError("The cache has no response to this request, which may not be sent to a model", {
    code: "cache_miss",
  });
}

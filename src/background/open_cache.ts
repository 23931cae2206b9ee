/**
 * The cache of a mesh. Imported when it starts with one.
 * @module
 */
import type { CacheSettings, Settings } from "../config/settings/settings.ts";
import type { ExpiringEntries, Storage } from "../contracts/storage.ts";
import { ConfigError } from "../errors.ts";
import { createGeneration } from "../pipeline/cache/cache_key.ts";
import { Caching } from "../pipeline/cache/caching.ts";
import type { RouteDeps } from "../pipeline/request.ts";
import { MemoryEntries } from "../util/memory_entries.ts";
import type { StateStore } from "../state/persistence/state_store.ts";
import { notifySafely } from "../util/once.ts";
import { openSiblings } from "./cache_siblings.ts";
import { createCacheStorage, isInMemory } from "./cache_storage.ts";
import { openStorage, type StorageUser } from "./open_storage.ts";

/** Maximum size of all entries in memory, bytes. */
const memoryBytes = 64 * 1024 * 1024;

/** Entries in the memory of a process, which outlast a change of its configuration. */
export interface CacheMemory {
  entries?: MemoryEntries;
  /** Returns the entries of the current configuration, which may be those of a storage. */
  findEntries?: () => ExpiringEntries;
}

/** The mesh whose responses are kept. */
interface CachedMesh extends Omit<StorageUser, "settings"> {
  /** The storage of its state, once it is open. */
  readonly storage: Storage | undefined;
  readonly cacheMemory: CacheMemory;
  readonly siblings: StateStore["siblings"];
  onClose(task: () => Promise<void>): void;
}

/**
 * Opens the cache.
 *
 * @param settings The section `cache`.
 * @param parts The settings of the mesh, with and without its secrets, and dependencies of its requests.
 * @throws {ConfigError} If the storage has no entries that expire, or rejects its attributes.
 */
export async function openCache(settings: CacheSettings, { mesh, resolved, written, deps }: {
  readonly mesh: CachedMesh;
  readonly resolved: Settings;
  readonly written: Settings;
  readonly deps: RouteDeps;
}): Promise<Caching> {
  const own = settings.storage && await openOwnStorage(settings.storage, { mesh, resolved });
  notifySafely(() => own?.entries?.get("")); // connects before the first request
  const { hub, runtime: { clock } } = deps;
  const findEntries = () =>
    own?.entries ?? mesh.storage?.entries ?? (mesh.cacheMemory.entries ??= new MemoryEntries(clock, memoryBytes));
  mesh.cacheMemory.findEntries = findEntries;
  const siblings = mesh.siblings && isInMemory(resolved, mesh.catalogue)
    ? await openSiblings(mesh.siblings, { clear: () => findEntries().clear(), hub })
    : undefined;
  const caching = new Caching({
    settings,
    generation: await createGeneration(resolved, written),
    entries: findEntries,
    siblings,
    clock,
    hub,
  });
  mesh.onClose(async () => {
    await caching.close();
    await siblings?.close();
    await own?.close?.();
  });
  return caching;
}

async function openOwnStorage(
  { connector, config }: NonNullable<CacheSettings["storage"]>,
  { mesh, resolved }: { readonly mesh: CachedMesh; readonly resolved: Settings },
): Promise<Storage> {
  const { catalogue, runtime, redactor } = mesh;
  const coding = { format: "json", compression: false, encryption: resolved.storage?.encryption ?? false } as const;
  const user = { catalogue, runtime, redactor, settings: resolved };
  const storage = await createCacheStorage(() => openStorage({ connector, config, ...coding }, user));
  if (storage.entries !== undefined) return storage;
  await storage.close();
  const message = `the entries of ${JSON.stringify(connector)} cannot expire`;
  throw new ConfigError([{ path: "cache.storage.connector", message }]);
}

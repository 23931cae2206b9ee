/**
 * The storage of the cache, as configured.
 * @module
 */
import type { Settings } from "../config/settings/settings.ts";
import { ConfigError, type ConfigProblem } from "../errors.ts";
import type { ConnectorCatalogue } from "../registry/catalogue.ts";

/**
 * Returns the connector of the storage whose entries the cache has; undefined for the memory of the process.
 *
 * @throws {ConfigError} If the storage of the mesh is not registered.
 */
export function findCacheStorage(
  { cache, storage }: Pick<Settings, "cache" | "storage">,
  catalogue: ConnectorCatalogue,
): string | undefined {
  if (cache?.storage !== undefined) return cache.storage.connector;
  const own = storage && catalogue.get("storage", storage.connector);
  return own?.hasEntries === true ? own.id : undefined;
}

/** Whether the entries of the cache are in the memory of each process. */
export function isInMemory(settings: Pick<Settings, "cache" | "storage">, catalogue: ConnectorCatalogue): boolean {
  const id = findCacheStorage(settings, catalogue);
  return id === undefined || catalogue.get("storage", id).sharing === "none";
}

/**
 * Creates the storage of the cache.
 *
 * @throws {ConfigError} Its problems with the settings, at their paths in the section of the cache.
 */
export async function createCacheStorage<Created>(create: () => Promise<Created>): Promise<Created> {
  try {
    return await create();
  } catch (error) {
    if (!ConfigError.isInstance(error)) throw error;
    const isOwn = ({ path }: ConfigProblem) => path.startsWith("storage.") && !path.startsWith("storage.persistence.");
    throw new ConfigError(
      error.problems.map((problem) => isOwn(problem) ? { ...problem, path: `cache.${problem.path}` } : problem),
    );
  }
}

/**
 * Checks the packages, files and secrets that a configuration needs.
 * @module
 */
import { withAuthorities } from "../config/load/authorities.ts";
import { under } from "../config/schema/report.ts";
import { isPlainObject } from "../config/schema/tree.ts";
import { referencesIn } from "../config/schema/references.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { StorageSettings } from "../config/settings/storage.ts";
import { createCacheStorage } from "../background/cache_storage.ts";
import type { ConnectorKinds, MeshParts } from "../contracts/connector.ts";
import { resolveSettings } from "../engine/resolve.ts";
import { ConfigError, type ConfigProblem, ConnectorError, SecretNotFoundError } from "../errors.ts";
import type { Engine } from "../engine/engine.ts";
import { loadJose } from "../proxy/jwt/load_jose.ts";
import { loadFormat } from "../storage/_formats.ts";

/** A connector, and the path that names it. */
interface Used {
  readonly path: string;
  readonly kind: keyof ConnectorKinds;
  readonly id: string;
}

/**
 * Imports the packages that configured connectors need, reads the files of certificate authorities, and lets providers,
 * sinks and storages check their settings.
 *
 * @returns A problem for each requirement that is missing or invalid.
 */
export async function missingRequirements(settings: Settings, engine: Engine): Promise<ConfigProblem[]> {
  const found = await Promise.all([missingPackages(settings, engine), uselessFiles(settings, engine)]);
  return [...found.flat(), ...await incompatibleSettings(settings, engine)];
}

/**
 * Creates every provider, sink and storage, and discards them. Their code checks what a declaration cannot express, such as a
 * region that the environment may define. Those whose settings refer to secrets are skipped.
 *
 * @returns A problem for each invalid setting.
 */
export async function incompatibleSettings(
  settings: Settings,
  { catalogue, runtime }: Engine,
): Promise<ConfigProblem[]> {
  const isKnown = (value: unknown) => referencePaths(value).size === 0;
  const mesh: MeshParts = { storage: () => undefined };
  const tryStorage = async ({ connector, config }: Pick<StorageSettings, "connector" | "config">) => {
    const created = await (await catalogue.load("storage", connector)).create(config, runtime);
    await created.close?.();
  };
  const makings = [
    ...[...settings.providers.values()]
      .filter(({ enabled, instance, config, baseUrl }) => enabled && !instance && isKnown([config, baseUrl]))
      .map(({ id, connector, config, baseUrl }) => async () =>
        (await catalogue.load("provider", connector)).create({ id, config, baseUrl }, runtime)
      ),
    ...settings.observability
      .filter(({ config }) => isKnown(config))
      .map(({ connector, config }) => async () =>
        (await catalogue.load("observability", connector)).create(config, runtime, mesh)
      ),
    ...[settings.storage].filter((storage) => storage !== undefined && isKnown(storage.config))
      .map((storage) => () => tryStorage(storage!)),
    ...[settings.cache?.storage].filter((storage) => storage !== undefined && isKnown(storage.config))
      .map((storage) => () => createCacheStorage(() => tryStorage(storage!))),
  ];
  return (await Promise.all(makings.map(problemsOfMaking))).flat();
}

async function problemsOfMaking(make: () => Promise<unknown>): Promise<readonly ConfigProblem[]> {
  try {
    await make();
    return [];
  } catch (error) {
    if (ConfigError.isInstance(error)) return error.problems;
    if (ConnectorError.isInstance(error)) return []; // `missingPackages` reports it
    throw error;
  }
}

async function uselessFiles(settings: Settings, { runtime }: Engine): Promise<readonly ConfigProblem[]> {
  try {
    await withAuthorities(settings, runtime);
    return [];
  } catch (error) {
    if (!ConfigError.isInstance(error)) throw error;
    return error.problems;
  }
}

async function missingPackages(settings: Settings, { catalogue }: Engine): Promise<ConfigProblem[]> {
  const { providers, secrets, storage, cache, observability, guards = new Map() } = settings;
  const configured = [...providers.values()].filter(({ enabled, instance }) => enabled && instance === undefined);
  const used: Used[] = [
    ...configured.map(({ id, connector }): Used => (
      { path: `${under("providers", id)}.connector`, kind: "provider", id: connector }
    )),
    { path: "secrets.store", kind: "secretStore", id: secrets!.store },
    ...observability.map(({ connector }): Used => ({ path: "observability", kind: "observability", id: connector })),
    ...[...guards].map(([name, { connector }]): Used => (
      { path: `${under("guards", name)}.connector`, kind: "guard", id: connector }
    )),
  ];
  if (storage !== undefined) used.push({ path: "storage.connector", kind: "storage", id: storage.connector });
  if (cache?.storage !== undefined) {
    used.push({ path: "cache.storage.connector", kind: "storage", id: cache.storage.connector });
  }
  const loads = used.map(({ path, kind, id }) =>
    checkRequirement(path, async () => await (await catalogue.load(kind, id)).loadPackages?.())
  );
  if (storage !== undefined) {
    loads.push(checkRequirement("storage.persistence.format", () => loadFormat(storage.format)));
  }
  if (settings.proxy?.jwt !== undefined) loads.push(checkRequirement("proxy.auth.jwt", loadJose));
  return (await Promise.all(loads)).flat();
}

async function checkRequirement(path: string, load: () => Promise<unknown> | undefined): Promise<ConfigProblem[]> {
  try {
    await load();
    return [];
  } catch (error) {
    if (ConfigError.isInstance(error)) return [...error.problems];
    if (!ConnectorError.isInstance(error)) throw error;
    return [{ path, message: error.message }];
  }
}

/**
 * Resolves every secret that a configuration names.
 *
 * @returns The number of secrets, and the resolved settings.
 * @throws {ConfigError} With a problem for each missing secret.
 * @throws {ConnectorError} When the store fails.
 */
export async function resolveSecrets(
  document: unknown,
  { settings, mesh }: { readonly settings: Settings; readonly mesh: Engine },
): Promise<{ readonly count: number; readonly settings: Settings }> {
  const paths = referencePaths(document);
  try {
    const resolved = await resolveSettings(settings, mesh);
    return { count: paths.size, settings: resolved.settings };
  } catch (error) {
    if (!SecretNotFoundError.isInstance(error)) throw error;
    const message = (name: string) => `the secret "${name}" is not in the store "${settings.secrets!.store}"`;
    const problems = error.names.map((name) => ({ path: paths.get(name) ?? "", message: message(name) }));
    throw new ConfigError(problems, settings.source);
  }
}

/** Returns the first path of each secret reference, by name. */
function referencePaths(document: unknown): ReadonlyMap<string, string> {
  const paths = new Map<string, string>();
  const visit = (value: unknown, path: string) => {
    if (typeof value === "string") {
      for (const name of referencesIn(value).names) if (!paths.has(name)) paths.set(name, path);
    } else if (Array.isArray(value)) value.forEach((member, index) => visit(member, `${path}[${index}]`));
    else if (isPlainObject(value)) {
      for (const [key, member] of Object.entries(value)) {
        visit(member, under(path, key));
      }
    }
  };
  visit(document, "");
  return paths;
}

/**
 * Giving a mesh its settings: from a document, or from what is detected in the environment.
 * @module
 */
import { detectedSettings, detectProviders, type Environment, overlayKeys } from "./config/detect.ts";
import type { ProviderEntry, Settings } from "./config/settings.ts";
import { validate } from "./config/validate.ts";
import { NoProvidersError } from "./errors.ts";
import type { Mesh } from "./mesh.ts";
import type { SelectionStrategy } from "./contracts/rotation.ts";
import type { Registry } from "./registry/registry.ts";

/** Keys given by a program: by variable or provider name. */
export type ApiKeys = Readonly<Record<string, string>>;

/** What a document is read with. */
export interface DocumentOptions {
  /** The file it came from. */
  readonly source?: string;
  /** Keys that win over the environment's. */
  readonly apiKeys?: ApiKeys;
  /** Whether a document without `providers` holds although no provider is detected. */
  readonly mayLackProviders?: boolean;
}

/**
 * The settings of a document. One without a `providers` section goes with the providers detected.
 *
 * @param mesh Whose connectors it may name.
 * @param document A configuration as an object.
 * @param options Its file, keys.
 * @throws {ConfigError} With everything that is wrong.
 * @throws {NoProvidersError} When it has no providers and none is detected.
 */
export function settingsOf(mesh: Mesh, document: unknown, options: DocumentOptions = {}): Settings {
  const { source, apiKeys, mayLackProviders = false } = options;
  const needsDetection = typeof document === "object" && document !== null && !("providers" in document);
  return validate(document, {
    known: mesh.known,
    ...(source === undefined ? {} : { source }),
    ...(needsDetection ? { detected: detectedEntries(mesh, apiKeys, mayLackProviders) } : {}),
  });
}

/** What is detected, and how it is used. */
export interface DetectionOptions {
  /** Only these: vendors, connector ids or entry ids. */
  readonly providers?: readonly string[];
  /** Only these models, in this order. */
  readonly models?: readonly string[];
  /** Strategy of every pool. */
  readonly strategy?: string | SelectionStrategy;
  /** Keys that win over the environment's. */
  readonly apiKeys?: ApiKeys;
}

/**
 * Configures a mesh with the providers detected in the environment.
 *
 * @param mesh The mesh.
 * @param addPools Makes its pools.
 * @param options What is used of them.
 * @throws {NoProvidersError} When there is none.
 * @throws {ConfigError} For a provider, model or strategy that does not exist.
 */
export function configureDetected(
  mesh: Mesh,
  addPools: (registry: Registry) => void,
  { providers, models, strategy, apiKeys }: DetectionOptions = {},
): void {
  const detection = detectProviders(mesh.catalogue.providers, environment(mesh, apiKeys), providers);
  const settings = detectedSettings(detection, {
    known: mesh.known,
    ...(strategy === undefined ? {} : { strategy }),
    ...(models === undefined ? {} : { models }),
  });
  mesh.configure(settings, addPools);
}

function detectedEntries(mesh: Mesh, apiKeys: ApiKeys | undefined, mayLackProviders: boolean): ProviderEntry[] {
  try {
    const { providers } = detectProviders(mesh.catalogue.providers, environment(mesh, apiKeys));
    return providers.map(({ entry }) => entry);
  } catch (error) {
    if (mayLackProviders && NoProvidersError.isInstance(error)) return [];
    throw error;
  }
}

function environment(mesh: Mesh, apiKeys: ApiKeys | undefined): Environment {
  const env = (name: string) => mesh.runtime.env(name);
  return apiKeys === undefined ? env : overlayKeys(mesh.catalogue.providers, env, apiKeys);
}

/**
 * Sources of settings: a document, or detection in the environment.
 * @module
 */
import type { SelectionStrategy } from "../../contracts/rotation.ts";
import { ConfigError, NoProvidersError } from "../../errors.ts";
import type { Environment } from "../../contracts/runtime.ts";
import { detectedSettings, detectProviders, overlayKeys } from "../detect/detect.ts";
import type { ConfigContext } from "../settings/known.ts";
import type { ProviderEntry, Settings } from "../settings/settings.ts";
import { validate } from "../build/validate.ts";
import type { ConfigDocument } from "../../contracts/config_document.ts";
import type { FileSystem } from "../../contracts/runtime.ts";
import type { MeshConfigBase } from "./mesh_config.ts";

/** API keys passed by a program, by variable or provider name. */
type ApiKeys = Readonly<Record<string, string>>;

/** Options of document validation. */
interface DocumentOptions {
  /** Path of its file, for error messages. */
  readonly source?: string;
  /** API keys that take precedence over the environment. */
  readonly apiKeys?: ApiKeys;
  /** Whether a document without `providers` is valid even if no provider is detected. */
  readonly mayLackProviders?: boolean;
}

/**
 * The settings of a document. Without a `providers` section, it uses the detected providers.
 *
 * @throws {ConfigError} If the document is invalid; reports all errors at once.
 * @throws {NoProvidersError} If it has no providers and none is detected.
 */
export function readSettings(document: unknown, context: ConfigContext, options: DocumentOptions = {}): Settings {
  const { source } = options;
  const needsDetection = typeof document === "object" && document !== null && !("providers" in document);
  return validate(document, {
    knownConnectors: context.knownConnectors,
    ...(source === undefined ? {} : { source }),
    ...(needsDetection ? { detected: detectedEntries(context, options) } : {}),
  });
}

/**
 * The settings of detected providers.
 *
 * @param options Filters of detection, and additions to it.
 * @throws {NoProvidersError} If there is none.
 * @throws {ConfigError} For an unknown provider, model or strategy.
 */
export function settingsOfDetection(context: ConfigContext, options: {
  /** The only providers: vendors, connector ids or entry ids. */
  readonly providers?: readonly string[];
  /** The only models, in this order. */
  readonly models?: readonly string[];
  /** Strategy of every pool. */
  readonly strategy?: string | SelectionStrategy;
  /** API keys that take precedence over the environment. */
  readonly apiKeys?: ApiKeys;
} = {}): Settings {
  const { providers, models, strategy, apiKeys } = options;
  const detection = detectProviders(context.providers, environment(context, apiKeys), providers);
  return detectedSettings(detection, {
    knownConnectors: context.knownConnectors,
    ...(strategy === undefined ? {} : { strategy }),
    ...(models === undefined ? {} : { models }),
  });
}

function detectedEntries(context: ConfigContext, { apiKeys, mayLackProviders }: DocumentOptions): ProviderEntry[] {
  try {
    const { providers } = detectProviders(context.providers, environment(context, apiKeys));
    return providers.map(({ entry }) => entry);
  } catch (error) {
    if (mayLackProviders && NoProvidersError.isInstance(error)) return [];
    throw error;
  }
}

function environment({ providers, env }: ConfigContext, apiKeys: ApiKeys | undefined): Environment {
  return apiKeys === undefined ? env : overlayKeys(providers, env, apiKeys);
}

/** The path of a `.yaml`, `.yml` or `.json` file, a document as an object, or a `MeshConfig`. */
export type ConfigSource = string | ConfigDocument | MeshConfigBase;

/** A document and its origin. */
export interface SourcedDocument {
  readonly document: unknown;
  /** Path of its file; undefined for an object. */
  readonly source?: string;
}

/**
 * The document of a configuration that needs no file; undefined for a path.
 *
 * @param config The configuration, unvalidated: JavaScript programs may pass anything.
 */
export function givenDocument(config: unknown): SourcedDocument | undefined {
  if (typeof config === "string") return undefined;
  if (!isMeshConfig(config)) return { document: config };
  const { document, source } = config;
  return source === undefined ? { document } : { document, source };
}

/**
 * The document of a configuration, read from its file if needed.
 *
 * @param files Undefined in runtimes without files.
 * @throws {ConfigError} If the file cannot be read, or is not a document.
 */
export async function readSource(config: unknown, files: FileSystem | undefined): Promise<SourcedDocument> {
  const sourced = givenDocument(config);
  if (sourced !== undefined) return sourced;
  const path = config as string;
  if (files !== undefined) {
    const { loadDocument } = await import("./load.ts"); // imported on demand: most programs pass no path
    return { document: await loadDocument(path, files), source: path };
  }
  throw new ConfigError(
    [{ path: "", message: "this runtime has no files: pass the configuration as an object" }],
    path,
  );
}

/** Checked by members rather than class: the class may belong to another entry or copy of this package. */
function isMeshConfig(config: unknown): config is MeshConfigBase {
  const isObject = typeof config === "object" && config !== null;
  return isObject && "toYaml" in config && typeof config.toYaml === "function" && "document" in config;
}

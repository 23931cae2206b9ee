/**
 * Where settings come from: a document, or what is detected in the environment.
 * @module
 */
import type { SelectionStrategy } from "../../contracts/rotation.ts";
import { NoProvidersError } from "../../errors.ts";
import { detectedSettings, detectProviders, type Environment, overlayKeys } from "../detect/detect.ts";
import type { ConfigContext } from "../settings/known.ts";
import type { ProviderEntry, Settings } from "../settings/settings.ts";
import { validate } from "../build/validate.ts";

/** Keys given by a program: by variable or provider name. */
type ApiKeys = Readonly<Record<string, string>>;

/** How a document is validated. */
interface DocumentOptions {
  /** Path of its file, for messages. */
  readonly source?: string;
  /** These win over the environment's. */
  readonly apiKeys?: ApiKeys;
  /** Whether a document without `providers` is valid although no provider is detected. */
  readonly mayLackProviders?: boolean;
}

/**
 * The settings of a document. One without a `providers` section goes with the providers detected.
 *
 * @throws {ConfigError} With everything that is wrong.
 * @throws {NoProvidersError} When it has no providers and none is detected.
 */
export function settingsOf(document: unknown, context: ConfigContext, options: DocumentOptions = {}): Settings {
  const { source } = options;
  const needsDetection = typeof document === "object" && document !== null && !("providers" in document);
  return validate(document, {
    known: context.known,
    ...(source === undefined ? {} : { source }),
    ...(needsDetection ? { detected: detectedEntries(context, options) } : {}),
  });
}

/** Limits on detection, and what is added to it. */
interface DetectionOptions {
  /** Only these: vendors, connector ids or entry ids. */
  readonly providers?: readonly string[];
  /** Only these models, in this order. */
  readonly models?: readonly string[];
  /** Strategy of every pool. */
  readonly strategy?: string | SelectionStrategy;
  /** These win over the environment's. */
  readonly apiKeys?: ApiKeys;
}

/**
 * The settings that detected providers yield.
 *
 * @throws {NoProvidersError} When there is none.
 * @throws {ConfigError} For a provider, model or strategy that does not exist.
 */
export function settingsOfDetection(context: ConfigContext, options: DetectionOptions = {}): Settings {
  const { providers, models, strategy, apiKeys } = options;
  const detection = detectProviders(context.providers, environment(context, apiKeys), providers);
  return detectedSettings(detection, {
    known: context.known,
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

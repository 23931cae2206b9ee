/**
 * Adds a provider to a configuration.
 * @module
 */
import { ConfigError, type ConfigProblem } from "../../errors.ts";
import { show, under } from "../schema/report.ts";
import { everyPool } from "../schema/pools.ts";
import { secrets as section } from "../schema/schema.ts";
import { defaultStrategy } from "../settings/defaults.ts";
import type { ConfigContext } from "../settings/known.ts";
import { escapeReferences } from "../schema/references.ts";
import type { ProviderEntry, Settings } from "../settings/settings.ts";

/** A provider to add: its entry in `providers`, its id, and its models. */
export interface NewProvider extends Readonly<Record<string, unknown>> {
  /** The entry id. */
  readonly id: string;
  /** Its models by name, as in `models`, without `provider`. */
  readonly models?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

type Document = Readonly<Record<string, unknown>>;

/**
 * Adds a provider to a document. Detected providers are added as well, since a document with `providers` must list all
 * of them.
 *
 * @throws {ConfigError} If its id or a model name is taken, or a detected provider cannot be expressed in a document.
 */
export function withProvider(
  document: Document,
  { id, models = {}, ...entry }: NewProvider,
  { settings, context }: { readonly settings: Settings; readonly context: ConfigContext },
): Document {
  const problems: ConfigProblem[] = [];
  if (typeof id !== "string" || id === "") problems.push({ path: "id", message: "missing: the provider's entry id" });
  else if (settings.providers.has(id)) {
    problems.push({ path: under("providers", id), message: "exists already: provider ids must be unique" });
  }
  for (const [name, model] of Object.entries(models)) {
    const path = under("models", name);
    if (settings.models.has(name)) problems.push({ path, message: "exists already: model names must be unique" });
    const { provider = id } = model ?? {};
    if (provider !== id) problems.push({ path: `${path}.provider`, message: `expected ${show(id)}, or nothing` });
  }
  const written = writtenDetected(settings, context, problems);
  if (problems.length > 0) throw new ConfigError(problems, settings.source);
  const own = Object.entries(models).map(([name, model]) => [name, { ...model, provider: id }] as const);
  return {
    ...document,
    providers: { ...document.providers as object | undefined, ...written, [id]: entry },
    ...(own.length === 0 ? {} : { models: { ...document.models as object | undefined, ...Object.fromEntries(own) } }),
  };
}

/**
 * A document with detected providers and the pools that exist.
 *
 * @throws {ConfigError} If a provider cannot be expressed in a document.
 */
export function detectedDocument(
  { settings, pools, context }: {
    readonly settings: Settings;
    readonly pools: readonly { readonly name: string; readonly capability: string | null }[];
    readonly context: ConfigContext;
  },
): Document {
  const problems: ConfigProblem[] = [];
  const providers = writtenDetected(settings, context, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  const { only, defaultRouting: { strategy } } = settings;
  const own = pools.map(({ name, capability }) => [name, only === undefined ? { capability } : { models: only }]);
  const common = strategy === defaultStrategy ? {} : { [everyPool]: { strategy } };
  return { providers, pools: { ...common, ...Object.fromEntries(own) } };
}

/** Entries of providers that no document lists. */
function writtenDetected(settings: Settings, context: ConfigContext, problems: ConfigProblem[]): Document {
  const detected = [...settings.providers.values()].filter(({ source }) => source !== "config");
  return Object.fromEntries(
    detected.map((entry) => [entry.id, toWrittenEntry(entry, { settings, context, problems })]),
  );
}

/** The entry of a detected provider, with a reference to the variable of its API key. */
function toWrittenEntry(
  { id, connector: connectorId, apiKeys, baseUrl, config, source }: ProviderEntry,
  { settings: { secrets }, context: { providers, env }, problems }: {
    readonly settings: Settings;
    readonly context: ConfigContext;
    readonly problems: ConfigProblem[];
  },
): Document {
  const [key] = apiKeys;
  const connector = providers.find((provider) => provider.id === connectorId);
  const variable = connector?.detection?.keys.find((name) => env(name)?.trim() === key);
  const isReadable = key === undefined || variable !== undefined && secrets?.store === section.fields.store.default;
  if (source === "create") {
    const message = "is an object of the program, which a configuration cannot contain: pass one as `config`";
    problems.push({ path: under("providers", id), message });
  } else if (!isReadable) {
    problems.push({
      path: under("providers", id),
      message: 'was detected, and its key cannot be expressed as a reference: list it in "providers"',
    });
  }
  return {
    ...(key === undefined ? {} : { api_key: `\${secrets:${variable}}` }),
    ...(baseUrl === undefined ? {} : { base_url: escapeReferences(baseUrl) }),
    ...(Object.keys(config).length === 0 ? {} : { config: escaped(config) }),
  };
}

function escaped(attributes: Document): Document {
  const entries = Object.entries(attributes);
  return Object.fromEntries(entries.map(([name, value]) => {
    return [name, typeof value === "string" ? escapeReferences(value) : value];
  }));
}

/**
 * A configuration with one more provider.
 * @module
 */
import { ConfigError, type ConfigProblem } from "../../errors.ts";
import { show, under } from "../schema/report.ts";
import { defaultSecretStore } from "../settings/defaults.ts";
import type { ConfigContext } from "../settings/known.ts";
import { escapeReferences } from "../schema/references.ts";
import type { ProviderEntry, Settings } from "../settings/settings.ts";

/** A provider to be added: its entry in `providers` with its id beside it, and its models. */
export interface NewProvider extends Readonly<Record<string, unknown>> {
  /** The entry's id. */
  readonly id: string;
  /** Its models by name, as in `models`; `provider` goes without saying. */
  readonly models?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

type Document = Readonly<Record<string, unknown>>;

/**
 * The document with the provider in it. Providers that were detected are written down with it: a document that names
 * some has to name all.
 *
 * @throws {ConfigError} When its id or a name of a model is taken, or what was detected cannot be written down.
 */
export function withProvider(
  document: Document,
  { id, models = {}, ...entry }: NewProvider,
  { settings, context }: { readonly settings: Settings; readonly context: ConfigContext },
): Document {
  const problems: ConfigProblem[] = [];
  if (typeof id !== "string" || id === "") problems.push({ path: "id", message: "missing: the provider's entry id" });
  else if (settings.providers.has(id)) {
    problems.push({ path: under("providers", id), message: "is there already: a provider's id is given once" });
  }
  for (const [name, model] of Object.entries(models)) {
    const path = under("models", name);
    if (settings.models.has(name)) problems.push({ path, message: "is there already: a model's name is given once" });
    const { provider = id } = model ?? {};
    if (provider !== id) problems.push({ path: `${path}.provider`, message: `expected ${show(id)}, or nothing` });
  }
  const detected = [...settings.providers.values()].filter(({ source }) => source !== "config");
  const written = detected.map((one) => [one.id, writtenOf(one, settings, context, problems)] as const);
  if (problems.length > 0) throw new ConfigError(problems, settings.source);
  const own = Object.entries(models).map(([name, model]) => [name, { ...model, provider: id }] as const);
  return {
    ...document,
    providers: { ...document.providers as object | undefined, ...Object.fromEntries(written), [id]: entry },
    ...(own.length === 0 ? {} : { models: { ...document.models as object | undefined, ...Object.fromEntries(own) } }),
  };
}

/** A detected provider as an entry: its key by the variable it stands in. */
function writtenOf(
  { id, connector: connectorId, apiKeys, baseUrl, config }: ProviderEntry,
  { secrets }: Settings,
  { providers, env }: ConfigContext,
  problems: ConfigProblem[],
): Document {
  const [key] = apiKeys;
  const connector = providers.find((one) => one.id === connectorId);
  const variable = connector?.detection?.keys.find((name) => env(name)?.trim() === key);
  const isReadable = key === undefined || variable !== undefined && secrets?.store === defaultSecretStore;
  if (!isReadable) {
    problems.push({
      path: under("providers", id),
      message: 'was detected, and its key cannot be written down as a reference: name it in "providers"',
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

/**
 * Adds a provider to a running engine.
 * @module
 */
import { loadBudgetWindows } from "../state/limits/budget.ts";
import { queryProviders } from "../background/ask_providers.ts";
import { discoverModels } from "../background/discover.ts";
import { openProvider } from "../background/open_provider.ts";
import { checkedDocument, MeshConfigBase } from "../config/load/mesh_config.ts";
import { type NewProvider, withProvider } from "../config/load/new_provider.ts";
import { readSettings } from "../config/load/sources.ts";
import type { Settings } from "../config/settings/settings.ts";
import { createConfigContext } from "../registry/catalogue.ts";
import { draft, type DraftProvider, extendRegistry } from "../registry/extend.ts";
import { loadConnectors } from "../registry/load_connectors.ts";
import type { Engine } from "./engine.ts";
import { resolveSettings } from "./resolve.ts";
import { formatWarnings } from "./warnings.ts";

/**
 * Adds a provider. When it throws, nothing has changed.
 *
 * @param provider The provider's entry, with its `id`.
 * @param running An engine that is ready, and its configuration document.
 * @returns The document, extended by the provider.
 * @throws {ConfigError} When the entry is invalid, or its id or the name of a model is taken; lists every problem.
 * @throws {SecretNotFoundError} When a secret it refers to does not exist.
 */
export async function addProvider(
  provider: NewProvider,
  { engine, document }: { readonly engine: Engine; readonly document: Readonly<Record<string, unknown>> },
): Promise<MeshConfigBase> {
  const context = createConfigContext(engine);
  const { settings: before, catalogue, registry, state } = engine;
  const { source, observability } = before; // sinks are kept: they were created at the start
  const next = withProvider(document, provider, { settings: before, context });
  const written = readSettings(next, context, source === undefined ? {} : { source });
  const config = new MeshConfigBase(checkedDocument(next, written));
  const resolved = await resolveSettings({ ...written, observability: [] }, engine);
  const settings = { ...resolved.settings, observability };
  await loadConnectors(settings, catalogue);
  if (settings.hasLimitLists) await loadBudgetWindows();
  const drafted = await draftOpen(provider.id, settings, engine);
  extendRegistry(registry, drafted, { settings, state });
  engine.adopt(settings, resolved.secrets);
  await engine.lifecycle!.monitoring.renew(settings);
  await engine.relist();
  engine.warn(formatWarnings(settings, before));
  return config;
}

/** Drafts the provider with its models, including those it lists itself. */
async function draftOpen(id: string, settings: Settings, engine: Engine): Promise<DraftProvider> {
  const { catalogue, runtime } = engine;
  type Known = Pick<Parameters<typeof draft>[1], "discovered" | "queried">;
  const open = async (reused: Known) => {
    const opened = draft(id, { settings, catalogue, runtime, ...reused });
    if (opened.instance !== undefined) await openProvider(opened.instance, engine);
    return opened;
  };
  const listDraftInstances = ({ instance }: DraftProvider) => instance === undefined ? [] : [instance];
  const first = await open({});
  const discovered = await discoverModels(listDraftInstances(first), { ...engine.routeDeps, settings });
  const listed = discovered.size === 0 ? first : await open({ discovered });
  const queried = await queryProviders(listDraftInstances(listed), listed.registry, engine);
  return queried === undefined ? listed : await open({ discovered, queried });
}

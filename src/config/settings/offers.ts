/**
 * Determines what a provider offers: models in addition to its configured ones, services, and answers to queries.
 * @module
 */
import type { VendorQuery } from "../../contracts/connector.ts";
import type { InfrastructureFacts } from "../../contracts/infrastructure.ts";
import type { ModelInfo } from "../../contracts/provider.ts";
import { splitDate } from "../../util/model_ids.ts";
import type { KnownModel, KnownProvider } from "./known.ts";
import type { ProviderEntry } from "./settings.ts";

/**
 * The source of a provider's models: the built-in catalogue, the provider's model list, or none. An instance passed by a program is always queried: it has no catalogue, and its
 * list costs no request to a vendor. A connector without a catalogue is queried unless models are configured.
 *
 * @param connector Its connector; undefined for an instance.
 * @param hasOwn Whether models are configured for it.
 */
export function createOffer(
  { discovery, instance }: Pick<ProviderEntry, "discovery" | "instance">,
  connector: Pick<KnownProvider, "models"> | undefined,
  hasOwn: boolean,
): "catalogue" | "list" | "none" {
  const { enumerateModels } = discovery ?? {};
  if (enumerateModels !== undefined) return enumerateModels ? "list" : "none";
  if (instance !== undefined) return "list";
  return connector?.models.length === 0 && !hasOwn ? "list" : "catalogue";
}

/**
 * Whether capability pools include a model that a provider offers: one marked as a default, one of the provider's own
 * list whose capabilities are known, and one that retires together with all others of its capability, so that none is a
 * default. A provider that marks no default, or none of whose models qualifies, offers all of them.
 *
 * @param offered The models that the provider offers.
 * @param parts Its catalogue, and whether `offered` is its own list.
 */
export function poolFilter<Model extends Pick<ModelInfo, "capabilities" | "defaultFor" | "retires">>(
  offered: readonly Model[],
  { catalogue, isListed }: {
    readonly catalogue: readonly Pick<ModelInfo, "defaultFor">[];
    readonly isListed: boolean;
  },
): (model: Model) => boolean {
  const covered = new Set([...catalogue, ...offered].flatMap(({ defaultFor = [] }) => defaultFor));
  const isUncovered = ({ capabilities, retires }: Model) =>
    retires !== undefined && capabilities !== undefined &&
    !capabilities.some((path) => covered.has(path.slice(path.lastIndexOf(".") + 1)));
  const qualifies = (model: Model) =>
    isDefault(model) || isListed && model.capabilities !== undefined || isUncovered(model);
  return covered.size > 0 && offered.some(qualifies) ? qualifies : () => true;
}

function isDefault({ defaultFor = [] }: Pick<ModelInfo, "defaultFor">): boolean {
  return defaultFor.length > 0;
}

/**
 * Returns the catalogue entry of a model id. A dated id (`model-20251001`, `model-2025-10-01`) is a release of the
 * undated one.
 *
 * @param find Finds an entry by its exact id.
 */
export function findCatalogued<Model>(id: string, find: (id: string) => Model | undefined): Model | undefined {
  return find(id) ?? find(splitDate(id).undated);
}

/**
 * Returns the catalogue entries that the name of a base model may mean: that of the provider's own catalogue, otherwise
 * those of the vendor with which the name begins (`openai/gpt-4o`), otherwise those of all vendors. The provider's own
 * vendor may stand before a name that its catalogue does not have (`azure/gpt-4o`).
 *
 * @param own The provider's connector; undefined for an instance.
 */
export function findBaseModels(
  name: string,
  own: KnownProvider | undefined,
  connectors: readonly KnownProvider[],
): readonly { readonly connector: KnownProvider; readonly model: KnownModel }[] {
  const find = (connector: KnownProvider, id: string) => {
    const model = findCatalogued(id, (exact) => connector.models.find((model) => model.id === exact));
    return model === undefined ? [] : [{ connector, model }];
  };
  const [vendor = "", id = ""] = name.split(/[/.](.*)/s, 2);
  const isNamed = (connector: KnownProvider) => connector.vendor === vendor;
  return [
    () => own === undefined ? [] : find(own, name),
    () => connectors.filter(isNamed).flatMap((connector) => find(connector, id)),
    () => connectors.flatMap((connector) => find(connector, own?.vendor === vendor ? id : name)),
  ].reduce<ReturnType<typeof find>>((found, search) => found.length > 0 ? found : search(), []);
}

/** Whether a service is configured; undefined leaves it to the connector's facts. */
export function findConfiguredService(
  { files, batch, fineTuning }: ProviderEntry,
  service: keyof InfrastructureFacts,
): boolean | undefined {
  return { files: files?.upload, batch: batch?.supported, fineTuning: fineTuning?.supported }[service];
}

/** The queries about models. */
export const modelQueries = ["details", "capabilities", "pricing"] as const;

/** Whether the mesh can call a provider on its own: callers send the keys of some with their requests. */
export function isCallable({ credentials, apiKeys }: Pick<ProviderEntry, "credentials" | "apiKeys">): boolean {
  return credentials !== "header" || apiKeys.length > 0;
}

/** Whether the vendor is queried at startup. */
export function isQueryEnabled(entry: ProviderEntry, query: VendorQuery): boolean {
  const { discovery, pricing, quota } = entry;
  if (!isCallable(entry)) return false;
  const enabled = {
    details: discovery?.modelDetails,
    capabilities: discovery?.capabilityQuery,
    pricing: pricing?.query,
    quota: quota?.queryCurrent || quota?.queryRemaining,
  };
  return enabled[query] === true;
}

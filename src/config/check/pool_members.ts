/**
 * Determines which models a pool will have, as far as possible before any provider is queried. Follows the same rules
 * as the registry.
 * @module
 */
import type { ModelNames, NamedModel, ProviderParts } from "./names.ts";
import { servesOperation } from "../../capability/operations.ts";
import type { CapabilityTree } from "../../capability/tree.ts";
import type { OperationName } from "../../contracts/provider.ts";
import type { KnownModel, KnownProvider } from "../settings/known.ts";
import { createOffer, findCatalogued, isQueryEnabled, poolFilter } from "../settings/offers.ts";
import type { ConfiguredModel, PoolSettings, ProviderEntry } from "../settings/settings.ts";

interface MemberParts extends ProviderParts {
  readonly models: ReadonlyMap<string, ConfiguredModel>;
  readonly names: ModelNames;
  /** All connectors: a base model may be of another vendor's catalogue. */
  readonly connectors: readonly KnownProvider[];
  readonly tree: CapabilityTree;
}

/** Computes the models and providers of a pool. */
export class Members {
  readonly #parts: MemberParts;
  readonly #leaves = new Map<ConfiguredModel, readonly string[]>();
  readonly #configuredIn = new Map<PoolSettings, readonly ConfiguredModel[]>();
  readonly #namesIn = new Map<PoolSettings, ReadonlySet<string>>();
  /** Ids of the provider's own models, by entry id. */
  readonly #ownIds = new Map<string, Set<string>>();
  readonly usable: readonly ConfiguredModel[];

  constructor(parts: MemberParts) {
    this.#parts = parts;
    this.usable = [...parts.models.values()].filter(({ provider }) => parts.entries.get(provider)?.enabled);
    for (const { provider, id } of this.usable) {
      const ids = this.#ownIds.get(provider);
      if (ids === undefined) this.#ownIds.set(provider, new Set([id]));
      else ids.add(id);
    }
  }

  /** The models of the document that are in a pool. */
  configuredIn(pool: PoolSettings): readonly ConfiguredModel[] {
    const existing = this.#configuredIn.get(pool);
    if (existing !== undefined) return existing;
    const listed = this.#listedIn(pool);
    const models = this.usable.filter((model) => {
      return this.#admits(pool, model.provider) &&
        (listed.has(model.name) || this.#isAt(pool, this.findKnownLeaves(model)));
    });
    this.#configuredIn.set(pool, models);
    return models;
  }

  /** Whether a pool has, or may get, a model of this name. */
  mayHave(pool: PoolSettings, name: string): boolean {
    const { names, entries } = this.#parts;
    const found = names.find(names.toTarget(name));
    if (found !== undefined) return found.some((model) => this.#isIn(pool, model));
    const isOpen = pool.models.some((listed) => names.find(listed) === undefined);
    return names.mayBeListedBy(name).some((id) => {
      return this.#admits(pool, id) && (isOpen || this.#offers(entries.get(id)!, pool, () => true));
    });
  }

  /** Whether a pool has, or may get, a model of this provider. */
  mayList(pool: PoolSettings, provider: string): boolean {
    const entry = this.#parts.entries.get(provider);
    if (!entry?.enabled || !this.#admits(pool, provider)) return false;
    const { names } = this.#parts;
    const isNamed = pool.models.some((name) => {
      return (names.find(name)?.map((model) => model.provider) ?? names.mayBeListedBy(name)).includes(provider);
    });
    return isNamed || this.configuredIn(pool).some((model) => model.provider === provider) ||
      this.#offers(entry, pool, () => true);
  }

  /** Whether a pool has, or may get, any model. */
  mayHaveAny(pool: PoolSettings): boolean {
    return [...this.#parts.entries.keys()].some((id) => this.mayList(pool, id));
  }

  /**
   * Whether any model serves, or may serve, an operation. It need not be in a pool.
   *
   * @param provider Entry id, if only models of one provider count.
   */
  mayServe(operation: OperationName, provider?: string): boolean {
    const serves = (leaves: readonly string[]) => leaves.some((leaf) => servesOperation(leaf, operation));
    const isTarget = (id: string) => provider === undefined || id === provider;
    return this.usable.some((model) => isTarget(model.provider) && serves(this.findKnownLeaves(model))) ||
      [...this.#parts.entries.values()].some((entry) =>
        entry.enabled && isTarget(entry.id) && this.#offered(entry, () => true)?.some(serves) !== false
      );
  }

  /** Whether a pool has, or may get, a model that serves an operation. */
  mayServeIn(pool: PoolSettings, operation: OperationName): boolean {
    const { models, names, entries } = this.#parts;
    const serves = (leaves: readonly string[]) => leaves.some((leaf) => servesOperation(leaf, operation));
    if (this.configuredIn(pool).some((model) => serves(this.findKnownLeaves(model)))) return true;
    const isConfigured = (name: string) => names.find(name)?.every((found) => models.has(found.name)) ?? false;
    if (!pool.models.every(isConfigured)) return true; // the capabilities of others are not known here
    return pool.capability !== undefined && [...entries.values()].some((entry) => {
      if (!entry.enabled || !this.#admits(pool, entry.id)) return false;
      return this.#offered(entry, () => true)?.some((leaves) => this.#isAt(pool, leaves) && serves(leaves)) !== false;
    });
  }

  /** Whether a pool may get more than one model. */
  mayHaveSeveral(pool: PoolSettings): boolean {
    const unknown = pool.models.filter((name) => this.#parts.names.find(name) === undefined);
    const names = new Set([...this.configuredIn(pool).map(({ name }) => name), ...this.#listedIn(pool), ...unknown]);
    return names.size > 1 || [...this.#parts.entries.keys()].some((id) => {
      return this.#admits(pool, id) && this.#offers(this.#parts.entries.get(id)!, pool, () => true);
    });
  }

  /** The catalogue entry of a model; a dated id takes that of the model it is a release of. */
  catalogued({ id, provider, base }: ConfiguredModel): KnownModel | undefined {
    const { connectors } = this.#parts;
    const connector = base === undefined
      ? this.#findConnector(provider)
      : connectors.find((connector) => connector.id === base.connector);
    return findCatalogued(base?.id ?? id, (own) => connector?.models.find((model) => model.id === own));
  }

  /** Whether a model is served by a local server, so that calls are free. */
  isLocal({ provider }: ConfiguredModel): boolean {
    return this.#findConnector(provider)?.local === true;
  }

  /** Whether the vendor states the cost of each response. */
  isCostStated({ provider }: ConfiguredModel): boolean {
    return this.#findConnector(provider)?.assumedPrices !== undefined;
  }

  /** Whether the vendor is asked for the price of a model, which is therefore known only after the start. */
  isPriceQueried({ provider }: ConfiguredModel): boolean {
    const entry = this.#parts.entries.get(provider);
    if (entry === undefined || !(isQueryEnabled(entry, "details") || isQueryEnabled(entry, "pricing"))) return false;
    const { instance } = entry;
    const hasPricingQuery = this.#findConnector(provider)?.queries?.includes("pricing") !== false;
    return instance === undefined ? hasPricingQuery : instance.describeModels !== undefined;
  }

  /** The leaves that a model of the document serves. */
  findKnownLeaves(model: ConfiguredModel): readonly string[] {
    const existing = this.#leaves.get(model);
    if (existing !== undefined) return existing;
    const capabilities = model.capabilities ?? this.catalogued(model)?.capabilities;
    const leaves = findAssumedLeaves({ id: model.base?.id ?? model.id, capabilities }, this.#parts.tree);
    this.#leaves.set(model, leaves);
    return leaves;
  }

  /** Whether a provider adds models of its own to a pool, with at least one matching id. */
  #offers(entry: ProviderEntry, pool: PoolSettings, matches: (id: string) => boolean): boolean {
    if (!entry.enabled || pool.capability === undefined) return false;
    const { models = [] } = this.#findConnector(entry.id) ?? {};
    const isPooled = poolFilter(models, { catalogue: models, isListed: false });
    const offered = this.#offered(entry, (model) => isPooled(model) && matches(model.id));
    return offered === undefined || offered.some((leaves) => this.#isAt(pool, leaves));
  }

  /** The leaves of each model that a provider offers of its own; undefined if they are known only after the start. */
  #offered(entry: ProviderEntry, matches: (model: KnownModel) => boolean): readonly (readonly string[])[] | undefined {
    const connector = this.#findConnector(entry.id);
    const own = this.#ownIds.get(entry.id);
    const offer = createOffer(entry, connector, own !== undefined);
    if (offer === "list") return undefined;
    const models = offer === "none" ? [] : connector?.models ?? [];
    return models.filter((model) => matches(model) && !own?.has(model.id))
      .map((model) => findAssumedLeaves(model, this.#parts.tree));
  }

  #isAt({ capability }: PoolSettings, leaves: readonly string[]): boolean {
    const { tree } = this.#parts;
    const path = capability === undefined ? undefined : tree.resolve(capability);
    return path !== undefined && leaves.some((leaf) => tree.contains(path, leaf));
  }

  #admits({ providers, excludedProviders }: PoolSettings, id: string): boolean {
    return (providers.length === 0 || providers.includes(id)) && !excludedProviders.includes(id);
  }

  /** The names of the models in a pool's list. */
  #listedIn(pool: PoolSettings): ReadonlySet<string> {
    const existing = this.#namesIn.get(pool);
    if (existing !== undefined) return existing;
    const { names } = this.#parts;
    const listed = new Set(pool.models.flatMap((name) => names.find(name)?.map((model) => model.name) ?? []));
    this.#namesIn.set(pool, listed);
    return listed;
  }

  #isIn(pool: PoolSettings, { name, provider, id }: NamedModel): boolean {
    if (this.#parts.models.has(name)) return this.configuredIn(pool).some((model) => model.name === name);
    const entry = this.#parts.entries.get(provider);
    if (!entry?.enabled || !this.#admits(pool, provider)) return false;
    return this.#listedIn(pool).has(name) || this.#offers(entry, pool, (own) => own === id);
  }

  #findConnector(provider: string): KnownProvider | undefined {
    const entry = this.#parts.entries.get(provider);
    return entry && this.#parts.connectorOf(entry);
  }
}

/** The assumed leaves of a model without known capabilities: chat, or embeddings by its name. */
function findAssumedLeaves({ id, capabilities }: KnownModel, tree: CapabilityTree): readonly string[] {
  const names = capabilities ?? [/embed/i.test(id) ? "text-embeddings" : "chat-completion"];
  return names.flatMap((name) => tree.leaves(tree.resolve(name) ?? name));
}

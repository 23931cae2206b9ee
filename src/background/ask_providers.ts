/**
 * Queries providers for metadata of their models at startup. What no provider reports is taken from the catalogue.
 * @module
 */
import { isQueryEnabled, modelQueries } from "../config/settings/offers.ts";
import type { ModelInfo, Provider } from "../contracts/provider.ts";
import { findBuiltInModels } from "../registry/catalogue.ts";
import { infoIn } from "../registry/model_facts.ts";
import { limitsIn, type QueriedFacts, type QueriedModels, withQueriedFacts } from "../registry/queried_facts.ts";
import type { ProviderInstance, Registry } from "../registry/registry.ts";
import { pricingIn } from "../util/pricing.ts";
import type { QueryParts } from "./provider_queries.ts";

/** Timeout per provider, ms. */
const limitMs = 5_000;

/**
 * Queries every provider about each of its models that it has not been asked about yet: `getCapabilities`,
 * `getModelInfo`, `getPricing`, `getRateLimits`.
 *
 * @param instances Opened providers, which receive their responses.
 * @param registry Their models.
 * @returns The responses, if any differs from the catalogue.
 */
export async function queryProviders(
  instances: readonly ProviderInstance[],
  registry: Registry,
  parts: QueryParts,
): Promise<QueriedModels | undefined> {
  const queries = instances.map((instance) => new ModelQueries(instance, registry, parts));
  await Promise.all(queries.map((inquiry) => inquiry.run()));
  if (!queries.some(({ hasChanges }) => hasChanges)) return undefined;
  return new Map(instances.map(({ entry, queried = new Map() }) => [entry.id, queried]));
}

/** The queries to one provider. */
class ModelQueries {
  /** Whether any response differs from the catalogue. */
  hasChanges = false;
  readonly #instance: ProviderInstance;
  readonly #registry: Registry;
  readonly #parts: QueryParts;
  /** Model metadata reported by the vendor, by model id. */
  #described: ReadonlyMap<string, ModelInfo> = new Map();

  constructor(instance: ProviderInstance, registry: Registry, parts: QueryParts) {
    this.#instance = instance;
    this.#registry = registry;
    this.#parts = parts;
  }

  async run(): Promise<void> {
    const { clock } = this.#parts.runtime;
    if (modelQueries.some((name) => isQueryEnabled(this.#instance.entry, name))) {
      const { describedModels } = await import("./provider_queries.ts"); // imported on demand
      this.#described = await describedModels(this.#instance, this.#parts);
    }
    const { queried: earlier = new Map<string, QueriedFacts>() } = this.#instance;
    const ids = new Set(
      this.#registry.models.flatMap(({ instance, info: { id } }) =>
        instance === this.#instance && !earlier.has(id) ? id : []
      ),
    );
    let cancel = () => {};
    const late = new Promise<undefined>((resolve) => {
      cancel = clock.after(limitMs, () => {
        this.#warn("getModelInfo", `did not respond within ${limitMs} ms`);
        resolve(undefined);
      });
    });
    const queried = await Promise.all([...ids].map(async (id) => [id, await this.#about(id, late)] as const));
    cancel();
    this.#instance.queried = new Map([...earlier, ...queried]);
  }

  async #about(id: string, late: Promise<undefined>): Promise<QueriedFacts> {
    const { tree } = this.#registry;
    const { models = [] } = this.#instance.connector ?? {};
    const provider = this.#instance.provider!;
    const existing = await this.#query("getModelInfo", () => Promise.race([provider.getModelInfo(id), late]));
    const info = this.#findRenewed(existing);
    const own = await this.#query("getCapabilities", () => provider.getCapabilities(id));
    const names = own === existing?.capabilities ? info?.capabilities : own;
    const price = await this.#query("getPricing", () => provider.getPricing(id));
    const pricing = price === existing?.pricing ? info?.pricing : price;
    const limits = limitsIn(await this.#query("getRateLimits", () => provider.getRateLimits(id)));
    const described = this.#described.get(id);
    const leaves = (described?.capabilities ?? (Array.isArray(names) ? names : []))
      .flatMap((name) => tree.leaves(tree.resolve(name) ?? name));
    this.hasChanges ||= described !== undefined || limits !== undefined ||
      info !== undefined && !models.includes(info as ModelInfo) ||
      leaves.length > 0 && !models.some(({ capabilities }) => capabilities === names) ||
      pricing !== undefined && !models.some((model) => model.pricing === pricing);
    return {
      limits,
      info: described === undefined ? infoIn(info) : withQueriedFacts(infoIn(info), { info: described }),
      pricing: described?.pricing ?? pricingIn(pricing),
      leaves: leaves.length > 0 ? leaves : undefined,
    };
  }

  /** The entry of a document in place of a built-in one, which a provider knows from its own catalogue. */
  #findRenewed(info: ModelInfo | undefined): ModelInfo | undefined {
    const { connector } = this.#instance;
    if (info === undefined || connector === undefined || connector.models.includes(info)) return info;
    const isBuiltIn = findBuiltInModels(connector).includes(info);
    return isBuiltIn ? connector.models.find(({ id }) => id === info.id) ?? info : info;
  }

  async #query<Result>(question: keyof Provider, query: () => Result): Promise<Awaited<Result> | undefined> {
    if (typeof this.#instance.provider![question] !== "function") return undefined; // custom providers may not implement it
    try {
      return await query() ?? undefined;
    } catch {
      this.#warn(question, "failed");
      return undefined;
    }
  }

  #warn(question: keyof Provider, problem: string): void {
    const message = `The provider "${this.#instance.entry.id}": ${question}() ${problem}`;
    this.#parts.hub.trace({ severity: "warning", component: "provider", message });
  }
}

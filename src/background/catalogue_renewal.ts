/**
 * Renews the catalogue of a mesh: fetches signed documents, and applies them to its models.
 * @module
 */
import { isProvider } from "../config/settings/known.ts";
import type { CatalogueSettings, Settings } from "../config/settings/settings.ts";
import type { Cancel } from "../contracts/runtime.ts";
import type { ModelInfo, ModelListing } from "../contracts/provider.ts";
import type { Storage } from "../contracts/storage.ts";
import { MeshError } from "../errors.ts";
import { draft, type DraftProvider, extendBy } from "../registry/extend.ts";
import { adoptOpened, type ModelEntry, type ProviderInstance, type Registry } from "../registry/registry.ts";
import { queryProviders } from "./ask_providers.ts";
import { checkAge, compareModels, renewModels } from "../registry/renewed_models.ts";
import { fetchCatalogue, type FetchedCatalogue, keepCatalogue, loadCatalogue } from "./catalogue_record.ts";
import { openStorage, type StorageUser } from "./open_storage.ts";
import { followWork } from "../util/failure.ts";
import { MeshSync, type SyncParts } from "./registry_sync.ts";

/** Maximum time until the next attempt after a failure, ms. */
const maxRetryMs = 3_600_000;

/** Dependencies of a renewal. */
export interface RenewalParts extends Omit<SyncParts, "probe"> {
  /** The storage of the state; undefined if it is not to be written. */
  readonly storage: Storage | undefined;
  /** The document that the models are from; undefined for the built-in catalogue. */
  readonly used: FetchedCatalogue | undefined;
  /** Adds pools that the configuration does not name, for models that are new. */
  readonly addPools: (registry: Registry) => void;
}

/**
 * Applies the document that the storage has, before the models of a mesh are known.
 *
 * @returns The document; undefined if there is none, or none that is valid and as new as the built-in catalogue.
 */
export async function useKeptCatalogue(
  mesh: StorageUser & Pick<SyncParts, "hub"> & { readonly settings: Settings },
): Promise<FetchedCatalogue | undefined> {
  const { settings: { catalogue: section, storage: settings }, catalogue, hub } = mesh;
  if (section === undefined || settings === undefined || settings.policy === "in-memory") return undefined;
  try {
    const storage = await openStorage(settings, mesh);
    try {
      const kept = await loadCatalogue(storage, section);
      if (kept === undefined) return undefined;
      checkAge({ date: kept.document.date, name: "in the storage" }, catalogue, undefined);
      renewModels(catalogue, kept.document);
      return kept;
    } finally {
      await storage.close();
    }
  } catch (error) {
    hub.trace({ severity: "warning", component: "registry", message: describeRenewalFailure(error) });
    return undefined;
  }
}

/** Fetches the document at intervals. Failures are traced, and leave the models as they are. */
export class CatalogueRenewal {
  #parts: RenewalParts;
  readonly #section: CatalogueSettings;
  /** Names of models by provider, which a document has withdrawn. */
  readonly #withdrawn = new Map<string, Set<string>>();
  #used: FetchedCatalogue | undefined;
  #cancel: Cancel = () => {};
  #isStopped = false;
  #warning: string | undefined;

  /** @param parts Dependencies; the settings have the section `discovery.catalogue`. */
  constructor(parts: RenewalParts) {
    this.#parts = parts;
    this.#section = parts.settings.catalogue!;
    this.#used = parts.used;
    this.#restoreOffered();
    const { clock } = parts.runtime;
    const ageMs = parts.used === undefined ? Infinity : clock.now() - parts.used.fetchedAt;
    this.#schedule(Math.min(Math.max(this.#section.refreshMs - ageMs, 0), this.#section.refreshMs));
  }

  /** Continues under settings with an added provider. */
  adopt(settings: Settings): void {
    this.#parts = { ...this.#parts, settings };
  }

  /** Stops fetching. */
  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  /** Ends standbys of models that an earlier document had withdrawn, and that are offered at the start. */
  #restoreOffered(): void {
    const { settings, registry } = this.#parts;
    if (settings.sync?.intervalMs !== undefined) return; // a sync puts models into the same standby
    for (const { instance: { entry, listed }, info } of registry.models) {
      if (listed === undefined && entry.instance === undefined) this.#createSync(entry.id).restore(entry.id, info.id);
    }
  }

  #createSync(provider: string): MeshSync {
    return new MeshSync({ ...this.#parts, probe: () => Promise.resolve({ models: [] }) }, [provider]);
  }

  #schedule(waitMs: number): void {
    const { hub, runtime } = this.#parts;
    this.#cancel = runtime.clock.after(waitMs, () => {
      followWork(this.#renewAndSchedule(), { hub, component: "registry", task: "The renewal of the catalogue" });
    });
  }

  async #renewAndSchedule(): Promise<void> {
    const { refreshMs } = this.#section;
    const isRenewed = await this.#renew();
    if (!this.#isStopped) this.#schedule(isRenewed ? refreshMs : Math.min(refreshMs, maxRetryMs));
  }

  /** Returns whether it succeeded. */
  async #renew(): Promise<boolean> {
    const { catalogue, runtime, storage, hub } = this.#parts;
    try {
      const fetched = await fetchCatalogue(this.#section, runtime);
      if (this.#isStopped) return true;
      const { document, text } = fetched;
      checkAge({ date: document.date, name: this.#section.url }, catalogue, this.#used?.document.date);
      if (text !== this.#used?.text) await this.#apply(fetched);
      this.#used = fetched;
      if (storage !== undefined) await keepCatalogue(storage, fetched);
      this.#warning = undefined;
      return true;
    } catch (error) {
      const message = describeRenewalFailure(error);
      if (message !== this.#warning && !this.#isStopped) {
        hub.trace({ severity: "warning", component: "registry", message });
      }
      this.#warning = message;
      return false;
    }
  }

  async #apply({ document }: FetchedCatalogue): Promise<void> {
    const { catalogue, registry, hub, addPools } = this.#parts;
    const changes = compareModels(catalogue.all.filter(isProvider), document);
    const replaced = renewModels(catalogue, document);
    const renewed = registry.instances.filter(({ entry }) => {
      return entry.instance === undefined && replaced.has(entry.connector);
    });
    if (renewed.length > 0) {
      const drafted = await this.#draft(renewed, replaced);
      for (const instance of renewed) {
        this.#renewInstance(instance, drafted, replaced.get(instance.entry.connector)!);
      }
      addPools(registry);
      registry.onMembersChanged();
    }
    const { added, changed, removed } = changes;
    const counts = `new: ${added.length}, changed: ${changed.length}, withdrawn: ${removed.length}`;
    const message = `The catalogue of ${document.date} is in use (models ${counts})`;
    hub.trace({ severity: "info", component: "registry", message });
  }

  /** Drafts the models of providers, with what they report about them. */
  async #draft(
    renewed: readonly ProviderInstance[],
    replaced: ReadonlyMap<string, readonly ModelInfo[]>,
  ): Promise<Registry> {
    const { runtime, hub, redact } = this.#parts;
    const { entry: { id } } = renewed[0]!;
    const discovered = this.#listListed(renewed, replaced);
    const { registry } = draft(id, { ...this.#parts, discovered });
    const instances = registry.instances.flatMap((instance) => {
      const running = renewed.find(({ entry }) => entry.id === instance.entry.id);
      if (running === undefined) return [];
      adoptOpened(instance, running);
      return instance;
    });
    const queried = await queryProviders(instances, registry, { runtime, hub, redact });
    for (const instance of renewed) {
      const own = instances.find(({ entry }) => entry.id === instance.entry.id)?.queried;
      if (own !== undefined) instance.queried = own;
    }
    return queried === undefined ? registry : draft(id, { ...this.#parts, discovered, queried }).registry;
  }

  /** The lists of providers that list their models, without what the catalogue had added to them. */
  #listListed(
    renewed: readonly ProviderInstance[],
    replaced: ReadonlyMap<string, readonly ModelInfo[]>,
  ): ReadonlyMap<string, ModelListing> {
    const { registry } = this.#parts;
    return new Map(renewed.flatMap((instance) => {
      const { entry, listed } = instance;
      if (listed === undefined) return [];
      const before = new Map(replaced.get(entry.connector)!.map((info) => [info.id, info]));
      const models = registry.models.filter((model) => model.instance === instance && listed.has(model.info.id));
      return [[entry.id, { models: models.map(({ info }) => withoutFacts(info, before.get(info.id))) }] as const];
    }));
  }

  #renewInstance(instance: ProviderInstance, drafted: Registry, before: readonly ModelInfo[]): void {
    const { registry } = this.#parts;
    const { id } = instance.entry;
    const renewed = drafted.instances.find(({ entry }) => entry.id === id);
    if (renewed === undefined) return;
    Object.assign(instance, { connector: renewed.connector });
    const next = drafted.models.filter((model) => model.instance === renewed);
    for (const model of registry.models.filter((candidate) => candidate.instance === instance)) {
      const found = findAlike(model, next);
      if (found !== undefined) Object.assign(model, { info: found.info, leaves: found.leaves });
    }
    const sync = this.#createSync(id);
    const ids = new Set(next.map(({ info }) => info.id));
    const withdrawn = this.#withdrawn.get(id) ?? new Set();
    this.#withdrawn.set(id, withdrawn);
    for (const earlier of before) {
      if (ids.has(earlier.id) || withdrawn.has(earlier.id) || !sync.modelsOf(id).has(earlier.id)) continue;
      withdrawn.add(earlier.id);
      sync.deactivate(id, earlier.id);
    }
    for (const returnedId of [...withdrawn].filter((withdrawnId) => ids.has(withdrawnId))) {
      withdrawn.delete(returnedId);
      sync.restore(id, returnedId);
    }
    const draft: DraftProvider = { registry: drafted, instance: renewed };
    extendBy(instance, registry, { ...this.#parts, drafted: draft });
  }
}

/** Finds the entry of the same model; several may have one id under different names. */
function findAlike({ name, info }: ModelEntry, models: readonly ModelEntry[]): ModelEntry | undefined {
  const alike = models.filter((model) => model.info.id === info.id);
  return alike.find((model) => model.name === name) ?? alike[0];
}

/** What a provider's own list says about a model: the catalogue's facts are shared objects, and rules are merged. */
function withoutFacts(info: ModelInfo, former: ModelInfo | undefined): ModelInfo {
  const facts = Object.entries(info).filter(([key, value]) => {
    return key === "id" || key !== "parameters" && value !== undefined && value !== former?.[key as keyof ModelInfo];
  });
  return { ...Object.fromEntries(facts), id: info.id };
}

function describeRenewalFailure(error: unknown): string {
  const reason = MeshError.isInstance(error) ? error.message : "it cannot be read";
  return reason.startsWith("The catalogue") ? reason : `The catalogue is not renewed: ${reason}`;
}

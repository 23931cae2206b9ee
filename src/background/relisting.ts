/**
 * Lists the models of providers again whose list could not be had at the start, such as local servers that are started
 * later.
 * @module
 */
import type { ModelInfo } from "../contracts/provider.ts";
import type { Cancel } from "../contracts/runtime.ts";
import type { ProviderInstance, Registry } from "../registry/registry.ts";
import { requestListing } from "./listings.ts";
import { MeshSync, type SyncParts } from "./registry_sync.ts";

/** Minimum time between two requests for the lists, ms. */
const minIntervalMs = 5_000;

/** Maximum time between two requests for the lists without a request that needs them, ms. */
const maxIntervalMs = 60_000;

/** Dependencies of relisting. */
export interface RelistingParts extends Omit<SyncParts, "probe"> {
  /** Adds pools that the configuration does not name, for models that are new. */
  readonly addPools: (registry: Registry) => void;
}

/** Asks again until every provider has answered: in the background less and less often, and for requests. */
export class Relisting {
  readonly #parts: RelistingParts;
  readonly #cancel: Cancel;
  readonly #ask = () => this.ask();
  #missing: readonly ProviderInstance[];
  #asking: Promise<void> | undefined;
  #askedAt: number;
  /** Time until the next request in the background, ms. */
  #waitMs = minIntervalMs;

  /** @param parts Dependencies. The registry has providers with a `listProblem`. */
  constructor(parts: RelistingParts) {
    const { registry, runtime: { clock } } = parts;
    this.#parts = parts;
    this.#missing = registry.instances.filter(({ listProblem }) => listProblem !== undefined);
    this.#askedAt = clock.monotonic();
    this.#cancel = clock.every(minIntervalMs, () => this.#askInBackground());
    registry.relist = this.#ask;
  }

  /** Stops asking. */
  stop(): void {
    const { registry } = this.#parts;
    this.#cancel();
    this.#missing = [];
    if (registry.relist === this.#ask) delete registry.relist; // not that of a successor
  }

  /**
   * Asks for the lists, unless that was done less than 5 s ago. Never rejects.
   *
   * @returns Settles when the providers have answered or failed; undefined if none is being asked.
   */
  ask(): Promise<void> | undefined {
    const now = this.#parts.runtime.clock.monotonic();
    if (this.#asking === undefined && now - this.#askedAt < minIntervalMs) return undefined;
    this.#asking ??= this.#askAll(now).finally(() => this.#asking = undefined);
    return this.#asking;
  }

  async #askInBackground(): Promise<void> {
    if (this.#parts.runtime.clock.monotonic() - this.#askedAt < this.#waitMs) return;
    this.#waitMs = Math.min(2 * this.#waitMs, maxIntervalMs);
    await this.ask();
  }

  async #askAll(now: number): Promise<void> {
    this.#askedAt = now;
    await Promise.all(this.#missing.map((instance) => this.#askOne(instance)));
    this.#missing = this.#missing.filter(({ listProblem }) => listProblem !== undefined);
    if (this.#missing.length === 0) this.stop();
  }

  async #askOne(instance: ProviderInstance): Promise<void> {
    const { hub } = this.#parts;
    const { id } = instance.entry;
    const { models, problem } = await requestListing(instance, this.#parts);
    if (!this.#missing.includes(instance)) return; // stopped meanwhile
    if (models === undefined) {
      if (problem === instance.listProblem) return;
      instance.listProblem = problem!;
      hub.trace({ severity: "warning", component: "mesh", message: `The provider "${id}" ${problem}` });
      return;
    }
    try {
      await this.#register(instance, models);
    } catch {
      hub.trace({
        severity: "error",
        component: "mesh",
        message: `The models of the provider "${id}" cannot be added`,
      });
    }
  }

  async #register(instance: ProviderInstance, models: readonly ModelInfo[]): Promise<void> {
    const { registry, addPools } = this.#parts;
    const { id } = instance.entry;
    delete instance.listProblem;
    instance.listed = new Set(models.map((model) => model.id));
    const sync = new MeshSync({ ...this.#parts, probe: () => Promise.resolve({ models }) }, [id]);
    const existing = sync.modelsOf(id);
    await sync.register(id, models.filter((model) => !existing.has(model.id)));
    addPools(registry);
    registry.onMembersChanged();
  }
}

/**
 * Registry sync: compares a provider's model list with its previous one.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { RegistrySync, SyncHost, SyncStatus } from "../../src/contracts/discovery.ts";
import type { ModelInfo } from "../../src/contracts/provider.ts";
import type { Clock } from "../../src/contracts/runtime.ts";
import { registrySyncDeclaration } from "../guards/declarations.ts";

/** How changes are handled. */
interface SyncActions {
  /** Whether new models are registered; otherwise they are only reported. */
  readonly auto_register: boolean;
  readonly on_new_model: "register" | "notify" | "ignore";
  readonly on_deprecated_model: "deactivate" | "notify" | "ignore";
}

/** `mesh.registry-sync.v1`. */
export const registrySync: Connector<"discovery"> = {
  ...registrySyncDeclaration,
  create: (settings, { clock }) => new ListComparison(settings as unknown as SyncActions, clock),
};

/** Keeps the latest list of each provider. */
class ListComparison implements RegistrySync {
  readonly #onNew: SyncActions["on_new_model"];
  readonly #onDeprecated: SyncActions["on_deprecated_model"];
  readonly #clock: Clock;
  readonly #listed = new Map<string, ReadonlySet<string>>();
  readonly #latest = new Map<string, SyncStatus>();

  constructor({ auto_register, on_new_model, on_deprecated_model }: SyncActions, clock: Clock) {
    this.#onNew = on_new_model === "register" && !auto_register ? "notify" : on_new_model;
    this.#onDeprecated = on_deprecated_model;
    this.#clock = clock;
  }

  async sync(host: SyncHost): Promise<readonly SyncStatus[]> {
    return await Promise.all(host.providers.map(async (provider) => {
      const status = { ...await this.#syncOne(provider, host), provider, at: this.#clock.now() };
      this.#latest.set(provider, status);
      return status;
    }));
  }

  getSyncStatus(): readonly SyncStatus[] {
    return [...this.#latest.values()];
  }

  async #syncOne(provider: string, host: SyncHost): Promise<Omit<SyncStatus, "provider" | "at">> {
    try {
      const models = await host.listModels(provider);
      if (models.length === 0) return { added: [], deprecated: [], problem: "listed no model" };
      const ids = new Set(models.map(({ id }) => id));
      const before = this.#listed.get(provider) ?? host.listedAtStart(provider) ?? new Set();
      const registered = host.modelsOf(provider);
      const added = firstOfEachId(models).filter(({ id }) => !registered.has(id) && !before.has(id));
      const deprecated = [...before].filter((id) => !ids.has(id) && registered.has(id));
      await this.#add(provider, added, host);
      for (const id of ids) host.restore(provider, id); // also one that an earlier process has deactivated
      for (const id of deprecated) this.#deprecate(provider, id, host);
      this.#listed.set(provider, ids);
      return { listed: ids.size, added: added.map(({ id }) => id), deprecated };
    } catch (error) {
      return { added: [], deprecated: [], problem: error instanceof Error ? error.message : "failed" };
    }
  }

  async #add(provider: string, models: readonly ModelInfo[], host: SyncHost): Promise<void> {
    if (models.length === 0 || this.#onNew === "ignore") return;
    if (this.#onNew === "register") return await host.register(provider, models);
    for (const { id: model } of models) {
      const message = `The provider "${provider}" has a new model "${model}"`;
      host.notify({ severity: "info", provider, model, message });
    }
  }

  #deprecate(provider: string, model: string, host: SyncHost): void {
    if (this.#onDeprecated === "ignore") return;
    const message = `The provider "${provider}" does not list the model "${model}" any more`;
    host.notify({ severity: "warning", provider, model, message });
    if (this.#onDeprecated === "deactivate") host.deactivate(provider, model);
  }
}

function firstOfEachId(models: readonly ModelInfo[]): ModelInfo[] {
  const seen = new Set<string>();
  return models.filter(({ id }) => !seen.has(id) && seen.add(id));
}

/**
 * The host of a registry sync: lists models of providers, and registers and deactivates models of the mesh.
 * @module
 */
import type { Settings } from "../config/settings/settings.ts";
import type { RegistryNotice, SyncHost } from "../contracts/discovery.ts";
import type { ModelInfo } from "../contracts/provider.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { Hub } from "../observe/hub.ts";
import type { ConnectorCatalogue } from "../registry/catalogue.ts";
import { draft, extendBy } from "../registry/extend.ts";
import { adoptOpened, type ProviderInstance, type Registry } from "../registry/registry.ts";
import type { MeshState } from "../state/model/mesh_state.ts";
import { queryProviders } from "./ask_providers.ts";
import { requestModels } from "./listings.ts";
import type { ProbeRequest, ProbeResult } from "./probe.ts";

/** Timeout of a list, ms. */
const listLimitMs = 30_000;

/** Dependencies of a sync. */
export interface SyncParts {
  readonly settings: Settings;
  readonly catalogue: ConnectorCatalogue;
  readonly registry: Registry;
  readonly state: MeshState;
  readonly runtime: Runtime;
  readonly hub: Hub;
  /** Redacts secrets in a string. */
  readonly redact: (text: string) => string;
  /** Lists the models of a provider, with a timeout in ms. */
  readonly probe: (instance: ProviderInstance, timeoutMs: number, request?: ProbeRequest) => Promise<ProbeResult>;
}

/** A mesh to be synchronized. */
export class MeshSync implements SyncHost {
  readonly providers: readonly string[];
  readonly #parts: SyncParts;

  /** @param providers Ids of the providers to ask. */
  constructor(parts: SyncParts, providers: readonly string[]) {
    this.#parts = parts;
    this.providers = providers;
  }

  modelsOf(provider: string): ReadonlySet<string> {
    return new Set(this.#models(provider).map(({ info }) => info.id));
  }

  listedAtStart(provider: string): ReadonlySet<string> | undefined {
    return this.#instance(provider).listed;
  }

  async listModels(provider: string): Promise<readonly ModelInfo[]> {
    const result = await this.#parts.probe(this.#instance(provider), listLimitMs, requestModels);
    if ("failure" in result) throw new Error(result.failure.message);
    return result.models;
  }

  async register(provider: string, models: readonly ModelInfo[]): Promise<void> {
    const { runtime, hub, registry, redact } = this.#parts;
    const instance = this.#instance(provider);
    // whether a pool includes a model depends on what else the provider offers
    const discovered = new Map([[provider, {
      models: [...this.#models(provider).map(({ info }) => info), ...models],
    }]]);
    const first = draft(provider, { ...this.#parts, discovered });
    if (first.instance === undefined) return;
    adoptOpened(first.instance, instance);
    Object.assign(first.instance, { queried: instance.queried });
    const queried = await queryProviders([first.instance], first.registry, { runtime, hub, redact });
    const drafted = queried === undefined ? first : draft(provider, { ...this.#parts, discovered, queried });
    instance.queried = new Map([...queried?.get(provider) ?? [], ...instance.queried ?? []]);
    for (const { name, info: { id } } of extendBy(instance, registry, { ...this.#parts, drafted })) {
      const message = `The provider "${provider}" has a new model "${id}": it is registered as "${name}"`;
      hub.trace({ severity: "info", component: "registry", message, provider, model: id });
    }
  }

  deactivate(provider: string, id: string): void {
    const { state, runtime: { clock } } = this.#parts;
    for (const { name: model } of this.#modelsWithId(provider, id)) {
      const override = state.overrides.get({ model, provider }, "model_not_found");
      state.report(override.open("model_not_found", clock.monotonic(), Infinity));
    }
  }

  restore(provider: string, id: string): void {
    const { state } = this.#parts;
    for (const { name: model } of this.#modelsWithId(provider, id)) {
      state.report(state.overrides.find({ model, provider }, "model_not_found")?.close());
    }
  }

  notify({ severity: level, ...facts }: RegistryNotice): void {
    this.#parts.hub.notice({ level, component: "registry", ...facts });
  }

  #models(provider: string) {
    return this.#parts.registry.models.filter(({ instance }) => instance.entry.id === provider);
  }

  #modelsWithId(provider: string, id: string) {
    const { registry } = this.#parts;
    return registry.modelsByUpstreamId(id).filter(({ instance, info }) =>
      instance.entry.id === provider && info.id === id
    );
  }

  #instance(provider: string): ProviderInstance {
    return this.#parts.registry.instances.find(({ entry }) => entry.id === provider)!;
  }
}

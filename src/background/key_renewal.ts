/**
 * Renews API keys that were replaced in the secret store while the mesh is running.
 * @module
 */
import type { SettingsSecrets } from "../config/secrets/settings_secrets.ts";
import type { MeshEvent } from "../contracts/events.ts";
import type { Clock } from "../contracts/runtime.ts";
import { MeshError } from "../errors.ts";
import type { Hub } from "../observe/hub.ts";
import type { ProviderInstance, Registry } from "../registry/registry.ts";
import type { MeshState } from "../state/model/mesh_state.ts";

/** Maximum time that requests wait for a renewed key, ms. After it they use the previous one. */
const maxWaitMs = 2_000;

/** Minimum interval of uncached lookups per provider, ms. */
const minIntervalMs = 1_000;

/** A mesh whose API keys are renewed. */
export interface RenewedMesh {
  readonly runtime: { readonly clock: Pick<Clock, "monotonic" | "after"> };
  readonly hub: Pick<Hub, "trace">;
  readonly registry: Pick<Registry, "instances" | "model">;
  readonly state: Pick<MeshState, "keyPools">;
  /** Resolves secrets; undefined before the start. */
  readonly secrets?: SettingsSecrets;
}

/**
 * Looks up a provider's API keys again: uncached when requests rotate to it, cached when it recovers. If the lookup
 * fails or returns an invalid value, the keys are kept.
 */
export class KeyRenewal {
  readonly #mesh: RenewedMesh;
  /** Time of the last uncached lookup, monotonic ms. */
  readonly #renewedAt = new WeakMap<ProviderInstance, number>();

  /** @param mesh The mesh. */
  constructor(mesh: RenewedMesh) {
    this.#mesh = mesh;
  }

  /** Starts a lookup after a rotation to another provider, and after a recovery. */
  follow({ event, provider, from, reason }: Pick<MeshEvent, "event" | "provider" | "from" | "reason">): void {
    if (event !== "recovery" && (event !== "rotation" || reason === "recovery")) return; // recoveries have their own event
    const { registry, runtime: { clock } } = this.#mesh;
    const instance = registry.instances.find(({ entry }) => entry.id === provider);
    if (instance === undefined || instance.ready !== undefined) return;
    if (event === "recovery") return this.#begin(instance, false);
    if (from !== undefined && registry.model(from)?.instance === instance) return;
    const now = clock.monotonic();
    if (now - (this.#renewedAt.get(instance) ?? -Infinity) < minIntervalMs) return;
    this.#renewedAt.set(instance, now);
    this.#begin(instance, true);
  }

  #begin(instance: ProviderInstance, isForced: boolean): void {
    let cancel = () => {};
    const late = new Promise<void>((resolve) => {
      cancel = this.#mesh.runtime.clock.after(maxWaitMs, resolve);
    });
    instance.ready = Promise.race([this.#renew(instance, isForced), late]).then(() => {
      cancel();
      delete instance.ready;
    });
  }

  async #renew(instance: ProviderInstance, isForced: boolean): Promise<void> {
    const { id } = instance.entry;
    const { secrets, state, hub } = this.#mesh;
    try {
      const entry = await secrets?.entry(id, { isForced });
      if (entry === undefined) return;
      instance.credential = entry.apiKeys[0];
      instance.headers = entry.headers;
      state.keyPools.get(id)?.replace(entry.apiKeys);
    } catch (error) {
      const reason = MeshError.isInstance(error) ? error.message : "it failed";
      const message = `The API keys of "${id}" are kept, since they cannot be looked up again: ${reason}`;
      hub.trace({ severity: "warning", component: "secrets", message });
    }
  }
}

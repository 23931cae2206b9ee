/**
 * Keys that were replaced in the secret store reach the providers of a running mesh.
 * @module
 */
import type { MeshEvent, RoutingRecord } from "../../contracts/events.ts";
import type { Observability } from "../../contracts/observability.ts";
import { MeshError } from "../../errors.ts";
import type { KeyHolder, SecretUser } from "../settings/settings.ts";

/** Requests wait no longer for a key, ms: after that the one before has to do. */
const longestWaitMs = 2_000;

/** A provider that takes over again and again has its keys looked up no more often than this, ms. */
const shortestPauseMs = 1_000;

/**
 * Looks a provider's keys up again: when it takes over from another one, whatever is kept of them; when it is back after
 * a rest, unless what is kept is recent enough. What cannot be looked up, or does not hold, leaves the keys as they are.
 */
export class KeyRenewal implements Observability {
  readonly #user: SecretUser;
  /** When keys were last looked up anew, monotonic ms. */
  readonly #renewedAt = new WeakMap<KeyHolder, number>();

  /** @param user Whose providers they are. */
  constructor(user: SecretUser) {
    this.#user = user;
  }

  /** Is told that a provider takes over. */
  emit(record: MeshEvent | RoutingRecord): void {
    if (record.type !== "event") return;
    const { event, provider, from, reason } = record;
    if (event !== "recovery" && (event !== "rotation" || reason === "recovery")) return; // what recovers was looked up then
    const { registry, runtime: { clock } } = this.#user;
    const instance = registry.instances.find(({ entry }) => entry.id === provider);
    if (instance === undefined || instance.ready !== undefined) return;
    if (event === "recovery") return this.#begin(instance, false);
    if (from !== undefined && registry.model(from)?.instance === instance) return;
    const now = clock.monotonic();
    if (now - (this.#renewedAt.get(instance) ?? -Infinity) < shortestPauseMs) return;
    this.#renewedAt.set(instance, now);
    this.#begin(instance, true);
  }

  /** Notes are nothing to it. */
  trace(): void {}

  /** It keeps nothing back. */
  flush(): Promise<void> {
    return Promise.resolve();
  }

  #begin(instance: KeyHolder, anew: boolean): void {
    let cancel = () => {};
    const late = new Promise<void>((resolve) => {
      cancel = this.#user.runtime.clock.after(longestWaitMs, resolve);
    });
    instance.ready = Promise.race([this.#renew(instance, anew), late]).then(() => {
      cancel();
      delete instance.ready;
    });
  }

  async #renew(instance: KeyHolder, anew: boolean): Promise<void> {
    const { id } = instance.entry;
    try {
      const entry = await this.#user.settings.secrets.renewedEntry?.(id, { anew });
      if (entry === undefined) return;
      instance.credential = entry.apiKeys[0];
      this.#user.takeKeys?.(id, entry.apiKeys);
    } catch (error) {
      const reason = MeshError.isInstance(error) ? error.message : "it failed";
      const message = `The keys of "${id}" stay as they are, since they cannot be looked up again: ${reason}`;
      this.#user.hub.trace({ severity: "warning", component: "secrets", message });
    }
  }
}

/**
 * Deactivating models and providers by hand, and activating them.
 * @module
 */
import type { Clock } from "../contracts/runtime.ts";
import { ModelNotFoundError } from "../errors.ts";
import type { Registry } from "../registry/registry.ts";
import type { MeshState } from "../state/mesh_state.ts";
import { type BreakerOwner, recordKey } from "../state/breaker/circuit_breaker.ts";

/** Whose states they are. */
export interface OverrideContext {
  readonly registry: Registry;
  readonly state: MeshState;
  readonly clock: Clock;
}

/**
 * Deactivates a model or a provider in every pool until it is activated.
 *
 * @param name A model's name or a provider's entry id; the model where both have it.
 * @throws {ModelNotFoundError} When it is neither.
 */
export function deactivate(name: string, parts: OverrideContext): void {
  const { state, clock } = parts;
  state.report(state.overrides.get(ownerOf(name, parts), "manual").open("manual", clock.monotonic(), Infinity));
}

/**
 * Ends all standbys of a model or a provider; a limit that still holds deactivates it again. A provider's
 * keys are reset with it; standbys of its models go on.
 *
 * @param name A model's name or a provider's entry id; the model where both have it.
 * @throws {ModelNotFoundError} When it is neither.
 */
export function activate(name: string, parts: OverrideContext): void {
  const { state } = parts;
  const { model, provider } = ownerOf(name, parts);
  const isMeant = ({ owner }: { owner: BreakerOwner }) => owner.model === model && owner.provider === provider;
  if (model === undefined) state.keyPools.get(provider)?.reset();
  const reported = new Set<string>();
  // pending ones belong to pools not made yet, or to a model that is in no pool
  for (const breaker of [...state.breakers, ...state.mapper?.pending ?? []].filter(isMeant)) {
    const transition = breaker.close("manual");
    const key = recordKey(breaker.owner);
    if (transition !== undefined && !reported.has(key)) state.report(transition); // once, for all its standbys
    if (transition !== undefined) reported.add(key);
  }
}

function ownerOf(name: string, { registry }: OverrideContext): BreakerOwner {
  const model = registry.model(name);
  if (model !== undefined) return { model: model.name, provider: model.instance.entry.id };
  const instance = registry.instances.find(({ entry }) => entry.id === name);
  if (instance !== undefined) return { provider: instance.entry.id };
  const known = [...registry.models.map((one) => one.name), ...registry.instances.map(({ entry }) => entry.id)];
  const hint = known.length === 0 ? "" : `; there are ${known.slice(0, 10).map((one) => `"${one}"`).join(", ")}`;
  throw new ModelNotFoundError(`No model and no provider is named ${JSON.stringify(name)}${hint}`);
}

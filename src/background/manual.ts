/**
 * Deactivating models and providers by hand, and activating them.
 * @module
 */
import type { Clock } from "../contracts/runtime.ts";
import { ModelNotFoundError } from "../errors.ts";
import type { Registry } from "../registry/registry.ts";
import type { MeshState } from "../state/mesh_state.ts";
import { type BreakerOwner, recordKey } from "../state/breaker/circuit_breaker.ts";

/** A model by its name, or a provider by its entry id. */
export type OverrideTarget = { readonly model: string } | { readonly provider: string };

/** Whose states they are. */
interface OverrideContext {
  readonly registry: Registry;
  readonly state: MeshState;
  readonly runtime: { readonly clock: Clock };
}

/**
 * Deactivates a model or a provider in every pool until it is activated.
 *
 * @param target What is meant; a bare name is the model's where a provider has it, too.
 * @throws {ModelNotFoundError} When it does not exist.
 */
export function deactivate(target: string | OverrideTarget, parts: OverrideContext): void {
  const { state, runtime: { clock } } = parts;
  state.report(state.overrides.get(ownerOf(target, parts), "manual").open("manual", clock.monotonic(), Infinity));
}

/**
 * Ends all standbys of a model or a provider; a limit that still holds deactivates it again. A provider's
 * keys are reset with it; standbys of its models go on.
 *
 * @param target What is meant; a bare name is the model's where a provider has it, too.
 * @throws {ModelNotFoundError} When it does not exist.
 */
export function activate(target: string | OverrideTarget, parts: OverrideContext): void {
  const { state } = parts;
  const { model, provider } = ownerOf(target, parts);
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

function ownerOf(target: string | OverrideTarget, { registry }: OverrideContext): BreakerOwner {
  const { model: modelName, provider: id }: { model?: string; provider?: string } = typeof target === "string"
    ? { model: target, provider: target }
    : target;
  const model = modelName === undefined ? undefined : registry.model(modelName);
  if (model !== undefined) return { model: model.name, provider: model.instance.entry.id };
  if (registry.instances.some(({ entry }) => entry.id === id)) return { provider: id! };
  const kinds = [
    ...(modelName === undefined ? [] : [{ kind: "model", names: registry.models.map(({ name }) => name) }]),
    ...(id === undefined ? [] : [{ kind: "provider", names: registry.instances.map(({ entry }) => entry.id) }]),
  ];
  const known = kinds.flatMap(({ names }) => names);
  const hint = known.length === 0 ? "" : `; there are ${known.slice(0, 10).map((one) => `"${one}"`).join(", ")}`;
  const what = kinds.map(({ kind }) => `No ${kind}`).join(" and ").replace("and No", "and no");
  throw new ModelNotFoundError(`${what} is named ${JSON.stringify(modelName ?? id)}${hint}`);
}

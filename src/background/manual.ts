/**
 * Manual deactivation and activation of models and providers.
 * @module
 */
import type { Clock } from "../contracts/runtime.ts";
import { listNearest } from "../config/schema/report.ts";
import { ModelNotFoundError } from "../errors.ts";
import type { Registry } from "../registry/registry.ts";
import type { MeshState } from "../state/model/mesh_state.ts";
import { type BreakerOwner, recordKey } from "../state/breaker/circuit_breaker.ts";

/** A model by its name, or a provider by its id. */
export type OverrideTarget = { readonly model: string } | { readonly provider: string };

/** Registry and state. */
interface OverrideContext {
  readonly registry: Registry;
  readonly state: MeshState;
  readonly runtime: { readonly clock: Clock };
}

/**
 * Deactivates a model or a provider in every pool until it is activated.
 *
 * @param target The target. A string is the name of a model, else the id of a provider.
 * @throws {ModelNotFoundError} When it does not exist.
 */
export function deactivate(target: string | OverrideTarget, parts: OverrideContext): void {
  const { state, runtime: { clock } } = parts;
  state.report(state.overrides.get(findOwner(target, parts), "manual").open("manual", clock.monotonic(), Infinity));
}

/**
 * Ends all standbys of a model or a provider. An exhausted limit deactivates it again. For a provider, the standbys of
 * its API keys end as well; those of its models are kept.
 *
 * @param target The target. A string is the name of a model, else the id of a provider.
 * @throws {ModelNotFoundError} When it does not exist.
 */
export function activate(target: string | OverrideTarget, parts: OverrideContext): void {
  const { state } = parts;
  const { model, provider } = findOwner(target, parts);
  const isTarget = ({ owner }: { owner: BreakerOwner }) => owner.model === model && owner.provider === provider;
  if (model === undefined) state.keyPools.get(provider)?.reset();
  const reported = new Set<string>();
  // pending breakers belong to pools that have not been created, or to a model in no pool
  for (const breaker of [...state.breakers, ...state.mapper?.pending ?? []].filter(isTarget)) {
    const transition = breaker.close("manual");
    const key = recordKey(breaker.owner);
    if (transition !== undefined && !reported.has(key)) state.report(transition); // one event for all standbys
    if (transition !== undefined) reported.add(key);
  }
}

function findOwner(target: string | OverrideTarget, { registry }: OverrideContext): BreakerOwner {
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
  const knownNames = kinds.flatMap(({ names }) => names);
  const hint = knownNames.length === 0 ? "" : `; there are ${listNearest(modelName ?? id ?? "", knownNames)}`;
  const summary = kinds.map(({ kind }) => `No ${kind}`).join(" and ").replace("and No", "and no");
  throw new ModelNotFoundError(`${summary} is named ${JSON.stringify(modelName ?? id)}${hint}`);
}

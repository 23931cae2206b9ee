/**
 * The models that a name means, in a request and in settings.
 * @module
 */
import type { RoutingSettings } from "../config/settings/settings.ts";
import { equivalentIds } from "../util/model_ids.ts";

/** Models by name; upstream ids may be prefixed by their vendor. */
interface ModelIndex<Model> {
  model(name: string): Model | undefined;
  modelsByUpstreamId(id: string): readonly Model[];
}

/** The models that a name means, and the name by which they are known. */
export interface NamedModels<Model> {
  readonly name: string;
  readonly models: readonly Model[];
}

/** Finds the models that a name means: by name, by `<vendor>/<id>`, or by upstream id, which may be dated. */
export function findNamedModels<Model>(name: string, index: ModelIndex<Model>): NamedModels<Model> | undefined {
  const model = index.model(name);
  if (model !== undefined) return { name, models: [model] };
  for (const id of [name, ...equivalentIds(name)]) {
    const models = index.modelsByUpstreamId(id);
    if (models.length > 0) return { name: id, models };
  }
  return undefined;
}

/**
 * Returns routing settings with the names of models in place of their equivalents in the priority list. A name that
 * means no model yet is kept.
 */
export function resolvePriority(
  routing: RoutingSettings,
  index: ModelIndex<{ readonly name: string }>,
): RoutingSettings {
  const names = routing.modelPriority.flatMap((name) => {
    return findNamedModels(name, index)?.models.map((model) => model.name) ?? name;
  });
  return { ...routing, modelPriority: [...new Set(names)] };
}

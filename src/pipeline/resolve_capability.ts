/**
 * Step 1: resolves the name in a request.
 * @module
 */
import { ModelNotFoundError, UnsupportedRequestError } from "../errors.ts";
import { findNamedModels, type NamedModels } from "../registry/named_models.ts";
import { nearestNames } from "../registry/nearest_names.ts";
import type { ModelEntry, Pool, Registry } from "../registry/registry.ts";

/** The target of a name: a pool, a node of the capability tree, or certain models. */
export type Target =
  | { readonly kind: "pool"; readonly pool: Pool }
  | { readonly kind: "capability"; readonly path: string }
  | { readonly kind: "models" } & NamedModels<ModelEntry>;

/**
 * Resolves a name. The first match applies: pool, alias, capability, model, `<vendor>/<id>` or upstream id, which may
 * be dated.
 *
 * @param name The request's `model`.
 * @throws {ModelNotFoundError} If nothing has that name. The message contains the nearest names.
 * @throws {UnsupportedRequestError} If it is the short name of several capabilities.
 */
export function resolveCapability(name: string, registry: Registry): Target {
  const alias = registry.pool(name) === undefined ? registry.aliases.get(name) : undefined;
  const target = find(alias ?? name, registry);
  if (target !== undefined) return target;
  const suggestions = nearestNames(name, registry);
  const hint = suggestions.length === 0 ? "." : `; did you mean ${suggestions.map((one) => `"${one}"`).join(" or ")}?`;
  throw new ModelNotFoundError(
    `The model or pool ${
      quoteName(name)
    } does not exist${hint} To add a model, name it and its provider under "models"`,
  );
}

function find(name: string, registry: Registry): Target | undefined {
  const pool = registry.pool(name);
  if (pool !== undefined) return { kind: "pool", pool };
  const paths = registry.tree.matches(name);
  if (paths.length === 1) return { kind: "capability", path: paths[0]! };
  const named = findNamedModels(name, registry);
  if (named !== undefined) return { kind: "models", ...named };
  if (paths.length === 0) return undefined;
  throw new UnsupportedRequestError(`The capability ${quoteName(name)} is ambiguous: use ${paths.join(" or ")}`, {
    code: "invalid_value",
    param: "model",
  });
}

function quoteName(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
}

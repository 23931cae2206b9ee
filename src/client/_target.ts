/**
 * The target of a client: its capability, and the pools that are created for it when there is no configuration.
 * @module
 */
import { nearestCapabilities } from "../capability/nearest.ts";
import { CapabilityTree } from "../capability/tree.ts";
import { ConfigError, MeshError } from "../errors.ts";
import type { Engine } from "../engine/engine.ts";
import { resolveCapability } from "../pipeline/select_pool.ts";
import { addLeafPools } from "../registry/build.ts";
import type { Registry } from "../registry/registry.ts";

/**
 * Returns the function that creates the pools of a client without configured pools: one pool for the client's
 * capability, or one for each leaf of the capability tree that a model serves.
 *
 * @param capability A short name, a full path or an inner node.
 * @throws {ConfigError} When the name is unknown or ambiguous.
 */
export function poolsFor(capability: string | undefined): (registry: Registry) => void {
  if (capability === undefined) return addLeafPools;
  const path = resolvePath(capability);
  return (registry) => void registry.poolAt(path, true);
}

/**
 * Checks that the client's pool and capability exist, so that an unknown name fails in `create` and not in every call.
 *
 * @throws {ConfigError} When the pool or the capability is unknown.
 */
export function checkTarget(
  { registry }: Engine,
  { pool, capability }: { readonly pool?: string; readonly capability?: string },
): void {
  for (const [path, name] of Object.entries({ pool, capability })) {
    if (name === undefined) continue;
    try {
      resolveCapability(name, registry);
    } catch (error) {
      if (!MeshError.isInstance(error)) throw error;
      throw new ConfigError([{ path, message: error.message }]);
    }
  }
}

/**
 * Rejects options that belong in the configuration when a `config` is given.
 *
 * @throws {ConfigError} Lists every such option.
 */
export function refuseBeside(options: Readonly<Partial<Record<"providers" | "models" | "strategy", unknown>>>): void {
  const problems = (["providers", "models", "strategy"] as const)
    .filter((name) => options[name] !== undefined)
    .map((name) => ({ path: name, message: "goes without `config`: set it in the configuration" }));
  if (problems.length > 0) throw new ConfigError(problems);
}

function resolvePath(capability: string): string {
  const tree = new CapabilityTree();
  const [path, ...others] = tree.matches(capability);
  if (path !== undefined && others.length === 0) return path;
  const choices = path === undefined ? nearestCapabilities(tree, capability) : [path, ...others];
  const use = choices.map((choice) => `"${choice}"`).join(" or ") || "one such as chat-completion";
  throw new ConfigError([{
    path: "capability",
    message: `"${capability}" is ${path === undefined ? "no capability" : "ambiguous"}: use ${use}`,
  }]);
}

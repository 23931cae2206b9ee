/**
 * What a client is for: the capability it names, the pools that are made for it, and what goes without a configuration.
 * @module
 */
import { nearestCapabilities } from "../capability/nearest.ts";
import { CapabilityTree } from "../capability/tree.ts";
import { ConfigError, MeshError } from "../errors.ts";
import type { Engine } from "../engine/engine.ts";
import { resolveCapability } from "../pipeline/resolve_capability.ts";
import { addLeafPools } from "../registry/build.ts";
import type { Registry } from "../registry/registry.ts";

/**
 * What makes the pools of a client without configured ones: that of its capability, else one for each leaf there is.
 *
 * @param capability As given.
 * @throws {ConfigError} When it stands for no one node.
 */
export function poolsFor(capability: string | undefined): (registry: Registry) => void {
  if (capability === undefined) return addLeafPools;
  const path = pathOf(capability);
  return (registry) => void registry.poolAt(path, true);
}

/**
 * A pool or capability that the configuration does not know is an error at once, not at every call.
 *
 * @param engine Configured.
 * @param options The names.
 * @throws {ConfigError} When one stands for nothing.
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
 * Refuses what a configuration says itself.
 *
 * @param options As given, beside a configuration.
 * @throws {ConfigError} With all that is too much.
 */
export function refuseBeside(options: Readonly<Partial<Record<"providers" | "models" | "strategy", unknown>>>): void {
  const problems = (["providers", "models", "strategy"] as const)
    .filter((name) => options[name] !== undefined)
    .map((name) => ({ path: name, message: "goes without `config`: say it in the configuration" }));
  if (problems.length > 0) throw new ConfigError(problems);
}

function pathOf(capability: string): string {
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

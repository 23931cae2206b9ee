/**
 * Configuration objects that bring their own parser, such as the browser entry's `MeshConfig`.
 * @module
 */
import type { SettingsPlan } from "../config/build/explicit.ts";

/** Shared by all copies of this package in a program; not visible to programs. */
const planKey = /* @__PURE__ */ Symbol.for("modelmesh.plan");

/** Makes settings. Throws a `NoProvidersError` when the configuration has no providers. */
type MakePlan = () => SettingsPlan;

/**
 * Attaches a plan to a configuration.
 *
 * @param config The configuration object that programs use.
 * @param plan Makes its settings.
 */
export function bindPlan(config: object, plan: MakePlan): void {
  Object.defineProperty(config, planKey, { value: plan });
}

/** Returns the function that makes a configuration's settings; undefined when the configuration does not bring one. */
export function findPlan(config: unknown): MakePlan | undefined {
  return typeof config === "object" ? (config as { [planKey]?: MakePlan } | null)?.[planKey] : undefined;
}

/**
 * A configuration that brings what reads it, such as the browser entry's `MeshConfig`.
 * @module
 */
import type { SettingsPlan } from "../config/build/explicit.ts";

/** Common to all copies of this package in a program; programs do not see it. */
const planKey = /* @__PURE__ */ Symbol.for("modelmesh.plan");

/** Makes a plan. Throws a `NoProvidersError` when its configuration has no providers. */
type MakePlan = () => SettingsPlan;

/**
 * Gives a configuration its plan.
 *
 * @param config What programs have of it.
 * @param plan Makes the plan.
 */
export function bindPlan(config: object, plan: MakePlan): void {
  Object.defineProperty(config, planKey, { value: plan });
}

/** What makes the plan of a configuration; undefined for one that brings nothing to read it. */
export function planOf(config: unknown): MakePlan | undefined {
  return typeof config === "object" ? (config as { [planKey]?: MakePlan } | null)?.[planKey] : undefined;
}

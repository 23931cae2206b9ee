/**
 * The stages that a guard is configured for.
 * @module
 */
import type { Guard, GuardContext } from "../../src/contracts/guard.ts";

/** Returns a guard that lets the other stage pass. */
export function onlyAt(stages: unknown, guard: Guard): Guard {
  if (!Array.isArray(stages)) return guard;
  return {
    ...guard,
    check: (texts, context: GuardContext) =>
      stages.includes(context.stage) ? guard.check(texts, context) : { action: "allow" },
  };
}

/**
 * Limits that a program's own provider reports while it works; those of vendors come with the headers of their responses.
 * @module
 */
import type { Member } from "../registry/registry.ts";
import { limitsIn } from "../registry/provider_answers.ts";
import type { Permit } from "../state/limits/permit.ts";
import { isSameLimits } from "../state/limits/rate_limiter.ts";

/**
 * Asks the provider again after an answer. New limits replace the old ones, as those in headers do.
 *
 * @param member The model that answered.
 * @param permit The request's permit there.
 */
export function applyReportedLimits({ model: { info, instance } }: Member, permit: Permit): void {
  const answers = instance.answers?.get(info.id);
  if (answers === undefined || instance.connector !== undefined && answers.limits === undefined) return;
  let limits;
  try {
    limits = limitsIn(instance.provider!.getRateLimits(info.id));
  } catch {
    return; // reported at the start
  }
  if (limits === undefined || isSameLimits(limits, answers.latestLimits ?? answers.limits ?? {})) return;
  answers.latestLimits = limits;
  permit.limit(limits);
}

/**
 * Limits reported at runtime by custom providers. Those of vendors are in response headers.
 * @module
 */
import type { Member } from "../registry/registry.ts";
import { limitsIn } from "../registry/provider_answers.ts";
import type { Permit } from "../state/model/permit.ts";
import { isSameLimits } from "../state/limits/rate_limiter.ts";
import { callNow } from "../util/call_now.ts";

/**
 * Queries the provider after a response. New limits replace earlier ones, as those in headers do.
 *
 * @param member The model that responded.
 * @param permit The permit of the request.
 */
export function applyReportedLimits({ model: { info, instance } }: Member, permit: Permit): void {
  const answers = instance.answers?.get(info.id);
  if (answers === undefined || instance.connector !== undefined && answers.limits === undefined) return;
  let limits;
  try {
    limits = limitsIn(callNow(() => instance.provider!.getRateLimits(info.id)));
  } catch {
    return; // traced at startup
  }
  if (limits === undefined || isSameLimits(limits, answers.latestLimits ?? answers.limits ?? {})) return;
  answers.latestLimits = limits;
  permit.limit(limits);
}

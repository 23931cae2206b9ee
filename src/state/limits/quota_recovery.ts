/**
 * When a model whose quota at the vendor is exhausted recovers.
 * @module
 */
import type { ProviderEntry, RecoverySettings } from "../../config/settings/settings.ts";
import type { Clock } from "../../contracts/runtime.ts";
import { untilQuotaReset } from "../../util/windows.ts";
import { EndDate } from "../breaker/end_date.ts";

/**
 * Returns when an exhausted quota resets: a date; or the cooldown in ms, if the pool ignores resets.
 *
 * @param recovery The recovery settings of the pool. Its schedule takes precedence over the provider's.
 * @param clock Both clocks.
 */
export function quotaRecovery(
  { cooldownMs, onQuotaReset, quotaReset }: RecoverySettings,
  provider: Pick<ProviderEntry, "quotaReset">,
  clock: Pick<Clock, "now" | "monotonic">,
): number | EndDate {
  if (onQuotaReset === false) return cooldownMs;
  const now = clock.now();
  return new EndDate(now + untilQuotaReset(quotaReset ?? provider.quotaReset, now), clock);
}

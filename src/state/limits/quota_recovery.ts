/**
 * When a model whose quota at the vendor is exhausted recovers.
 * @module
 */
import type { ProviderEntry, RecoverySettings } from "../../config/settings/settings.ts";
import { untilQuotaReset } from "../../util/windows.ts";

/**
 * Time until an exhausted quota resets, ms; the cooldown if the pool ignores resets.
 *
 * @param recovery The recovery settings of the pool. Its schedule takes precedence over the provider's.
 * @param wallTimeMs Wall clock, ms.
 */
export function untilQuotaRecovery(
  { cooldownMs, onQuotaReset, quotaReset }: RecoverySettings,
  provider: Pick<ProviderEntry, "quotaReset">,
  wallTimeMs: number,
): number {
  return onQuotaReset === false ? cooldownMs : untilQuotaReset(quotaReset ?? provider.quotaReset, wallTimeMs);
}

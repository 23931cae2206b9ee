/**
 * Ends that are dates: the next window of a budget, the reset of a quota, a `Retry-After` with a date.
 * @module
 */
import type { ProviderEntry, RecoverySettings } from "../../config/settings/settings.ts";
import type { Clock } from "../../contracts/runtime.ts";
import { dayMs, untilQuotaReset } from "../../util/windows.ts";

/** Maximum of any standby that ends by itself, ms: a month, for quotas that a provider resets monthly. */
export const maxStandbyMs: number = 31 * dayMs;

/**
 * A date of the wall clock. On the monotonic clock it moves when the machine sleeps, or the wall clock is set: the date
 * is what counts.
 */
export class EndDate {
  /** Wall-clock ms. */
  readonly at: number;
  readonly #clock: Pick<Clock, "now" | "monotonic">;
  /** How far ahead the end of a day, or of a month, may be after the wall clock was set back, ms. */
  readonly #maxMs: number;

  /** @param at The date, wall-clock ms; at most {@linkcode maxStandbyMs} from now counts. */
  constructor(at: number, clock: Pick<Clock, "now" | "monotonic">) {
    this.at = Math.min(at, clock.now() + maxStandbyMs);
    this.#clock = clock;
    this.#maxMs = 2 * (this.leftMs <= 2 * dayMs ? dayMs : maxStandbyMs);
  }

  /** Time until the date, ms; negative once it has passed. */
  get leftMs(): number {
    return this.at - this.#clock.now();
  }

  /**
   * The date on the monotonic clock, ms. It has passed, too, when it is further ahead than it could ever be: a wall
   * clock that was wrong once must not stop the calendar.
   */
  get monotonicMs(): number {
    const { leftMs } = this;
    return leftMs > this.#maxMs ? 0 : this.#clock.monotonic() + leftMs;
  }
}

/**
 * Returns the end of a standby for which a provider has stated a date.
 *
 * @param at The date, wall-clock ms.
 * @param clock Both clocks.
 * @param maxMs Maximum time until then, ms.
 * @returns Undefined without a date. One that has passed is now.
 */
export function statedEnd(
  at: number | undefined,
  clock: Pick<Clock, "now" | "monotonic">,
  maxMs: number = maxStandbyMs,
): EndDate | undefined {
  return at === undefined ? undefined : new EndDate(Math.max(clock.now(), Math.min(at, clock.now() + maxMs)), clock);
}

/**
 * Returns when an exhausted quota resets: a date; or the cooldown in ms, if the pool ignores resets.
 *
 * @param recovery The recovery settings of the pool. Its schedule takes precedence over the provider's.
 * @param clock Both clocks.
 */
export function quotaRecovery(
  { cooldownMs, onQuotaReset, quotaResetSchedule }: RecoverySettings,
  provider: Pick<ProviderEntry, "quota">,
  clock: Pick<Clock, "now" | "monotonic">,
): number | EndDate {
  if (onQuotaReset === false) return cooldownMs;
  const now = clock.now();
  return new EndDate(now + untilQuotaReset(quotaResetSchedule ?? provider.quota?.resetSchedule, now), clock);
}

/**
 * The age of cached values.
 * @module
 */
import type { Clock } from "../contracts/runtime.ts";

/**
 * Starts measuring the age of a value, by the clock on which it is older: neither a machine that sleeps, which stops the
 * monotonic clock, nor a wall clock that is set back makes a value last longer.
 *
 * @param clock Both clocks.
 * @returns Returns the age, ms.
 *
 * @example
 * ```ts
 * import { fakeClock } from "../runtime/test.ts";
 *
 * const ageMs = startAge(fakeClock());
 * if (ageMs() < 300_000) console.log("fresh");
 * ```
 */
export function startAge(clock: Pick<Clock, "now" | "monotonic">): () => number {
  const [wallTimeMs, monotonicMs] = [clock.now(), clock.monotonic()];
  return () => Math.max(clock.now() - wallTimeMs, clock.monotonic() - monotonicMs);
}

/**
 * Listeners of rate limiters, which queues of several pools and configurations may share.
 * @module
 */
import type { Cancel } from "../contracts/runtime.ts";
import type { ModelRateLimiter } from "../state/limits/rate_limiter.ts";

const listeners = new WeakMap<ModelRateLimiter, Set<() => void>>();

/**
 * Adds a listener that is called when a limiter may admit more than before. Several listeners come first in turns.
 *
 * @returns Removes it.
 */
export function listenToLimits(limiter: ModelRateLimiter, listener: () => void): Cancel {
  const own = listeners.get(limiter) ?? new Set<() => void>();
  listeners.set(limiter, own);
  own.add(listener);
  limiter.onFreed = () => notifyInTurns(own);
  return () => {
    own.delete(listener);
    if (own.size === 0) limiter.onFreed = undefined;
  };
}

function notifyInTurns(own: Set<() => void>): void {
  const [first, ...others] = own;
  if (first === undefined) return;
  for (const listener of [first, ...others]) listener();
  if (own.delete(first)) own.add(first);
}

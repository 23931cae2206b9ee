/**
 * Timeouts of the counters and messages that several processes share.
 * @module
 */
import type { Clock } from "../contracts/runtime.ts";
import type { Shared } from "../contracts/storage.ts";
import { ConnectorError } from "../errors.ts";
import { waitWithin } from "../util/within.ts";

/** Timeout of a call, ms. Requests continue without the storage much earlier; a call that hangs would block the next. */
const sharedTimeoutMs = 10_000;

/**
 * Returns a shared facet whose calls fail when the storage does not respond.
 *
 * @param shared The facet of a storage.
 * @param options `title` names the storage in error messages.
 */
export function withSharedTimeouts(
  shared: Shared,
  { title, clock }: { readonly title: string; readonly clock: Pick<Clock, "after"> },
): Shared {
  const timed = <T>(start: () => Promise<T>) => {
    const message = `${title} did not respond within ${sharedTimeoutMs / 1000} s`;
    const expired = () => new ConnectorError(message, undefined, "unavailable");
    return waitWithin(start, { clock, ms: sharedTimeoutMs, expired });
  };
  const { leaseMs } = shared;
  return {
    ...(leaseMs === undefined ? {} : { leaseMs }),
    get lostLeases() {
      return shared.lostLeases ?? 0;
    },
    add: (changes) => timed(() => shared.add(changes)),
    reserve: (reservations) => timed(() => shared.reserve(reservations)),
    publish: (channel, message) => timed(() => shared.publish(channel, message)),
    subscribe: (channel, receive) => timed(() => shared.subscribe(channel, receive)),
  };
}

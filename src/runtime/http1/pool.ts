/**
 * Connections that are kept for later requests, by origin.
 * @module
 */
import type { Connection } from "./connection.ts";

/** A connection that was idle for so long is not used again, ms: balancers drop idle connections silently. */
const idleMs = 45_000;

/** Minimum time between two searches for old connections, ms. */
const lookMs = 10_000;

/** Idle connections to one origin; what comes beyond is closed. */
const maxIdle = 256;

/** Idle connections, the one used last first, so that the others can grow old. */
export class ConnectionPool {
  readonly #idle = new Map<string, Connection[]>();
  #nextLookAt = 0;

  /** Takes a connection out that can be used. */
  take(origin: string, now: number): Connection | undefined {
    if (now >= this.#nextLookAt) this.#closeOld(now);
    const connection = this.#idle.get(origin)?.pop();
    connection?.wake();
    return connection;
  }

  /** Puts a connection in whose last response is over. */
  put(origin: string, connection: Connection, now: number): void {
    const kept = this.#idle.get(origin);
    if (kept !== undefined && kept.length >= maxIdle) return connection.close();
    const list = kept ?? [];
    if (kept === undefined) this.#idle.set(origin, list);
    list.push(connection);
    connection.park(now, () => {
      const index = list.indexOf(connection);
      if (index >= 0) list.splice(index, 1);
      if (list.length === 0 && this.#idle.get(origin) === list) this.#idle.delete(origin);
    });
  }

  /** Done with a request now and then: a timer per connection would cost more than the request's own. */
  #closeOld(now: number): void {
    this.#nextLookAt = now + lookMs;
    for (const [origin, list] of this.#idle) {
      const young = list.findIndex(({ idleSince }) => now - idleSince < idleMs);
      for (const connection of list.splice(0, young < 0 ? list.length : young)) {
        connection.wake(); // its end is no news
        connection.close();
      }
      if (list.length === 0) this.#idle.delete(origin);
    }
  }
}

/**
 * A pool of persistent connections, by origin.
 * @module
 */
import type { Connection } from "./connection.ts";

/** Idle timeout of a connection, ms: load balancers drop idle connections silently. */
const idleMs = 45_000;

/** Minimum interval of checks for timed-out connections, ms. */
const lookMs = 10_000;

/** Maximum idle connections per origin; excess connections are closed. */
const maxIdle = 256;

/** Idle connections. The most recently used one is reused first, so that the others can time out. */
export class ConnectionPool {
  readonly #idle = new Map<string, Connection[]>();
  #nextLookAt = 0;

  /** Removes and returns an idle connection; undefined if there is none. */
  take(origin: string, now: number): Connection | undefined {
    if (now >= this.#nextLookAt) this.#closeOld(now);
    const connection = this.#idle.get(origin)?.pop();
    connection?.wake();
    return connection;
  }

  /** Adds a connection whose last response is complete. */
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

  /** Runs on some requests: a timer per connection would cost more than the request's own. */
  #closeOld(now: number): void {
    this.#nextLookAt = now + lookMs;
    for (const [origin, list] of this.#idle) {
      const young = list.findIndex(({ idleSince }) => now - idleSince < idleMs);
      for (const connection of list.splice(0, young < 0 ? list.length : young)) {
        connection.wake(); // `close` must not call back
        connection.close();
      }
      if (list.length === 0) this.#idle.delete(origin);
    }
  }
}

/**
 * Outages: pools without an active model.
 * @module
 */
import type { Clock } from "../contracts/runtime.ts";
import type { Hub } from "../observe/hub.ts";
import type { Pool, Registry } from "../registry/registry.ts";
import type { Transition } from "../state/breaker/circuit_breaker.ts";

/** Emits `outage` when a pool loses its last active model (`down`), and when it has one again (`up`). */
export class Outages {
  readonly #hub: Hub;
  readonly #clock: Clock;
  readonly #down = new Set<string>();

  constructor(hub: Hub, clock: Clock) {
    this.#hub = hub;
    this.#clock = clock;
  }

  /**
   * Initializes with the current state of pools, which an earlier process or configuration may have left without an
   * active model.
   */
  begin(pools: readonly Pool[]): void {
    for (const one of pools) if (this.#isDown(one)) this.#down.add(one.name);
  }

  /** Checks the pools that a transition affects, after it is complete: a breaker reports it before it opens. */
  check(registry: Pick<Registry, "pools">, transition: Transition): void {
    Promise.resolve().then(() => this.#check(registry, transition));
  }

  #check({ pools }: Pick<Registry, "pools">, { owner: { pool, provider }, reason }: Transition): void {
    for (const one of pools) {
      if (pool !== undefined && pool !== one.name) continue;
      const isDown = this.#isDown(one);
      if (isDown === this.#down.has(one.name)) continue;
      if (isDown) this.#down.add(one.name);
      else this.#down.delete(one.name);
      this.#report(one.name, { isDown, provider, reason });
    }
  }

  #isDown(pool: Pool): boolean {
    return pool.members.length > 0 && !hasActive(pool, this.#clock.monotonic());
  }

  #report(pool: string, { isDown, provider, reason }: OutageFacts): void {
    const [from, to] = isDown ? ["up", "down"] : ["down", "up"];
    this.#hub.event({ event: "outage", pool, provider, from, to, reason, metadata: {} });
    const message = isDown
      ? `The pool "${pool}" has no active model left`
      : `The pool "${pool}" has an active model again`;
    this.#hub.trace({ severity: isDown ? "critical" : "info", component: "pool", message, pool });
  }
}

interface OutageFacts {
  readonly isDown: boolean;
  readonly provider: string;
  readonly reason: string;
}

function hasActive({ members }: Pool, now: number): boolean {
  return members.some(({ state }) => {
    state.refresh(now);
    return state.status === "active";
  });
}

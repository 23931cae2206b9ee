/**
 * Outages: pools and providers without an active model.
 * @module
 */
import type { Clock } from "../contracts/runtime.ts";
import type { Hub } from "../observe/hub.ts";
import type { Member, Pool, Registry } from "../registry/registry.ts";
import type { Transition } from "../state/breaker/circuit_breaker.ts";
import { followWork } from "../util/failure.ts";

/** The models of a pool, or those of a provider in all pools. */
interface Group {
  readonly kind: "pool" | "provider";
  readonly name: string;
  readonly members: readonly Member[];
}

/**
 * Emits `outage` when a pool or a provider loses its last active model (`down`), and when it has one again (`up`). The
 * event of a provider has no `pool`.
 */
export class Outages {
  readonly #hub: Hub;
  readonly #clock: Clock;
  /** Keys of the groups in outage. */
  readonly #down = new Set<string>();
  /** Those of the current turn. */
  readonly #transitions: Transition[] = [];

  constructor(hub: Hub, clock: Clock) {
    this.#hub = hub;
    this.#clock = clock;
  }

  /** Adopts current states without events: those restored from an earlier process or configuration. */
  begin(pools: readonly Pool[]): void {
    const providers = new Set(pools.flatMap(({ members }) => members.map(getProviderName)));
    const groups = [...pools.map(groupOfPool), ...[...providers].map((id) => groupOfProvider(id, pools))];
    for (const group of groups) if (this.#isDown(group)) this.#down.add(toGroupKey(group));
  }

  /** Checks the groups affected by a transition after it is complete, since a breaker reports it before it opens. */
  check(registry: Pick<Registry, "pools">, transition: Transition): void {
    this.#transitions.push(transition);
    if (this.#transitions.length > 1) return; // those of one turn are checked together
    const checked = Promise.resolve().then(() => this.#check(registry, this.#transitions.splice(0)));
    followWork(checked, { hub: this.#hub, component: "outages", task: "The check for outages" });
  }

  /** The cause of an outage is the first transition that affected it. */
  #check({ pools }: Pick<Registry, "pools">, transitions: readonly Transition[]): void {
    const causes = new Map<string, Transition>(); // by pool
    const providers = new Map<string, Transition>();
    let ofAllPools: Transition | undefined;
    for (const transition of transitions) {
      const { pool, provider } = transition.owner;
      if (!providers.has(provider)) providers.set(provider, transition);
      if (pool === undefined) ofAllPools ??= transition;
      else if (ofAllPools === undefined && !causes.has(pool)) causes.set(pool, transition);
    }
    for (const pool of pools) this.#checkGroup(groupOfPool(pool), causes.get(pool.name) ?? ofAllPools);
    for (const [id, cause] of providers) this.#checkGroup(groupOfProvider(id, pools), cause);
  }

  #checkGroup(group: Group, cause: Transition | undefined): void {
    if (cause === undefined) return;
    const { owner: { provider }, reason } = cause;
    const isDown = this.#isDown(group);
    if (isDown === this.#down.has(toGroupKey(group))) return;
    if (isDown) this.#down.add(toGroupKey(group));
    else this.#down.delete(toGroupKey(group));
    this.#report(group, { isDown, provider, reason });
  }

  #isDown({ members }: Group): boolean {
    return members.length > 0 && !hasActive(members, this.#clock.monotonic());
  }

  #report(
    { kind, name }: Group,
    { isDown, provider, reason }: { readonly isDown: boolean; readonly provider: string; readonly reason: string },
  ): void {
    const [from, to] = isDown ? ["up", "down"] : ["down", "up"];
    const pool = kind === "pool" ? { pool: name } : {};
    this.#hub.event({ event: "outage", ...pool, provider, from, to, reason, metadata: {} });
    const message = `The ${kind} "${name}" has ${isDown ? "no active model left" : "an active model again"}`;
    const severity = kind === "pool" ? "critical" : "error"; // other providers of its pools may still serve
    this.#hub.trace({ severity: isDown ? severity : "info", component: kind, message, ...pool });
  }
}

function groupOfPool({ name, members }: Pool): Group {
  return { kind: "pool", name, members };
}

function groupOfProvider(id: string, pools: readonly Pool[]): Group {
  const members = pools.flatMap((pool) => pool.members.filter((member) => getProviderName(member) === id));
  return { kind: "provider", name: id, members };
}

function getProviderName({ model }: Member): string {
  return model.instance.entry.id;
}

function toGroupKey({ kind, name }: Group): string {
  return `${kind} ${name}`;
}

function hasActive(members: readonly Member[], now: number): boolean {
  return members.some(({ state }) => {
    state.refresh(now);
    return state.status === "active";
  });
}

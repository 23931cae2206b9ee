/**
 * Which models are in which pools, and which of them are in standby.
 * @module
 */
import type { StatsScope } from "../contracts/events.ts";
import type { BreakerOwner } from "../state/breaker/circuit_breaker.ts";
import { StatsCounters } from "./_stats_counters.ts";
import type { MemberNames } from "./hub_events.ts";

interface Member {
  readonly names: MemberNames;
  /** Those of its pool, its model and its provider. */
  readonly counters: readonly StatsCounters[];
  /** How many of its three owners are in standby: itself, its model, its provider. */
  standbyOwners: number;
}

/** The counters of a mesh and the members that each of them covers. Bounded by what is configured. Times are monotonic ms. */
export class Membership {
  readonly #counters: Readonly<Record<StatsScope, Map<string, StatsCounters>>> = {
    model: new Map(),
    provider: new Map(),
    pool: new Map(),
  };
  readonly #members = new Map<string, Member>();
  readonly #ownersInStandby = new Set<string>();

  /** The counters of a model, provider or pool, made at first sight. */
  countersOf(scope: StatsScope, id: string): StatsCounters {
    const known = this.#counters[scope].get(id);
    if (known !== undefined) return known;
    const made = new StatsCounters();
    this.#counters[scope].set(id, made);
    return made;
  }

  /** All counters, by scope and in the order they were made. */
  *all(): Generator<readonly [scope: StatsScope, id: string, counters: StatsCounters]> {
    for (const scope of ["model", "provider", "pool"] as const) {
      for (const [id, counters] of this.#counters[scope]) yield [scope, id, counters];
    }
  }

  /** Removes every member and ends every standby; the numbers stay. */
  clear(now: number): void {
    this.#members.clear();
    this.#ownersInStandby.clear();
    for (const [, , counters] of this.all()) counters.clearMembers(now);
  }

  /** Adds a model to a pool, once. */
  add(names: MemberNames, now: number): void {
    const { pool, model, provider } = names;
    const key = keyOf(names);
    if (this.#members.has(key)) return;
    const counters = [
      this.countersOf("pool", pool),
      this.countersOf("model", model),
      this.countersOf("provider", provider),
    ];
    const owners = [names, { model, provider }, { provider }];
    const standbyOwners = owners.filter((owner) => this.#ownersInStandby.has(keyOf(owner))).length;
    this.#members.set(key, { names, counters, standbyOwners });
    for (const each of counters) each.addMember(standbyOwners > 0, now);
  }

  /** Moves an owner to standby; false when it was there already. */
  enterStandby(owner: BreakerOwner, now: number): boolean {
    const key = keyOf(owner);
    if (this.#ownersInStandby.has(key)) return false;
    this.#ownersInStandby.add(key);
    for (const member of this.#membersOf(owner)) {
      if (member.standbyOwners++ === 0) { for (const each of member.counters) each.memberChanged(true, now); }
    }
    return true;
  }

  /** Takes an owner out of standby; one that is not in standby changes nothing. */
  leaveStandby(owner: BreakerOwner, now: number): void {
    if (!this.#ownersInStandby.delete(keyOf(owner))) return;
    for (const member of this.#membersOf(owner)) {
      if (--member.standbyOwners === 0) { for (const each of member.counters) each.memberChanged(false, now); }
    }
  }

  /** The counters that an owner's standby belongs to, each once: its own, and those of every member it covers. */
  affectedBy(owner: BreakerOwner): ReadonlySet<StatsCounters> {
    const { pool, model, provider } = owner;
    const affected = new Set([this.countersOf("provider", provider)]);
    if (model !== undefined) affected.add(this.countersOf("model", model));
    if (pool !== undefined) affected.add(this.countersOf("pool", pool));
    for (const member of this.#membersOf(owner)) for (const each of member.counters) affected.add(each);
    return affected;
  }

  *#membersOf({ pool, model, provider }: BreakerOwner): Generator<Member> {
    for (const member of this.#members.values()) {
      const { names } = member;
      if (names.provider !== provider) continue;
      if ((pool ?? names.pool) === names.pool && (model ?? names.model) === names.model) yield member;
    }
  }
}

/** Names may hold anything; JSON keeps them apart. */
function keyOf({ pool, model, provider }: BreakerOwner): string {
  return JSON.stringify([pool, model, provider]);
}

/**
 * Membership of models in pools, and which of them are in standby.
 * @module
 */
import type { StatsScope } from "../contracts/events.ts";
import type { BreakerOwner } from "../state/breaker/circuit_breaker.ts";
import { MemberIndex } from "../state/model/member_index.ts";
import { StatsCounters } from "./_stats_counters.ts";
import type { MemberNames } from "./hub_events.ts";

interface Member {
  readonly names: MemberNames;
  /** Counters of its pool, its model and its provider. */
  readonly counters: readonly StatsCounters[];
  /** Number of its owners that are in standby: the member itself, its model, its provider. */
  standbyOwners: number;
}

/** Counters of a mesh, and the members that each covers. Bounded by the configuration. Times are monotonic ms. */
export class Membership {
  readonly #counters: Readonly<Record<StatsScope, Map<string, StatsCounters>>> = {
    model: new Map(),
    provider: new Map(),
    pool: new Map(),
  };
  readonly #members = new Map<string, Member>();
  readonly #index = new MemberIndex<Member>(({ names }) => names);
  readonly #ownersInStandby = new Set<string>();

  /** Returns the counters of a model, provider or pool, created on first use. */
  getCounters(scope: StatsScope, id: string): StatsCounters {
    const known = this.#counters[scope].get(id);
    if (known !== undefined) return known;
    const made = new StatsCounters();
    this.#counters[scope].set(id, made);
    return made;
  }

  /** Iterates over all counters, by scope and in order of creation. */
  *all(): Generator<readonly [scope: StatsScope, id: string, counters: StatsCounters]> {
    for (const scope of ["model", "provider", "pool"] as const) {
      for (const [id, counters] of this.#counters[scope]) yield [scope, id, counters];
    }
  }

  /** Removes all members and ends all standbys. Counters are kept. */
  clear(now: number): void {
    this.#members.clear();
    this.#index.clear();
    this.#ownersInStandby.clear();
    for (const [, , counters] of this.all()) counters.clearMembers(now);
  }

  /** Adds a model to a pool, once. */
  add(names: MemberNames, now: number): void {
    const { pool, model, provider } = names;
    const key = toMemberKey(names);
    if (this.#members.has(key)) return;
    const counters = [
      this.getCounters("pool", pool),
      this.getCounters("model", model),
      this.getCounters("provider", provider),
    ];
    const owners = [names, { model, provider }, { provider }];
    const standbyOwners = owners.filter((owner) => this.#ownersInStandby.has(toMemberKey(owner))).length;
    const member = { names, counters, standbyOwners };
    this.#members.set(key, member);
    this.#index.add(member);
    for (const each of counters) each.addMember(standbyOwners > 0, now);
  }

  /** Puts an owner in standby. Returns false if it already was. */
  enterStandby(owner: BreakerOwner, now: number): boolean {
    const key = toMemberKey(owner);
    if (this.#ownersInStandby.has(key)) return false;
    this.#ownersInStandby.add(key);
    for (const member of this.#index.find(owner)) {
      if (member.standbyOwners++ === 0) { for (const each of member.counters) each.memberChanged(true, now); }
    }
    return true;
  }

  /** Ends the standby of an owner. Has no effect if it is not in standby. */
  leaveStandby(owner: BreakerOwner, now: number): void {
    if (!this.#ownersInStandby.delete(toMemberKey(owner))) return;
    for (const member of this.#index.find(owner)) {
      if (--member.standbyOwners === 0) { for (const each of member.counters) each.memberChanged(false, now); }
    }
  }

  /** Returns the counters that an owner's standby affects: its own, and those of every member it covers. */
  affectedBy(owner: BreakerOwner): ReadonlySet<StatsCounters> {
    const { pool, model, provider } = owner;
    const affected = new Set([this.getCounters("provider", provider)]);
    if (model !== undefined) affected.add(this.getCounters("model", model));
    if (pool !== undefined) affected.add(this.getCounters("pool", pool));
    for (const member of this.#index.find(owner)) for (const each of member.counters) affected.add(each);
    return affected;
  }
}

/** Returns a map key. JSON, since names may contain any character. */
function toMemberKey({ pool, model, provider }: BreakerOwner): string {
  return JSON.stringify([pool, model, provider]);
}

/**
 * Which models are in which pools, which of them rest, and whom a rest concerns.
 * @module
 */
import type { StatsScope } from "../contracts/events.ts";
import type { BreakerOwner } from "../state/rest.ts";
import { Tally } from "./_tally.ts";

/** A model in a pool. */
export interface MemberNames {
  /** The pool. */
  readonly pool: string;
  /** The model's name. */
  readonly model: string;
  /** Its provider's entry id. */
  readonly provider: string;
}

interface Member {
  readonly names: MemberNames;
  /** Those of its pool, its model and its provider. */
  readonly tallies: readonly Tally[];
  /** Rests under way that keep it in standby. */
  rests: number;
}

/** The tallies of a mesh, and who belongs to them. Bounded by what is configured. Times are monotonic ms. */
export class Membership {
  readonly #tallies: Readonly<Record<StatsScope, Map<string, Tally>>> = {
    model: new Map(),
    provider: new Map(),
    pool: new Map(),
  };
  readonly #members = new Map<string, Member>();
  /** Rests under way, by whose they are. */
  readonly #rests = new Set<string>();

  /** The tally of a model, provider or pool, made at first sight. */
  tally(scope: StatsScope, id: string): Tally {
    const known = this.#tallies[scope].get(id);
    if (known !== undefined) return known;
    const made = new Tally();
    this.#tallies[scope].set(id, made);
    return made;
  }

  /** Every tally, by scope and in the order they were made. */
  *all(): Generator<readonly [scope: StatsScope, id: string, tally: Tally]> {
    for (const scope of ["model", "provider", "pool"] as const) {
      for (const [id, tally] of this.#tallies[scope]) yield [scope, id, tally];
    }
  }

  /** Nothing exists and nothing rests any more; the numbers stay. */
  clear(now: number): void {
    this.#members.clear();
    this.#rests.clear();
    for (const [, , tally] of this.all()) tally.empty(now);
  }

  /** A model is in a pool; said again it changes nothing. */
  add(names: MemberNames, now: number): void {
    const { pool, model, provider } = names;
    const key = keyOf(names);
    if (this.#members.has(key)) return;
    const tallies = [this.tally("pool", pool), this.tally("model", model), this.tally("provider", provider)];
    const owners = [names, { model, provider }, { provider }];
    const rests = owners.filter((owner) => this.#rests.has(keyOf(owner))).length;
    this.#members.set(key, { names, tallies, rests });
    for (const tally of tallies) tally.join(rests > 0, now);
  }

  /** A rest begins; whether it was not under way. */
  rest(owner: BreakerOwner, now: number): boolean {
    const key = keyOf(owner);
    if (this.#rests.has(key)) return false;
    this.#rests.add(key);
    for (const member of this.#of(owner)) {
      if (member.rests++ === 0) { for (const tally of member.tallies) tally.shift(true, now); }
    }
    return true;
  }

  /** A rest ends. One that nobody knew of ends without a trace. */
  wake(owner: BreakerOwner, now: number): void {
    if (!this.#rests.delete(keyOf(owner))) return;
    for (const member of this.#of(owner)) {
      if (--member.rests === 0) { for (const tally of member.tallies) tally.shift(false, now); }
    }
  }

  /** All that a rest concerns, each once: its owner, and who has a model that rests with it. */
  concerned(owner: BreakerOwner): ReadonlySet<Tally> {
    const { pool, model, provider } = owner;
    const tallies = new Set([this.tally("provider", provider)]);
    if (model !== undefined) tallies.add(this.tally("model", model));
    if (pool !== undefined) tallies.add(this.tally("pool", pool));
    for (const member of this.#of(owner)) for (const tally of member.tallies) tallies.add(tally);
    return tallies;
  }

  *#of({ pool, model, provider }: BreakerOwner): Generator<Member> {
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

/**
 * Rests with an owner's other rests beside them: what somebody, the calendar or the health monitor sets aside is taken
 * back by the same, and whatever else it rests for goes on.
 * @module
 */
import type { MemberState, MeshState } from "./mesh_state.ts";
import { Rest, type RestOwner } from "./rest.ts";
import { keyOf } from "./snapshot.ts";

/** Who sets aside: the health monitor a provider, the calendar a model in a pool, somebody a model or a provider. */
export type HoldCause = "health_probe" | "maintenance_window" | "manual";

/** A rest of one cause. */
export class Hold extends Rest {
  /**
   * @param owner Whose it is.
   * @param cause Who sets aside.
   */
  constructor(owner: RestOwner, readonly cause: HoldCause) {
    super(owner);
  }
}

/** The holds of one mesh, each made when it is first needed. Bounded by what is configured. */
export class Holds {
  readonly #state: MeshState;
  readonly #all = new Map<string, Hold>();

  /** @param state The mesh's. */
  constructor(state: MeshState) {
    this.#state = state;
  }

  /**
   * One hold.
   *
   * @param owner Whose.
   * @param cause For what.
   */
  of({ pool, model, provider }: RestOwner, cause: HoldCause): Hold {
    const owner = { ...(pool === undefined ? {} : { pool }), ...(model === undefined ? {} : { model }), provider };
    const key = keyOf({ ...owner, cause });
    const known = this.#all.get(key);
    if (known !== undefined) return known;
    const hold = new Hold(owner, cause);
    this.#all.set(key, hold);
    this.#state.rests.push(hold);
    this.#state.archive?.rest(hold);
    for (const member of this.#state.members) attach(hold, member);
    return hold;
  }

  /**
   * A model has come into being.
   *
   * @param member The model in its pool.
   */
  attach(member: MemberState): void {
    for (const hold of this.#all.values()) attach(hold, member);
  }
}

/**
 * The holds of a mesh's state.
 *
 * @param state The state.
 */
export function holdsOf(state: MeshState): Holds {
  return state.holds ??= new Holds(state);
}

/**
 * Whether a rest keeps a model in a pool from being asked.
 *
 * @param owner Whose rest it is.
 * @param member The model in its pool.
 */
export function concerns(owner: RestOwner, { pool, state }: MemberState): boolean {
  return owner.provider === state.provider && (owner.model ?? state.name) === state.name &&
    (owner.pool ?? pool) === pool;
}

/** Of rests that both last until somebody ends them the first one is told: what somebody did by hand. */
function attach(hold: Hold, member: MemberState): void {
  const { rests } = member.state;
  if (!concerns(hold.owner, member)) return;
  if (hold.cause === "manual") rests.unshift(hold);
  else rests.push(hold);
}

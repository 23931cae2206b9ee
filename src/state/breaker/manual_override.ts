/**
 * Rests with an owner's other rests beside them: what somebody, the calendar or the health monitor sets aside is taken
 * back by the same, and whatever else it rests for goes on.
 * @module
 */
import type { MemberState, MeshState } from "../mesh_state.ts";
import { type BreakerOwner, CircuitBreaker } from "./circuit_breaker.ts";
import { recordKey } from "../persistence/snapshot.ts";

/** Who sets aside: the health monitor a provider, the calendar a model in a pool, somebody a model or a provider. */
export type OverrideCause = "health_probe" | "maintenance_window" | "manual";

/** A rest of one cause. */
export class ManualOverride extends CircuitBreaker {
  /**
   * @param owner Whose it is.
   * @param cause Who sets aside.
   */
  constructor(owner: BreakerOwner, readonly cause: OverrideCause) {
    super(owner);
  }
}

/** The holds of one mesh, each made when it is first needed. Bounded by what is configured. */
export class ManualOverrides {
  readonly #state: MeshState;
  readonly #all = new Map<string, ManualOverride>();

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
  get({ pool, model, provider }: BreakerOwner, cause: OverrideCause): ManualOverride {
    const owner = { ...(pool === undefined ? {} : { pool }), ...(model === undefined ? {} : { model }), provider };
    const key = recordKey({ ...owner, cause });
    const known = this.#all.get(key);
    if (known !== undefined) return known;
    const hold = new ManualOverride(owner, cause);
    this.#all.set(key, hold);
    this.#state.breakers.push(hold);
    this.#state.mapper?.breaker(hold);
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
export function overridesOf(state: MeshState): ManualOverrides {
  return state.overrides ??= new ManualOverrides(state);
}

/**
 * Whether a rest keeps a model in a pool from being asked.
 *
 * @param owner Whose rest it is.
 * @param member The model in its pool.
 */
export function appliesTo(owner: BreakerOwner, { pool, state }: MemberState): boolean {
  return owner.provider === state.provider && (owner.model ?? state.name) === state.name &&
    (owner.pool ?? pool) === pool;
}

/** Of rests that both last until somebody ends them the first one is told: what somebody did by hand. */
function attach(hold: ManualOverride, member: MemberState): void {
  const { breakers } = member.state;
  if (!appliesTo(hold.owner, member)) return;
  if (hold.cause === "manual") breakers.unshift(hold);
  else breakers.push(hold);
}

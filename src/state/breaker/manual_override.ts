/**
 * Breakers beside those of an owner that count failures: what an operator, the calendar or the health monitor opens is
 * closed by the same, and standbys for other reasons go on.
 * @module
 */
import type { MemberState, MeshState } from "../mesh_state.ts";
import { type BreakerOwner, CircuitBreaker } from "./circuit_breaker.ts";
import { recordKey } from "../persistence/snapshot.ts";

/** What opens it: the health monitor for a provider, the calendar for a model in a pool, an operator for either. */
export type OverrideCause = "health_probe" | "maintenance_window" | "manual";

/** A breaker of one cause. */
export class ManualOverride extends CircuitBreaker {
  /**
   * @param owner Whose it is.
   * @param cause What opens it.
   */
  constructor(owner: BreakerOwner, readonly cause: OverrideCause) {
    super(owner);
  }
}

/** The overrides of one mesh, each made when it is first needed. Bounded by what is configured. */
export class ManualOverrides {
  readonly #state: MeshState;
  readonly #all = new Map<string, ManualOverride>();

  /** @param state The mesh's. */
  constructor(state: MeshState) {
    this.#state = state;
  }

  /**
   * One override.
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
 * The overrides of a mesh's state.
 *
 * @param state The state.
 */
export function overridesOf(state: MeshState): ManualOverrides {
  return state.overrides ??= new ManualOverrides(state);
}

/**
 * Whether a breaker applies to a model in a pool.
 *
 * @param owner The breaker's.
 * @param member The model in its pool.
 */
export function appliesTo(owner: BreakerOwner, { pool, state }: MemberState): boolean {
  return owner.provider === state.provider && (owner.model ?? state.name) === state.name &&
    (owner.pool ?? pool) === pool;
}

/** Of two standbys without an end the first one is reported: the operator's. */
function attach(hold: ManualOverride, member: MemberState): void {
  const { breakers } = member.state;
  if (!appliesTo(hold.owner, member)) return;
  if (hold.cause === "manual") breakers.unshift(hold);
  else breakers.push(hold);
}

/**
 * Manual overrides: breakers beside those of an owner that count failures. What an operator, the calendar or the health
 * monitor opens is closed by the same, and standbys for other reasons go on.
 * @module
 */
import type { MemberState } from "../model_state.ts";
import { type BreakerOwner, CircuitBreaker, type OverrideCause, recordKey } from "./circuit_breaker.ts";

/** Where {@linkcode ManualOverrides} apply. */
interface ManualOverridesParts {
  /** Every model in every pool, by now. */
  readonly members: readonly MemberState[];
  /** Adds a breaker to those of the mesh. */
  readonly register: (breaker: CircuitBreaker) => void;
}

/** The overrides of one mesh, each made when it is first needed. Bounded by what is configured. */
export class ManualOverrides {
  readonly #parts: ManualOverridesParts;
  readonly #all = new Map<string, CircuitBreaker>();

  constructor(parts: ManualOverridesParts) {
    this.#parts = parts;
  }

  /**
   * One override.
   *
   * @param owner A model in a pool, a model in every pool, or a provider.
   * @param cause What opens it.
   */
  get({ pool, model, provider }: BreakerOwner, cause: OverrideCause): CircuitBreaker {
    const key = recordKey({ pool, model, provider, cause });
    const known = this.#all.get(key);
    if (known !== undefined) return known;
    const made = new CircuitBreaker({ pool, model, provider, cause });
    this.#all.set(key, made);
    this.#parts.register(made);
    for (const member of this.#parts.members) attach(made, member);
    return made;
  }

  /** Gives a new model the overrides that apply to it. */
  attach(member: MemberState): void {
    for (const override of this.#all.values()) attach(override, member);
  }
}

/**
 * Whether a breaker applies to a model in a pool.
 *
 * @param owner The breaker's.
 */
export function appliesTo(owner: BreakerOwner, { pool, state }: MemberState): boolean {
  return owner.provider === state.provider && (owner.model ?? state.name) === state.name &&
    (owner.pool ?? pool) === pool;
}

/** Of two standbys without an end the first one is reported: the operator's. */
function attach(override: CircuitBreaker, member: MemberState): void {
  const { breakers } = member.state;
  if (!appliesTo(override.owner, member)) return;
  if (override.cause === "manual") breakers.unshift(override);
  else breakers.push(override);
}

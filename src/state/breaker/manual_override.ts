/**
 * Manual overrides: breakers that do not count failures. An operator, a maintenance window or the health monitor opens
 * its own override, and only the same cause closes it; standbys for other reasons are unaffected.
 * @module
 */
import type { MemberState } from "../model_state.ts";
import { type BreakerOwner, CircuitBreaker, type OverrideCause, recordKey } from "./circuit_breaker.ts";

/** Dependencies of {@linkcode ManualOverrides}. */
interface ManualOverridesParts {
  /** Every model in every pool. The array grows. */
  readonly members: readonly MemberState[];
  /** Adds a breaker to those of the mesh. */
  readonly register: (breaker: CircuitBreaker) => void;
}

/** The overrides of a mesh, created on first use. Their number is bounded by the configuration. */
export class ManualOverrides {
  readonly #parts: ManualOverridesParts;
  readonly #all = new Map<string, CircuitBreaker>();

  constructor(parts: ManualOverridesParts) {
    this.#parts = parts;
  }

  /**
   * Returns an override.
   *
   * @param owner A model in a pool, a model across all pools, or a provider.
   * @param cause The opener.
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

  /** Attaches the overrides that apply to a new model. */
  attach(member: MemberState): void {
    for (const override of this.#all.values()) attach(override, member);
  }
}

/**
 * Whether a breaker applies to a model in a pool.
 *
 * @param owner The owner of the breaker.
 */
export function appliesTo(owner: BreakerOwner, { pool, state }: MemberState): boolean {
  return owner.provider === state.provider && (owner.model ?? state.name) === state.name &&
    (owner.pool ?? pool) === pool;
}

/**
 * Attaches an override to a model. Operator overrides come first, so that of two indefinite standbys the operator's is
 * reported.
 */
function attach(override: CircuitBreaker, member: MemberState): void {
  const { breakers } = member.state;
  if (!appliesTo(override.owner, member)) return;
  if (override.cause === "manual") breakers.unshift(override);
  else breakers.push(override);
}

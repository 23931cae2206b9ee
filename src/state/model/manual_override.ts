/**
 * Manual overrides: breakers that do not count failures. An operator, a maintenance window or the health monitor opens
 * its own override, and only the same cause closes it; standbys for other reasons are unaffected.
 * @module
 */
import type { MemberIndex } from "./member_index.ts";
import type { MemberState } from "./model_state.ts";
import { type BreakerOwner, CircuitBreaker, type OverrideCause, recordKey } from "../breaker/circuit_breaker.ts";
import { getOrCreate } from "../../util/once.ts";

/** Dependencies of {@linkcode ManualOverrides}. */
interface ManualOverridesParts {
  /** Every model in every pool. */
  readonly members: MemberIndex<MemberState>;
  /** Adds a breaker to those of the mesh. */
  readonly register: (breaker: CircuitBreaker) => void;
}

/** The overrides of a mesh, created on first use. Their number is bounded by the models of the mesh. */
export class ManualOverrides {
  readonly #parts: ManualOverridesParts;
  readonly #all = new Map<string, CircuitBreaker>();
  /** By provider and model; those of a provider have no model. In order of creation. */
  readonly #byOwner = new Map<string, { readonly order: number; readonly override: CircuitBreaker }[]>();

  constructor(parts: ManualOverridesParts) {
    this.#parts = parts;
  }

  /**
   * Returns an override.
   *
   * @param owner A model in a pool, a model across all pools, or a provider.
   */
  get(owner: BreakerOwner, cause: OverrideCause): CircuitBreaker {
    const found = this.find(owner, cause);
    if (found !== undefined) return found;
    const { pool, model, provider } = owner;
    const created = new CircuitBreaker({ pool, model, provider, cause });
    const entry = { order: this.#all.size, override: created };
    this.#all.set(recordKey({ pool, model, provider, cause }), created);
    getOrCreate(this.#byOwner, ownerKey(provider, model), () => []).push(entry);
    this.#parts.register(created);
    for (const member of this.#parts.members.find(owner)) attach(created, member);
    return created;
  }

  /**
   * Returns an override if it has been created.
   *
   * @param owner As for {@linkcode get}.
   */
  find({ pool, model, provider }: BreakerOwner, cause: OverrideCause): CircuitBreaker | undefined {
    return this.#all.get(recordKey({ pool, model, provider, cause }));
  }

  /** Attaches the overrides that apply to a new model. */
  attach(member: MemberState): void {
    const { provider, name } = member.state;
    const entries = [ownerKey(provider), ownerKey(provider, name)].flatMap((key) => this.#byOwner.get(key) ?? []);
    for (const { override } of entries.sort((first, second) => first.order - second.order)) attach(override, member);
  }
}

function ownerKey(provider: string, model?: string): string {
  return JSON.stringify([provider, model]);
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
  const { all: breakers } = member.state.breakers;
  if (!appliesTo(override.owner, member)) return;
  if (override.cause === "manual") breakers.unshift(override);
  else breakers.push(override);
}

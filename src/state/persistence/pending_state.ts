/**
 * Restored state without an owner yet: pools are created when a request names them, and some no longer exist.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import { CircuitBreaker, recordKey } from "../breaker/circuit_breaker.ts";
import { appliesTo } from "../model/manual_override.ts";
import type { MeshState } from "../model/mesh_state.ts";
import type { MemberState } from "../model/model_state.ts";
import {
  mergeApiKeys,
  type MeshSnapshot,
  readBreaker,
  type SavedApiKey,
  type SavedBreaker,
  type SavedFailures,
  type TimePair,
} from "./snapshot.ts";
import { groupBy } from "../../util/entries.ts";
import { getOrCreate } from "../../util/once.ts";

/** Breakers, failure streaks and API keys by name. Their number is bounded by the snapshot. */
export class PendingState {
  readonly #state: MeshState;
  readonly #clock: Clock;
  #breakers = new Map<string, CircuitBreaker>();
  #failures = new Map<string, SavedFailures>();
  /** API keys by provider, and when they were saved, wall-clock ms. */
  #keys = new Map<string, { readonly keys: readonly SavedApiKey[]; readonly savedAt: number }>();

  /** @param state The state whose owners are restored when they are created. */
  constructor(state: MeshState, clock: Clock) {
    this.#state = state;
    this.#clock = clock;
  }

  /** Pending breakers that are open. */
  get breakers(): readonly CircuitBreaker[] {
    const now = this.#clock.monotonic();
    return [...this.#breakers.values()].filter((breaker) => {
      breaker.halfOpenIfDue(now); // emits no event: it has no owner
      return breaker.standby !== undefined;
    });
  }

  /** Loads everything in a snapshot. */
  load({ breakers, failures, saved_at, keys = [] }: MeshSnapshot): void {
    const now = readClocks(this.#clock);
    this.#breakers = new Map();
    for (const saved of breakers) this.getBreaker(saved).restore(readBreaker(saved, saved_at, now));
    this.#failures = new Map(failures.map((saved) => [recordKey(saved), saved]));
    this.#keys = new Map();
    for (const provider of this.#state.keyPools.keys()) this.#keys.set(provider, { keys: [], savedAt: saved_at });
    for (const [provider, own] of groupBy(keys, ({ provider }) => provider)) {
      this.#keys.set(provider, { keys: own, savedAt: saved_at });
    }
  }

  /** Returns the pending breaker of this name, created on first use. */
  getBreaker(saved: SavedBreaker): CircuitBreaker {
    return getOrCreate(this.#breakers, recordKey(saved), () => new CircuitBreaker(saved));
  }

  /** Restores a breaker. One that was not saved is closed. */
  restoreBreaker(breaker: CircuitBreaker): void {
    const { key } = breaker;
    breaker.restore(this.#breakers.get(key) ?? { isHalfOpen: false, consecutiveTrips: 0 });
    this.#breakers.delete(key);
  }

  /** Restores a model's overrides, failure streak and API keys. */
  restoreMember(member: MemberState): void {
    this.restoreOverrides(member);
    const { pool, state } = member;
    const key = recordKey({ pool, model: state.name, provider: state.provider });
    const { failures = 0, last_status: lastStatus } = this.#failures.get(key) ?? {};
    state.restore({ failures, lastStatus });
    this.#failures.delete(key);
    const saved = this.#keys.get(state.provider);
    if (state.tracker.keys === undefined || saved === undefined) return;
    state.tracker.keys.reset();
    mergeApiKeys(state.tracker.keys, { ...saved, now: readClocks(this.#clock) });
    this.#keys.delete(state.provider); // members of one provider share its keys
  }

  /** Restores the overrides that apply to a model. */
  restoreOverrides(member: MemberState): void {
    for (const [key, breaker] of this.#breakers) {
      if (breaker.cause === undefined || !appliesTo(breaker.owner, member)) continue;
      this.#state.overrides.get(breaker.owner, breaker.cause).restore(breaker);
      this.#breakers.delete(key);
    }
  }
}

/** Reads both clocks. */
export function readClocks(clock: Clock): TimePair {
  return { wallTimeMs: clock.now(), monotonicMs: clock.monotonic(), clock };
}

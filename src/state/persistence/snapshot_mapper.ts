/**
 * What a mesh remembers beyond its process: all its states as plain JSON, and back.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import type { MemberState, MeshState, StateRestorer } from "../mesh_state.ts";
import { appliesTo, ManualOverride, overridesOf } from "../breaker/manual_override.ts";
import type { ApiKeyPool } from "../limits/api_key_pool.ts";
import type { FailureStreak } from "../model_state.ts";
import { CircuitBreaker } from "../breaker/circuit_breaker.ts";
import {
  type MeshSnapshot,
  namesOf,
  readBreaker,
  readSnapshot,
  recordKey,
  type SavedApiKey,
  type SavedBreaker,
  type SavedFailures,
  type TimePair,
  writeBreaker,
} from "./snapshot.ts";

const noFailures: FailureStreak = { failures: 0 };

/** What was remembered of one provider's keys. */
interface SavedKeys {
  readonly keys: readonly SavedApiKey[];
  /** Wall clock, ms. */
  readonly savedAt: number;
}

/** Writes a mesh's state down and takes it up again. Its maps are bounded by what was when a snapshot was made. */
export class SnapshotMapper implements StateRestorer {
  readonly #state: MeshState;
  readonly #clock: Clock;
  /** Restored for a pool that is made when a request names it, or for what no longer exists. By key. */
  #pendingBreakers = new Map<string, CircuitBreaker>();
  #pendingFailures = new Map<string, SavedFailures>();
  /** The same of keys, by provider, and when they were written down. */
  #pendingKeys = new Map<string, SavedKeys>();

  /**
   * @param state Whose state it is.
   * @param clock Of the mesh.
   */
  constructor(state: MeshState, clock: Clock) {
    this.#state = state;
    this.#clock = clock;
  }

  /** Rests of pools that no request has named yet, or that are there no more: they end like any other. */
  get pending(): readonly CircuitBreaker[] {
    const now = this.#clock.monotonic();
    return [...this.#pendingBreakers.values()].filter((rest) => {
      rest.halfOpenIfDue(now); // nobody has it: there is nobody to tell of
      return rest.standby !== undefined;
    });
  }

  /** All that is remembered, as plain JSON. */
  snapshot(): MeshSnapshot {
    const now = momentOf(this.#clock);
    const keys = [...this.#keyPools.values()].flatMap((ring) => ring.snapshot(now));
    return {
      version: 1,
      saved_at: now.wall,
      breakers: [...this.#state.breakers, ...this.#owner.pending].flatMap((rest) => writeBreaker(rest, now) ?? []),
      failures: this.#state.members.flatMap(({ pool, state }) => {
        const { name: model, provider, consecutiveFailures: failures, lastStatus: last_status } = state;
        if (failures === 0) return [];
        return { pool, model, provider, failures, ...(last_status === undefined ? {} : { last_status }) };
      }),
      ...(keys.length === 0 ? {} : { keys }),
    };
  }

  /**
   * Makes the state what was remembered, by names: what the snapshot does not know is active, what no longer exists is
   * left alone. Rests that are over by now end, on trial.
   *
   * @param snapshot What {@linkcode SnapshotMapper.snapshot} made, by way of JSON.
   * @returns Paths of entries that cannot be read and are left out.
   * @throws {MeshError} `invalid_state`; nothing has changed then.
   */
  restore(snapshot: unknown): readonly string[] {
    const { snapshot: { breakers, failures, saved_at, keys = [] }, leftOut } = readSnapshot(snapshot);
    const now = momentOf(this.#clock);
    this.#pendingBreakers = new Map();
    for (const saved of breakers) this.#pendingBreaker(saved).restore(readBreaker(saved, saved_at, now));
    this.#pendingFailures = new Map(failures.map((saved) => [recordKey(saved), saved]));
    this.#pendingKeys = new Map();
    for (const [provider] of this.#keyPools) this.#pendingKeys.set(provider, { keys: [], savedAt: saved_at });
    for (const [provider, own] of byProvider(keys)) this.#pendingKeys.set(provider, { keys: own, savedAt: saved_at });
    const state = this.#state;
    state.mapper = this;
    for (const rest of state.breakers) this.breaker(rest);
    for (const member of state.members) this.member(member);
    state.halfOpenDue(now.monotonic);
    for (const member of state.members) member.state.refresh(now.monotonic);
    return leftOut;
  }

  /**
   * Takes up what another process has set aside meanwhile: of two ends of a rest the later one holds.
   *
   * @param snapshot What that one's archive made, by way of JSON.
   * @throws {MeshError} `invalid_state`; nothing has changed then.
   */
  merge(snapshot: unknown): void {
    const { snapshot: { breakers, saved_at, keys = [] } } = readSnapshot(snapshot);
    const now = momentOf(this.#clock);
    this.#state.mapper ??= this;
    const known = new Map(this.#state.breakers.map((rest) => [recordKey(namesOf(rest)), rest]));
    for (const saved of breakers) {
      const facts = readBreaker(saved, saved_at, now);
      const until = facts.standby?.until ?? 0;
      const own = known.get(recordKey(saved)) ?? this.#owner.#pendingBreaker(saved);
      if (until > now.monotonic && until > (own.standby?.until ?? 0)) own.restore(facts);
    }
    for (const [provider, own] of byProvider(keys)) this.#keyPools.get(provider)?.merge(own, saved_at, now);
    for (const member of this.#state.members) {
      this.#owner.#override(member);
      member.state.refresh(now.monotonic);
    }
  }

  /** Gives a rest what was remembered of it. */
  breaker(rest: CircuitBreaker): void {
    const key = recordKey(namesOf(rest));
    rest.restore(this.#pendingBreakers.get(key) ?? { isHalfOpen: false, consecutiveTrips: 0 });
    this.#pendingBreakers.delete(key);
  }

  /** The one that hands out what waits to come into being. */
  get #owner(): SnapshotMapper {
    const { mapper } = this.#state;
    return mapper instanceof SnapshotMapper ? mapper : this;
  }

  /** The rest of what has not come into being here. */
  #pendingBreaker(saved: SavedBreaker): CircuitBreaker {
    const { pool, model, provider, cause } = saved;
    const key = recordKey(saved);
    const known = this.#pendingBreakers.get(key);
    if (known !== undefined) return known;
    const owner = { ...(pool === undefined ? {} : { pool }), ...(model === undefined ? {} : { model }), provider };
    const rest = cause === undefined ? new CircuitBreaker(owner) : new ManualOverride(owner, cause);
    this.#pendingBreakers.set(key, rest);
    return rest;
  }

  /** Gives a model its row of failures, and what holds it. */
  member(member: MemberState): void {
    this.#override(member);
    const { pool, state } = member;
    const key = recordKey({ pool, model: state.name, provider: state.provider });
    const saved = this.#pendingFailures.get(key);
    state.restore(saved === undefined ? noFailures : { failures: saved.failures, lastStatus: saved.last_status });
    this.#pendingFailures.delete(key);
    const keys = state.keys === undefined ? undefined : this.#pendingKeys.get(state.provider);
    if (keys === undefined) return;
    state.keys!.restore(keys.keys, keys.savedAt, momentOf(this.#clock));
    this.#pendingKeys.delete(state.provider); // later members have the same keys
  }

  /** The keys of every provider that has several. */
  get #keyPools(): Map<string, ApiKeyPool> {
    return new Map(this.#state.members.flatMap(({ state }) => state.keys ? [[state.provider, state.keys]] : []));
  }

  /** What was held is held on. */
  #override(member: MemberState): void {
    for (const [key, rest] of this.#pendingBreakers) {
      if (!(rest instanceof ManualOverride) || !appliesTo(rest.owner, member)) continue;
      overridesOf(this.#state).get(rest.owner, rest.cause).restore(rest);
      this.#pendingBreakers.delete(key);
    }
  }
}

function byProvider(keys: readonly SavedApiKey[]): Map<string, SavedApiKey[]> {
  const groups = new Map<string, SavedApiKey[]>();
  for (const key of keys) groups.set(key.provider, [...groups.get(key.provider) ?? [], key]);
  return groups;
}

function momentOf(clock: Clock): TimePair {
  return { wall: clock.now(), monotonic: clock.monotonic() };
}

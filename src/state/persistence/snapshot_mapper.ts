/**
 * Maps the state of a mesh to a snapshot and back.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import { groupBy } from "../../util/entries.ts";
import { type CircuitBreaker, recordKey, type Standby } from "../breaker/circuit_breaker.ts";
import type { SavedWindow } from "../counters/window_counter.ts";
import type { Budget } from "../limits/budget.ts";
import type { MeshState, StateRestorer } from "../model/mesh_state.ts";
import type { MemberState } from "../model/model_state.ts";
import { PendingState, readClocks } from "./pending_state.ts";
import {
  byBudget,
  byKey,
  getStandbyEnd,
  mergeApiKeys,
  type MeshSnapshot,
  readBreaker,
  type SavedBreaker,
  type SavedFailures,
  type SavedSpending,
  type SavedUsage,
  writeApiKeys,
  writeBreaker,
} from "./snapshot.ts";
import { readSnapshot } from "./snapshot_codec.ts";

/** Tolerance for two representations of the same time (two clocks, rounding), ms. */
const toleranceMs = 1000;

/** Age beyond which spending counts in no calendar window, ms. */
const spendingRetentionMs = 62 * 24 * 60 * 60 * 1000;

/** Age beyond which it counts in no window of a list: the longest is 366 days, ms. */
const listedRetentionMs = 400 * 24 * 60 * 60 * 1000;

/** Maximum number of end users without requests in this process whose spending is kept. */
const maxUsers = 10_000;

/**
 * Writes and restores snapshots of a state. When several processes share one record, the mapper keeps the version it
 * read last, to distinguish changes of other processes from its own.
 */
export class SnapshotMapper implements StateRestorer {
  /** Called for every model that is created from now on. */
  onMember?: (member: MemberState) => void;
  readonly #state: MeshState;
  readonly #clock: Clock;
  readonly #hasUsage: boolean;
  readonly #pending: PendingState;
  /** The record as last written or merged. */
  #base: MeshSnapshot | undefined;
  /** Standbys in the record. One that differs from its breaker was changed by this process. */
  #knownStandbys: ReadonlyMap<string, Standby> = new Map();
  #restoredBudgets = new WeakSet<Budget>();
  /** The spending in the record, by budget. */
  #indexed: { readonly spending: MeshSnapshot["spending"]; readonly byId: ReturnType<typeof byBudget> } | undefined;

  /**
   * @param options Whether usage of limits and budgets is saved, which is the default. Not when a shared storage
   *   replicates it.
   */
  constructor(state: MeshState, clock: Clock, { hasUsage = true }: { readonly hasUsage?: boolean } = {}) {
    this.#state = state;
    this.#clock = clock;
    this.#hasUsage = hasUsage;
    this.#pending = new PendingState(state, clock);
  }

  /** Open breakers of pools that have not been created yet, or no longer exist. */
  get pending(): readonly CircuitBreaker[] {
    return this.#pending.breakers;
  }

  /** Returns the state as plain JSON. Entries without an owner in this process are kept as the record has them. */
  snapshot(): MeshSnapshot {
    const now = readClocks(this.#clock);
    const keys = [...this.#state.keyPools.values()].flatMap((pool) => writeApiKeys(pool, now));
    const breakers = [...this.#state.breakers, ...this.#owner.pending];
    const names = new Set(this.#state.members.map(toStateName));
    const isOfOtherProcess = (saved: SavedUsage | SavedFailures) => !names.has(recordKey(saved));
    return {
      version: 1,
      saved_at: now.wallTimeMs,
      breakers: breakers.flatMap((breaker) => writeBreaker(breaker, now) ?? []),
      failures: [
        ...this.#state.members.flatMap(writeFailures),
        ...this.#base?.failures.filter(isOfOtherProcess) ?? [],
      ],
      ...(keys.length === 0 ? {} : { keys }),
      ...(this.#hasUsage && {
        usage: [...this.#state.members.flatMap(writeUsage), ...this.#base?.usage?.filter(isOfOtherProcess) ?? []],
        spending: this.#spending(now.wallTimeMs),
      }),
    };
  }

  #spending(wallTimeMs: number): readonly SavedSpending[] {
    const budgets = this.#budgets();
    const isSince = (sums: readonly SavedWindow[], ageMs: number) =>
      sums.some(({ start }) => start > wallTimeMs - ageMs);
    const isRetained = ({ budget, months, windows = [] }: SavedSpending) =>
      !budgets.has(budget) && (isSince(months, spendingRetentionMs) ||
        windows.some(({ sums }) => isSince(sums, listedRetentionMs)));
    const retained = groupBy(
      this.#base?.spending?.filter(isRetained) ?? [],
      ({ budget }) => budget.startsWith("user "),
    );
    return [
      ...[...budgets].map(([budget, of]) => ({ budget, ...of.snapshot() })),
      ...retained.get(false) ?? [],
      ...retained.get(true)?.slice(-maxUsers) ?? [], // clients choose their names
    ];
  }

  /**
   * Restores a snapshot by name. Breakers missing in the snapshot are closed; entries without an owner stay pending.
   * Standbys that have ended become half-open. Of two sums of one window, the larger counts. A snapshot without usage
   * leaves counters unchanged.
   *
   * @param value A result of {@linkcode SnapshotMapper.snapshot}, possibly serialized to JSON and parsed.
   * @returns Paths of the invalid members, whose entries were skipped.
   * @throws {MeshError} `invalid_state`. Nothing has changed then.
   */
  restore(value: unknown): readonly string[] {
    const { snapshot, leftOut } = readSnapshot(value);
    const state = this.#state;
    const { mapper } = state; // replaced by this one
    if (mapper instanceof SnapshotMapper) this.onMember ??= mapper.onMember;
    if (this.#hasUsage && snapshot.usage !== undefined) this.#base = snapshot;
    this.#restoredBudgets = new WeakSet();
    this.#pending.load(snapshot);
    state.mapper = this;
    for (const breaker of state.breakers) this.breaker(breaker);
    for (const member of state.members) this.member(member);
    const now = this.#clock.monotonic();
    state.halfOpenDue(now);
    for (const member of state.members) member.state.refresh(now);
    for (const scope of state.budgetScopes.values()) this.budget(scope);
    if (this.#base === snapshot) this.setKnown(snapshot);
    return leftOut;
  }

  /**
   * Merges the standbys of another process. Of two ends, the later one is kept.
   *
   * @param value A snapshot of the other process.
   * @throws {MeshError} `invalid_state`. Nothing has changed then.
   */
  merge(value: unknown): void {
    const { snapshot: { breakers, saved_at, keys: savedKeys = [] } } = readSnapshot(value);
    const now = readClocks(this.#clock);
    this.#state.mapper ??= this;
    const byKey = new Map(this.#state.breakers.map((breaker) => [breaker.key, breaker]));
    for (const saved of breakers) {
      const facts = readBreaker(saved, saved_at, now);
      const until = facts.standby?.until ?? 0;
      const own = byKey.get(recordKey(saved)) ?? this.#owner.#pending.getBreaker(saved);
      if (until > now.monotonicMs && until > (own.standby?.until ?? 0)) own.restore(facts);
    }
    const { keyPools } = this.#state;
    for (const [provider, keys] of groupBy(savedKeys, ({ provider }) => provider)) {
      const pool = keyPools.get(provider);
      if (pool !== undefined) mergeApiKeys(pool, { keys, savedAt: saved_at, now });
    }
    for (const member of this.#state.members) {
      this.#owner.#pending.restoreOverrides(member);
      member.state.refresh(now.monotonicMs);
    }
  }

  /**
   * Merges what other processes have written since this process read the record: standbys begun and closed, counters
   * and spending. Of two ends of a standby, the later one is kept. Sums grow by the difference.
   *
   * @param stored The record's current version.
   * @returns Paths of the invalid members, whose entries were skipped.
   * @throws {MeshError} `invalid_state`. Nothing has changed then.
   */
  mergeStored(stored: unknown): readonly string[] {
    const { snapshot: theirs, leftOut } = readSnapshot(stored);
    const base = this.#base;
    this.#closeAsStored(theirs, base);
    const before = byKey(base?.breakers);
    this.merge({
      ...theirs,
      breakers: theirs.breakers.filter((saved) => isLonger(saved, before.get(recordKey(saved)))),
    });
    this.#mergeFailures(theirs, base);
    const [used, usedBefore] = [byKey(theirs.usage), byKey(base?.usage)];
    for (const member of this.#state.members) {
      const name = toStateName(member);
      member.state.tracker.quota?.merge(used.get(name), usedBefore.get(name));
    }
    const [spent, spentBefore] = [byBudget(theirs), byBudget(base)];
    for (const [id, budget] of this.#budgets()) {
      const stored = spent.get(id);
      if (stored !== undefined) budget.merge(stored, spentBefore.get(id));
    }
    this.setKnown(theirs);
    return leftOut;
  }

  /** The record as last written or merged. */
  get base(): MeshSnapshot | undefined {
    return this.#base;
  }

  /** Sets the current version of the record, which agrees with the state of this process. */
  setKnown(snapshot: MeshSnapshot): void {
    this.#base = snapshot;
    const saved = byKey(snapshot.breakers);
    this.#knownStandbys = new Map(this.#state.breakers.flatMap((breaker) => {
      const { standby } = breaker;
      if (standby === undefined) return [];
      const { key } = breaker;
      const until = getStandbyEnd(saved.get(key));
      const isSame = standby.until === until || Math.abs(this.#toWallTime(standby) - until) <= toleranceMs;
      return isSame ? [[key, standby] as const] : [];
    }));
  }

  /** Restores a breaker when it is created. */
  breaker(breaker: CircuitBreaker): void {
    this.#pending.restoreBreaker(breaker);
  }

  /** Restores a model when it is created. */
  member(member: MemberState): void {
    this.#pending.restoreMember(member);
    this.onMember?.(member);
    if (this.#base === undefined) return;
    const { state } = member;
    const { quota, budgetScopes } = state.tracker;
    quota?.merge(byKey(this.#base.usage).get(toStateName(member)), quota.snapshot());
    for (const scope of budgetScopes) this.budget(scope);
    state.recheckBudgets(this.#clock.monotonic());
  }

  /** Restores a budget, once. */
  budget({ id, budget }: { readonly id: string; readonly budget: Budget }): void {
    if (this.#restoredBudgets.has(budget)) return;
    const spending = this.#base?.spending;
    if (this.#indexed?.spending !== spending) this.#indexed = { spending, byId: byBudget(this.#base) };
    const saved = this.#indexed?.byId.get(id);
    if (saved !== undefined) budget.restore(saved);
    this.#restoredBudgets.add(budget);
  }

  /** The mapper that holds the pending state. */
  get #owner(): SnapshotMapper {
    const { mapper } = this.#state;
    return mapper instanceof SnapshotMapper ? mapper : this;
  }

  /** Closes breakers that another process has closed early, unless this process has opened them since. */
  #closeAsStored(theirs: MeshSnapshot, base: MeshSnapshot | undefined): void {
    const [now, before] = [byKey(theirs.breakers), byKey(base?.breakers)];
    for (const breaker of this.#state.breakers) {
      const { key } = breaker;
      const isClosed = before.get(key)?.standby !== undefined && now.get(key)?.standby === undefined;
      const { standby } = breaker;
      if (!isClosed || standby === undefined || standby !== this.#knownStandbys.get(key)) continue;
      if (standby.until > this.#clock.monotonic()) {
        this.#state.report(breaker.close(undefined, now.get(key)?.half_open === true));
      }
    }
  }

  /** Merges failure streaks: the same streak in two processes counts once. */
  #mergeFailures(theirs: MeshSnapshot, base: MeshSnapshot | undefined): void {
    const [now, before] = [byKey(theirs.failures), byKey(base?.failures)];
    for (const member of this.#state.members) {
      const [saved, was] = [now.get(toStateName(member)), before.get(toStateName(member))];
      const grown = (saved?.failures ?? 0) - (was?.failures ?? 0);
      const { consecutiveFailures: own, lastStatus } = member.state;
      const isUntouched = own === (was?.failures ?? 0);
      if (grown > 0 || grown < 0 && isUntouched) {
        member.state.restore({ failures: own + grown, lastStatus: saved?.last_status ?? lastStatus });
      }
    }
  }

  #budgets(): ReadonlyMap<string, Budget> {
    const scopes = this.#state.members.flatMap(({ state }) => state.tracker.budgetScopes);
    return new Map([...scopes, ...this.#state.budgetScopes.values()].map(({ id, budget }) => [id, budget]));
  }

  #toWallTime({ until }: Standby): number {
    return this.#clock.now() + until - this.#clock.monotonic();
  }
}

function toStateName({ pool, state: { name: model, provider } }: MemberState): string {
  return recordKey({ pool, model, provider });
}

function writeFailures({ pool, state }: MemberState): SavedFailures[] {
  const { name: model, provider, consecutiveFailures: failures, lastStatus: last_status } = state;
  return failures === 0
    ? []
    : [{ pool, model, provider, failures, ...(last_status === undefined ? {} : { last_status }) }];
}

function writeUsage({ pool, state: { name: model, provider, tracker } }: MemberState): SavedUsage[] {
  const counts = tracker.quota?.snapshot();
  return counts === undefined ? [] : [{ pool, model, provider, ...counts }];
}

/** Whether a standby has begun or been extended since the known version. */
function isLonger(saved: SavedBreaker, base: SavedBreaker | undefined): boolean {
  return getStandbyEnd(saved) > getStandbyEnd(base) + toleranceMs;
}

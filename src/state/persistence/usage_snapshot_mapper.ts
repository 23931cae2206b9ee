/**
 * All that a mesh on a server remembers beyond its process: states, and what was used of limits and budgets; also where
 * several processes share one record.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import { SnapshotMapper } from "./snapshot_mapper.ts";
import { readUsageSnapshot, type SavedSpending, type SavedUsage, type UsageSnapshot } from "./usage_snapshot.ts";
import type { Budget } from "../limits/budget.ts";
import type { MemberState, MeshState } from "../mesh_state.ts";
import type { ModelState } from "../model_state.ts";
import type { Standby } from "../breaker/circuit_breaker.ts";
import { namesOf, recordKey, type SavedBreaker, type SavedFailures } from "./snapshot.ts";

/** Two clocks and two roundings put the same end that far apart at most, ms. */
const toleranceMs = 1000;

/** What was spent longer ago counts in no window, ms. */
const spendingKeptMs = 62 * 24 * 60 * 60 * 1000;

/**
 * A record has one history for all who share it, and this is one process's part in it: it knows what the record said
 * when it looked last, so that it can tell what others have done since from what it did itself.
 */
export class UsageSnapshotMapper extends SnapshotMapper {
  /** Told every model that comes into being from now on. */
  onMember?: (member: MemberState) => void;
  readonly #state: MeshState;
  readonly #clock: Clock;
  /** The record, as it was written or taken up last. */
  #known: UsageSnapshot | undefined;
  /** What rests as the record has it; a rest that is another one by now was changed here. */
  #knownStandbys: ReadonlyMap<string, Standby> = new Map();
  /** Those that have been given what was remembered. */
  #restoredBudgets = new Set<Budget>();

  /**
   * @param state Whose state it is.
   * @param clock Of the mesh.
   */
  constructor(state: MeshState, clock: Clock) {
    super(state, clock);
    this.#state = state;
    this.#clock = clock;
  }

  /** All that is remembered, as plain JSON; of what does not exist here what the record said of it. */
  override snapshot(): UsageSnapshot {
    const { usage = [], spending = [], failures = [] } = this.#known ?? {};
    const states = super.snapshot();
    const keys = new Set(this.#state.members.map(nameOf));
    const isElsewhere = (saved: SavedUsage | SavedFailures) => !keys.has(recordKey(saved));
    const budgets = this.#budgets();
    const since = this.#clock.now() - spendingKeptMs;
    return {
      ...states,
      failures: [...states.failures, ...failures.filter(isElsewhere)],
      usage: [...this.#trackedModels().flatMap(writeUsage), ...usage.filter(isElsewhere)],
      spending: [
        ...[...budgets].map(([budget, of]) => ({ budget, ...of.snapshot() })),
        ...spending.filter(({ budget, months }) => !budgets.has(budget) && months.some(({ start }) => start > since)),
      ],
    };
  }

  /**
   * Makes the state what was remembered, by names. Of what is spent already the larger sum counts.
   *
   * @param snapshot What {@linkcode UsageSnapshotMapper.snapshot} made, by way of JSON.
   * @returns Paths of entries that cannot be read and are left out.
   * @throws {MeshError} `invalid_state`; nothing has changed then.
   */
  override restore(snapshot: unknown): readonly string[] {
    const { snapshot: counted, leftOut } = readUsageSnapshot(snapshot);
    const { mapper } = this.#state; // this one takes its place
    if (mapper instanceof UsageSnapshotMapper) this.onMember ??= mapper.onMember;
    this.#known = counted;
    this.#restoredBudgets = new Set();
    super.restore(counted);
    for (const purse of this.#state.budgetScopes ?? []) this.restoreBudget(purse);
    this.setKnown(counted);
    return leftOut;
  }

  /**
   * Takes up what others have done since this process looked last: what they set aside, took back, counted and spent.
   * Of two ends of a rest the later one holds; sums grow by what theirs have grown.
   *
   * @param stored The record as it is.
   * @returns Paths of entries that cannot be read and are left out.
   * @throws {MeshError} `invalid_state`; nothing has changed then.
   */
  mergeStored(stored: unknown): readonly string[] {
    const { snapshot: theirs, leftOut } = readUsageSnapshot(stored);
    const known = this.#known;
    this.#closeAsStored(theirs, known);
    const before = byKey(known?.breakers);
    super.merge({
      ...theirs,
      breakers: theirs.breakers.filter((saved) => isNews(saved, before.get(recordKey(saved)))),
    });
    this.#mergeFailures(theirs, known);
    const [used, usedBefore] = [byKey(theirs.usage), byKey(known?.usage)];
    for (const [key, { tracker }] of this.#trackedModels()) tracker.quota.merge(used.get(key), usedBefore.get(key));
    const [spent, spentBefore] = [byBudget(theirs), byBudget(known)];
    for (const [id, budget] of this.#budgets()) {
      const stored = spent.get(id);
      if (stored !== undefined) budget.merge(stored, spentBefore.get(id));
    }
    this.setKnown(theirs);
    return leftOut;
  }

  /** The record, as it was written or taken up last. */
  get known(): UsageSnapshot | undefined {
    return this.#known;
  }

  /**
   * The record says this by now, and it is what this process says.
   *
   * @param snapshot As it was written or taken up.
   */
  setKnown(snapshot: UsageSnapshot): void {
    this.#known = snapshot;
    const saved = byKey(snapshot.breakers);
    this.#knownStandbys = new Map(this.#state.breakers.flatMap((rest) => {
      const key = recordKey(namesOf(rest));
      const until = endOf(saved.get(key));
      const isSame = rest.standby !== undefined && Math.abs(this.#wallOf(rest.standby) - until) <= toleranceMs;
      return isSame || rest.standby?.until === until ? [[key, rest.standby!] as const] : [];
    }));
  }

  /** Gives a model what is remembered of it, and its budgets. */
  override member(member: MemberState): void {
    super.member(member);
    this.onMember?.(member);
    const { state } = member;
    const { quota, budgetScopes } = state.tracker;
    quota.merge(byKey(this.#known?.usage).get(nameOf(member)), quota.snapshot());
    for (const purse of budgetScopes) this.restoreBudget(purse);
    state.recheckBudgets(this.#clock.monotonic());
  }

  /** Gives money what is remembered of it. */
  restoreBudget({ id, budget }: { readonly id: string; readonly budget: Budget }): void {
    if (this.#restoredBudgets.has(budget)) return;
    const saved = byBudget(this.#known).get(id);
    if (saved !== undefined) budget.restore(saved);
    this.#restoredBudgets.add(budget);
  }

  /** What others have taken back before its time, unless it was set aside anew here. */
  #closeAsStored(theirs: UsageSnapshot, known: UsageSnapshot | undefined): void {
    const [now, before] = [byKey(theirs.breakers), byKey(known?.breakers)];
    for (const rest of this.#state.breakers) {
      const key = recordKey(namesOf(rest));
      const isTheirs = before.get(key)?.standby !== undefined && now.get(key)?.standby === undefined;
      if (!isTheirs || rest.standby === undefined || rest.standby !== this.#knownStandbys.get(key)) continue;
      if (rest.standby.until > this.#clock.monotonic()) {
        this.#state.report(rest.close(undefined, now.get(key)?.half_open === true));
      }
    }
  }

  /** A row that goes on in two processes is one row. */
  #mergeFailures(theirs: UsageSnapshot, known: UsageSnapshot | undefined): void {
    const [now, before] = [byKey(theirs.failures), byKey(known?.failures)];
    for (const member of this.#state.members) {
      const [saved, was] = [now.get(nameOf(member)), before.get(nameOf(member))];
      const grown = (saved?.failures ?? 0) - (was?.failures ?? 0);
      const { consecutiveFailures: own, lastStatus } = member.state;
      const isUntouched = own === (was?.failures ?? 0);
      if (grown > 0 || grown < 0 && isUntouched) {
        member.state.restore({ failures: own + grown, lastStatus: saved?.last_status ?? lastStatus });
      }
    }
  }

  #trackedModels(): [key: string, state: ModelState][] {
    return this.#state.members.map((member) => [nameOf(member), member.state]);
  }

  #budgets(): Map<string, Budget> {
    const purses = this.#trackedModels().flatMap(([, { tracker }]) => tracker.budgetScopes);
    return new Map([...purses, ...this.#state.budgetScopes ?? []].map(({ id, budget }) => [id, budget]));
  }

  #wallOf({ until }: Standby): number {
    return this.#clock.now() + until - this.#clock.monotonic();
  }
}

/**
 * Has money that belongs to no model kept with a mesh's state.
 *
 * @param state The mesh's.
 * @param purse Whose it is, and the money.
 */
export function addBudgetScope(state: MeshState, purse: { readonly id: string; readonly budget: Budget }): void {
  (state.budgetScopes ??= []).push(purse);
  if (state.mapper instanceof UsageSnapshotMapper) state.mapper.restoreBudget(purse);
}

function nameOf({ pool, state: { name: model, provider } }: MemberState): string {
  return recordKey({ pool, model, provider });
}

function writeUsage([key, { tracker }]: [key: string, state: ModelState]): SavedUsage[] {
  const counts = tracker.quota.snapshot();
  if (counts === undefined) return [];
  const [pool, model, provider] = JSON.parse(key) as [string, string, string];
  return [{ pool, model, provider, ...counts }];
}

function byKey<Saved extends Parameters<typeof recordKey>[0]>(list: readonly Saved[] = []): ReadonlyMap<string, Saved> {
  return new Map(list.map((saved) => [recordKey(saved), saved]));
}

function byBudget(snapshot: UsageSnapshot | undefined): ReadonlyMap<string, SavedSpending> {
  return new Map(snapshot?.spending?.map((saved) => [saved.budget, saved]));
}

/** Whether a rest began, or got longer, since it was known. */
function isNews(saved: SavedBreaker, known: SavedBreaker | undefined): boolean {
  return endOf(saved) > endOf(known) + toleranceMs;
}

/** Wall clock, ms; -Infinity when it does not rest. */
function endOf(saved: SavedBreaker | undefined): number {
  const until = saved?.standby?.until;
  return until === null ? Infinity : until ?? -Infinity;
}

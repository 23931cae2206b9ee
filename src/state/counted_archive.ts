/**
 * All that a mesh on a server remembers beyond its process: states, and what was used of limits and budgets; also where
 * several processes share one record.
 * @module
 */
import type { Clock } from "../contracts/runtime.ts";
import { StateArchive } from "./archive.ts";
import { type CountedSnapshot, readCounted, type SavedSpending, type SavedUsage } from "./counts.ts";
import type { Budget } from "./ledger.ts";
import type { MemberState, MeshState } from "./mesh_state.ts";
import { MeteredState } from "./metered_state.ts";
import type { Standby } from "./rest.ts";
import { keyOf, namesOf, type SavedFailures, type SavedRest } from "./snapshot.ts";

/** Two clocks and two roundings put the same end that far apart at most, ms. */
const toleranceMs = 1000;

/** What was spent longer ago counts in no window, ms. */
const spendingKeptMs = 62 * 24 * 60 * 60 * 1000;

/**
 * A record has one history for all who share it, and this is one process's part in it: it knows what the record said
 * when it looked last, so that it can tell what others have done since from what it did itself.
 */
export class CountedArchive extends StateArchive {
  /** Told every model that comes into being from now on. */
  onMember?: (member: MemberState) => void;
  readonly #state: MeshState;
  readonly #clock: Clock;
  /** The record, as it was written or taken up last. */
  #known: CountedSnapshot | undefined;
  /** What rests as the record has it; a rest that is another one by now was changed here. */
  #knownRests: ReadonlyMap<string, Standby> = new Map();
  /** Those that have been given what was remembered. */
  #claimed = new Set<Budget>();

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
  override snapshot(): CountedSnapshot {
    const { usage = [], spending = [], failures = [] } = this.#known ?? {};
    const states = super.snapshot();
    const keys = new Set(this.#state.members.map(nameOf));
    const isElsewhere = (saved: SavedUsage | SavedFailures) => !keys.has(keyOf(saved));
    const budgets = this.#budgets();
    const since = this.#clock.now() - spendingKeptMs;
    return {
      ...states,
      failures: [...states.failures, ...failures.filter(isElsewhere)],
      usage: [...this.#metered().flatMap(writeUsage), ...usage.filter(isElsewhere)],
      spending: [
        ...[...budgets].map(([budget, of]) => ({ budget, ...of.snapshot() })),
        ...spending.filter(({ budget, months }) => !budgets.has(budget) && months.some(({ start }) => start > since)),
      ],
    };
  }

  /**
   * Makes the state what was remembered, by names. Of what is spent already the larger sum counts.
   *
   * @param snapshot What {@linkcode CountedArchive.snapshot} made, by way of JSON.
   * @returns Paths of entries that cannot be read and are left out.
   * @throws {MeshError} `invalid_state`; nothing has changed then.
   */
  override restore(snapshot: unknown): readonly string[] {
    const { snapshot: counted, leftOut } = readCounted(snapshot);
    const { archive } = this.#state; // this one takes its place
    if (archive instanceof CountedArchive) this.onMember ??= archive.onMember;
    this.#known = counted;
    this.#claimed = new Set();
    super.restore(counted);
    for (const purse of this.#state.budgetScopes ?? []) this.claim(purse);
    this.know(counted);
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
  takeUp(stored: unknown): readonly string[] {
    const { snapshot: theirs, leftOut } = readCounted(stored);
    const known = this.#known;
    this.#lift(theirs, known);
    const before = byKey(known?.rests);
    super.merge({ ...theirs, rests: theirs.rests.filter((saved) => isNews(saved, before.get(keyOf(saved)))) });
    this.#mergeFailures(theirs, known);
    const [used, usedBefore] = [byKey(theirs.usage), byKey(known?.usage)];
    for (const [key, { meter }] of this.#metered()) meter.quota?.merge(used.get(key), usedBefore.get(key));
    const [spent, spentBefore] = [byBudget(theirs), byBudget(known)];
    for (const [id, budget] of this.#budgets()) {
      const stored = spent.get(id);
      if (stored !== undefined) budget.merge(stored, spentBefore.get(id));
    }
    this.know(theirs);
    return leftOut;
  }

  /** The record, as it was written or taken up last. */
  get known(): CountedSnapshot | undefined {
    return this.#known;
  }

  /**
   * The record says this by now, and it is what this process says.
   *
   * @param snapshot As it was written or taken up.
   */
  know(snapshot: CountedSnapshot): void {
    this.#known = snapshot;
    const saved = byKey(snapshot.rests);
    this.#knownRests = new Map(this.#state.breakers.flatMap((rest) => {
      const key = keyOf(namesOf(rest));
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
    if (!(state instanceof MeteredState)) return;
    const { quota, budgetScopes = [] } = state.meter;
    quota?.merge(byKey(this.#known?.usage).get(nameOf(member)), quota.snapshot());
    for (const purse of budgetScopes) this.claim(purse);
    state.recheck(this.#clock.monotonic());
  }

  /** Gives money what is remembered of it. */
  claim({ id, budget }: { readonly id: string; readonly budget: Budget }): void {
    if (this.#claimed.has(budget)) return;
    const saved = byBudget(this.#known).get(id);
    if (saved !== undefined) budget.restore(saved);
    this.#claimed.add(budget);
  }

  /** What others have taken back before its time, unless it was set aside anew here. */
  #lift(theirs: CountedSnapshot, known: CountedSnapshot | undefined): void {
    const [now, before] = [byKey(theirs.rests), byKey(known?.rests)];
    for (const rest of this.#state.breakers) {
      const key = keyOf(namesOf(rest));
      const isTheirs = before.get(key)?.standby !== undefined && now.get(key)?.standby === undefined;
      if (!isTheirs || rest.standby === undefined || rest.standby !== this.#knownRests.get(key)) continue;
      if (rest.standby.until > this.#clock.monotonic()) {
        this.#state.report(rest.close(undefined, now.get(key)?.on_trial === true));
      }
    }
  }

  /** A row that goes on in two processes is one row. */
  #mergeFailures(theirs: CountedSnapshot, known: CountedSnapshot | undefined): void {
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

  #metered(): [key: string, state: MeteredState][] {
    return this.#state.members.flatMap((member) =>
      member.state instanceof MeteredState ? [[nameOf(member), member.state] as [string, MeteredState]] : []
    );
  }

  #budgets(): Map<string, Budget> {
    const purses = this.#metered().flatMap(([, { meter }]) => meter.budgetScopes ?? []);
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
export function keepMoney(state: MeshState, purse: { readonly id: string; readonly budget: Budget }): void {
  (state.budgetScopes ??= []).push(purse);
  if (state.archive instanceof CountedArchive) state.archive.claim(purse);
}

function nameOf({ pool, state: { name: model, provider } }: MemberState): string {
  return keyOf({ pool, model, provider });
}

function writeUsage([key, { meter }]: [key: string, state: MeteredState]): SavedUsage[] {
  const counts = meter.quota?.snapshot();
  if (counts === undefined) return [];
  const [pool, model, provider] = JSON.parse(key) as [string, string, string];
  return [{ pool, model, provider, ...counts }];
}

function byKey<Saved extends Parameters<typeof keyOf>[0]>(list: readonly Saved[] = []): ReadonlyMap<string, Saved> {
  return new Map(list.map((saved) => [keyOf(saved), saved]));
}

function byBudget(snapshot: CountedSnapshot | undefined): ReadonlyMap<string, SavedSpending> {
  return new Map(snapshot?.spending?.map((saved) => [saved.budget, saved]));
}

/** Whether a rest began, or got longer, since it was known. */
function isNews(saved: SavedRest, known: SavedRest | undefined): boolean {
  return endOf(saved) > endOf(known) + toleranceMs;
}

/** Wall clock, ms; -Infinity when it does not rest. */
function endOf(saved: SavedRest | undefined): number {
  const until = saved?.standby?.until;
  return until === null ? Infinity : until ?? -Infinity;
}

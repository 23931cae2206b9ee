/**
 * Which groups of counters a sync reads, when there are thousands.
 * @module
 */
import type { CounterGroup } from "../counters/replicated_counter.ts";

/**
 * Maximum number of groups that a sync reads although this process has not changed them. Thousands of clients have a
 * budget each; the store decides about every request, so that what others spend of it may be known later.
 */
const maxUnchanged = 64;

/** A group, and its number of changes when it is reported. */
export interface ReportedGroup {
  readonly group: CounterGroup;
  readonly changes: number | undefined;
}

/** Selects the groups that may have changed in this process, and some of the others, in turn. */
export class GroupTurns {
  /** The changes of each group that was quiet when it was last reported. */
  readonly #quiet = new WeakMap<CounterGroup, number>();
  /** Number of unchanged groups selected so far. */
  #turn = 0;

  /** Returns the groups that the next sync reads. */
  select(groups: ReadonlySet<CounterGroup>): Iterable<CounterGroup> {
    if (groups.size <= maxUnchanged) return groups;
    const [selected, unchanged]: [CounterGroup[], CounterGroup[]] = [[], []];
    for (const group of groups) {
      const changes = this.#quiet.get(group);
      (changes === undefined || changes !== group.changes ? selected : unchanged).push(group);
    }
    if (unchanged.length <= maxUnchanged) return groups;
    for (let count = 0; count < maxUnchanged; count++) selected.push(unchanged[this.#turn++ % unchanged.length]!);
    return selected;
  }

  /** Notes what was reported, once what other processes have counted is applied. */
  note(reported: readonly ReportedGroup[]): void {
    for (const { group, changes } of reported) {
      const isUnchanged = changes !== undefined && changes === group.changes;
      if (isUnchanged && group.isQuiet !== false) this.#quiet.set(group, changes);
      else this.#quiet.delete(group);
    }
  }
}

/**
 * The last calls that changed shared counters. They show, after a reconnection, which of them a server has executed.
 * @module
 */

/** Number of calls that are remembered, here and in Redis. A server that lacks more has lost more than its last writes. */
export const rememberedCalls = 4096;

/** What a call changes in one counter. */
export interface CounterChange {
  readonly key: string;
  readonly amount: number;
  readonly leased: number;
  /** Expiry time of the counter, wall-clock ms. */
  readonly expiresAt: number;
}

/** Calls by number, in the order in which they are sent. */
export class RecentCalls {
  #number = 0;
  /** Number of the last call that is not remembered because of its age. */
  #forgotten = 0;
  readonly #calls = new Map<number, {
    readonly changes: readonly CounterChange[];
    /** Whether its reply has arrived. */
    isConfirmed: boolean;
  }>();

  /**
   * Notes a call that is sent now.
   *
   * @returns Its number; 0 if it changes nothing.
   */
  note(changes: readonly CounterChange[], isConfirmed = false): number {
    const changed = changes.filter(({ amount, leased }) => amount !== 0 || leased !== 0);
    if (changed.length === 0) return 0;
    this.#calls.set(++this.#number, { changes: changed, isConfirmed });
    if (this.#calls.size > rememberedCalls) {
      this.#forgotten = this.#calls.keys().next().value!;
      this.#calls.delete(this.#forgotten);
    }
    return this.#number;
  }

  /** Confirms a call whose reply has arrived. One that was denied has changed nothing. */
  confirm(number: number, isGranted: boolean): void {
    const call = this.#calls.get(number);
    if (call === undefined) return;
    if (isGranted) call.isConfirmed = true;
    else this.#calls.delete(number);
  }

  /**
   * Compares the calls with those that a server has executed. From then on, they are those of this server, together with
   * the returned changes.
   *
   * @param executed Numbers of the last calls that it has executed.
   * @returns The changes that it lacks: of calls that it has lost, and the opposite of calls without a reply. Undefined if
   * it has lost more than is remembered.
   */
  reconcile(executed: ReadonlySet<number>): readonly CounterChange[] | undefined {
    const last = Math.max(0, ...executed);
    const hasConfirmed = [...this.#calls.values()].some(({ isConfirmed }) => isConfirmed);
    if (last < this.#forgotten || (last === 0 && hasConfirmed)) return undefined;
    const missing: CounterChange[] = [];
    for (const [number, call] of this.#calls) {
      const isExecuted = call.isConfirmed ? number <= last : executed.has(number);
      if (call.isConfirmed === isExecuted) {
        if (!isExecuted) this.#calls.delete(number);
        continue;
      }
      missing.push(...(isExecuted ? call.changes.map(toOpposite) : call.changes));
      if (isExecuted) call.isConfirmed = true;
      else this.#calls.delete(number);
    }
    return sumByKey(missing);
  }

  /** Forgets all calls. */
  clear(): void {
    this.#forgotten = this.#number;
    this.#calls.clear();
  }
}

function toOpposite({ amount, leased, ...counter }: CounterChange): CounterChange {
  return { ...counter, amount: -amount, leased: -leased };
}

function sumByKey(changes: readonly CounterChange[]): readonly CounterChange[] {
  const sums = new Map<string, CounterChange>();
  for (const { key, amount, leased, expiresAt } of changes) {
    const sum = sums.get(key) ?? { amount: 0, leased: 0 };
    sums.set(key, { key, expiresAt, amount: sum.amount + amount, leased: sum.leased + leased });
  }
  return [...sums.values()].filter(({ amount, leased }) => amount !== 0 || leased !== 0);
}

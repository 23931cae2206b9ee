/**
 * What this process has recently changed in the shared counters, as far as replies have confirmed it.
 * @module
 */
import type { Clock } from "../../src/contracts/runtime.ts";
import { getOrCreate } from "../../src/util/once.ts";

/** Duration of a period, ms. What is older than a period has been replicated, or is lost with the server. */
const periodMs = 10_000;

/** Changes of one counter. */
interface CounterChange {
  readonly key: string;
  readonly amount: number;
  readonly leased: number;
  /** Expiry time of the counter, wall-clock ms. */
  readonly expiresAt: number;
}

type Changes = Map<string, { amount: number; leased: number; expiresAt: number }>;

/** One period. */
interface Period {
  readonly number: number;
  /** Remembers which counters a call may change. */
  note(changes: readonly CounterChange[]): void;
  /** Adds what a call has changed. */
  acknowledge(changes: readonly CounterChange[]): void;
}

/** The changes of the last two periods in which there were any. */
export class RecentChanges {
  readonly #clock: Pick<Clock, "monotonic">;
  #number = 0;
  #startedAt: number;
  /** Whether a reply has arrived in this period. An outage must not end it. */
  #isAcknowledged = false;
  #current: Changes = new Map();
  #previous: Changes = new Map();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
    this.#startedAt = clock.monotonic();
  }

  /** Returns the period of a call that begins now. */
  begin(): Period {
    const isOver = this.#clock.monotonic() - this.#startedAt >= periodMs;
    if (isOver && this.#isAcknowledged) this.#advance(this.#current);
    const period = this.#current;
    return {
      number: this.#number,
      note: (changes) => {
        for (const { key, expiresAt } of changes.filter(isChange)) getOrCreate(period, key, () => zero(expiresAt));
      },
      acknowledge: (changes) => {
        if (period === this.#current) this.#isAcknowledged = true;
        for (const { key, amount, leased, expiresAt } of changes.filter(isChange)) {
          const sums = getOrCreate(period, key, () => zero(expiresAt));
          sums.amount += amount;
          sums.leased += leased;
        }
      },
    };
  }

  /** Returns all changes, the present period, and the previous one if it has changes. */
  list(): {
    readonly number: number;
    readonly oldest: number | undefined;
    readonly changes: readonly (CounterChange & { readonly period: number })[];
  } {
    const number = this.#number;
    const toList = (changes: Changes, period: number) => [...changes].map(([key, sums]) => ({ key, period, ...sums }));
    const isChanged = [...this.#previous.values()].some(isChange);
    return {
      number,
      oldest: isChanged ? number - 1 : undefined,
      changes: [...toList(this.#previous, number - 1), ...toList(this.#current, number)],
    };
  }

  /** Forgets all changes. */
  clear(): void {
    this.#advance(new Map());
    this.#number++;
  }

  #advance(previous: Changes): void {
    this.#previous = previous;
    this.#current = new Map();
    this.#number++;
    this.#isAcknowledged = false;
    this.#startedAt = this.#clock.monotonic();
  }
}

function isChange({ amount, leased }: Pick<CounterChange, "amount" | "leased">): boolean {
  return amount !== 0 || leased !== 0;
}

function zero(expiresAt: number) {
  return { amount: 0, leased: 0, expiresAt };
}

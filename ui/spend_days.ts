/**
 * Sums of what was spent per day and client.
 * @module
 */

/** Number of days shown, today included. */
export const shownDays = 90;

/** Number of clients shown by name; the others are one. */
const maxNamed = 7;

/** A row of `/mesh/usage?by=day,client`. */
export interface SpendRow {
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string;
  readonly client: string | null;
  readonly cost_usd: number;
}

/** What a client spent on each of the shown days, USD; the last is today. */
export interface ClientSpend {
  /** Null: requests without a client's name. */
  readonly name: string | null;
  /** Whether it stands for all clients beyond those shown by name. */
  readonly isOthers: boolean;
  readonly days: readonly number[];
  readonly total: number;
}

/** The names of the shown days, UTC. */
export function listDays(now: number): string[] {
  return Array.from({ length: shownDays }, (_, index) => dayName(now - (shownDays - 1 - index) * 86_400_000));
}

/** The name of a day, UTC. */
export function dayName(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Sums rows by client, those who spent most first. Rows of other days and without a cost are left out. */
export function sumSpend(rows: readonly SpendRow[], days: readonly string[]): readonly ClientSpend[] {
  const sums = new Map<string | null, number[]>();
  for (const { day, client, cost_usd } of rows) {
    const index = days.indexOf(day);
    if (index < 0 || !(cost_usd > 0)) continue;
    const own = sums.get(client) ?? days.map(() => 0);
    sums.set(client, own);
    own[index]! += cost_usd;
  }
  const all = [...sums].map(([name, own]) => ({ name, isOthers: false, days: own, total: sum(own) }))
    .sort((first, second) => second.total - first.total);
  if (all.length <= maxNamed + 1) return all;
  const others = all.slice(maxNamed);
  const otherDays = days.map((_, index) => sum(others.map((client) => client.days[index]!)));
  return [...all.slice(0, maxNamed), { name: null, isOthers: true, days: otherDays, total: sum(otherDays) }];
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}

/**
 * Sums of what was spent per day and client.
 * @module
 */

/** Number of days shown, today included. */
export const shownDays = 90;

/** Number of clients or teams shown by name; the others are one. */
const maxNamed = 7;

/** Whose spend is shown. */
export type SpendOwner = "client" | "team";

/** A row of `/mesh/usage?by=day,client,team`. */
export interface SpendRow {
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string;
  readonly client: string | null;
  readonly team: string | null;
  readonly cost_usd: number;
}

/** What a client or a team spent on each of the shown days, USD; the last is today. */
export interface OwnSpend {
  /** Null: requests without a client's name, or of no team. */
  readonly name: string | null;
  /** Whether it stands for all beyond those shown by name. */
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

/** Sums rows by client or team, those who spent most first. Rows of other days and without a cost are left out. */
export function sumSpend(
  rows: readonly SpendRow[],
  days: readonly string[],
  by: SpendOwner = "client",
): readonly OwnSpend[] {
  const sums = new Map<string | null, number[]>();
  for (const row of rows) {
    const { day, [by]: owner, cost_usd } = row;
    const index = days.indexOf(day);
    if (index < 0 || !(cost_usd > 0)) continue;
    const own = sums.get(owner) ?? days.map(() => 0);
    sums.set(owner, own);
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

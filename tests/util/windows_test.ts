import { assertEquals } from "@std/assert";
import { dayWindow, monthWindow, untilQuotaReset, type Window } from "../../src/util/windows.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

function iso({ start, end }: Window): [start: string, end: string] {
  return [new Date(start).toISOString().slice(0, 16), new Date(end).toISOString().slice(0, 16)];
}

Deno.test("dayWindow and monthWindow are UTC calendar days and months", () => {
  const cases: readonly (readonly [now: string, day: [string, string], month: [string, string]])[] = [
    ["2026-01-01T00:00:00Z", ["2026-01-01T00:00", "2026-01-02T00:00"], ["2026-01-01T00:00", "2026-02-01T00:00"]],
    ["2026-12-31T23:59:59.999Z", ["2026-12-31T00:00", "2027-01-01T00:00"], ["2026-12-01T00:00", "2027-01-01T00:00"]],
    ["2028-02-29T12:00:00Z", ["2028-02-29T00:00", "2028-03-01T00:00"], ["2028-02-01T00:00", "2028-03-01T00:00"]],
    ["2100-02-28T12:00:00Z", ["2100-02-28T00:00", "2100-03-01T00:00"], ["2100-02-01T00:00", "2100-03-01T00:00"]],
    ["2026-03-29T01:30:00Z", ["2026-03-29T00:00", "2026-03-30T00:00"], ["2026-03-01T00:00", "2026-04-01T00:00"]],
    ["1969-12-31T23:59:00Z", ["1969-12-31T00:00", "1970-01-01T00:00"], ["1969-12-01T00:00", "1970-01-01T00:00"]],
  ];
  for (const [now, day, month] of cases) {
    assertEquals(iso(dayWindow(Date.parse(now))), day, now);
    assertEquals(iso(monthWindow(Date.parse(now))), month, now);
  }
});

Deno.test("untilQuotaReset counts to the end of the day or month, or 24 hours", () => {
  const cases: readonly (readonly [schedule: string | undefined, now: number, ms: number])[] = [
    ["daily", Date.UTC(2026, 0, 31, 23), hourMs],
    ["daily_utc", Date.UTC(2026, 0, 31, 23), hourMs],
    [undefined, Date.UTC(2026, 0, 31, 23), hourMs],
    ["daily", Date.UTC(2026, 0, 31), dayMs],
    ["monthly", Date.UTC(2026, 0, 31, 23), hourMs],
    ["monthly", Date.UTC(2028, 1, 1), 29 * dayMs],
    ["monthly", Date.UTC(2026, 11, 1), 31 * dayMs], // more than 2³¹ ms
    ["rolling", Date.UTC(2026, 0, 31, 23), dayMs],
  ];
  for (const [schedule, now, ms] of cases) assertEquals(untilQuotaReset(schedule, now), ms, `${schedule} ${now}`);
});

import { assertEquals, assertThrows } from "@std/assert";
import { seededRandom } from "../../src/runtime/test.ts";
import { dayWindow, dayWindowIn, monthWindow, untilQuotaReset, type Window } from "../../src/util/windows.ts";

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

Deno.test("dayWindowIn follows the clocks of a place, changes included", () => {
  const cases: readonly (readonly [zone: string, now: string, window: [string, string]])[] = [
    ["America/Los_Angeles", "2026-01-01T07:59:59Z", ["2025-12-31T08:00", "2026-01-01T08:00"]],
    ["America/Los_Angeles", "2026-01-01T08:00:00Z", ["2026-01-01T08:00", "2026-01-02T08:00"]],
    ["America/Los_Angeles", "2026-07-01T08:00:00Z", ["2026-07-01T07:00", "2026-07-02T07:00"]],
    // Spring: 23 hours; autumn: 25.
    ["America/Los_Angeles", "2026-03-08T09:00:00Z", ["2026-03-08T08:00", "2026-03-09T07:00"]],
    ["America/Los_Angeles", "2026-03-09T06:59:00Z", ["2026-03-08T08:00", "2026-03-09T07:00"]],
    ["America/Los_Angeles", "2026-11-01T07:00:00Z", ["2026-11-01T07:00", "2026-11-02T08:00"]],
    ["America/Los_Angeles", "2026-11-02T07:59:00Z", ["2026-11-01T07:00", "2026-11-02T08:00"]],
    ["America/Los_Angeles", "2028-03-01T07:59:00Z", ["2028-02-29T08:00", "2028-03-01T08:00"]],
    ["Asia/Kolkata", "2026-01-01T18:29:00Z", ["2025-12-31T18:30", "2026-01-01T18:30"]],
    ["Pacific/Kiritimati", "2026-01-01T10:00:00Z", ["2026-01-01T10:00", "2026-01-02T10:00"]],
    // A midnight that does not exist: the clocks go from 23:59 to 01:00.
    ["Asia/Beirut", "2021-03-27T22:30:00Z", ["2021-03-27T22:00", "2021-03-28T21:00"]],
    ["Asia/Beirut", "2021-03-27T21:59:00Z", ["2021-03-26T22:00", "2021-03-27T22:00"]],
    // An hour before midnight that comes twice: the clocks go from 23:59 back to 23:00.
    ["Asia/Beirut", "2021-10-30T21:30:00Z", ["2021-10-29T21:00", "2021-10-30T22:00"]],
    ["Asia/Beirut", "2021-10-30T22:00:00Z", ["2021-10-30T22:00", "2021-10-31T22:00"]],
    // An hour after midnight that comes twice: the clocks go from 00:59 back to 00:00.
    ["America/Havana", "2021-11-07T05:30:00Z", ["2021-11-07T04:00", "2021-11-08T05:00"]],
    // A day that does not exist at all: 30 December 2011.
    ["Pacific/Apia", "2011-12-30T09:00:00Z", ["2011-12-29T10:00", "2011-12-30T10:00"]],
    ["Pacific/Apia", "2011-12-30T10:00:00Z", ["2011-12-30T10:00", "2011-12-31T10:00"]],
    ["+05:30", "2026-01-01T18:29:00Z", ["2025-12-31T18:30", "2026-01-01T18:30"]],
    ["-0800", "2026-07-01T07:59:00Z", ["2026-06-30T08:00", "2026-07-01T08:00"]],
    ["UTC", "2026-07-01T07:59:00Z", ["2026-07-01T00:00", "2026-07-02T00:00"]],
  ];
  for (const [zone, now, window] of cases) {
    assertEquals(iso(dayWindowIn(zone, Date.parse(now))), window, `${zone} ${now}`);
  }
});

Deno.test("the days of a place follow one another without a gap, and each time is in its own", () => {
  const random = seededRandom(7);
  for (const zone of ["America/Los_Angeles", "Asia/Beirut", "America/Havana", "Australia/Lord_Howe", "+13:45"]) {
    for (let round = 0; round < 60; round++) {
      const now = Date.UTC(2019, 0, 1) + Math.floor(random() * 4 * 365 * dayMs);
      const { start, end } = dayWindowIn(zone, now);
      assertEquals(start <= now && now < end, true, `${zone} ${now}`);
      assertEquals(dayWindowIn(zone, end).start, end, `${zone} ${now}`);
      assertEquals(dayWindowIn(zone, start - 1).end, start, `${zone} ${now}`);
    }
  }
});

Deno.test("an unknown zone is refused", () => {
  assertThrows(() => dayWindowIn("Moon/Crater", 0), RangeError);
});

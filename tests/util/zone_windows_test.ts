/** Calendar windows in time zones, where clocks are changed, and where they are not. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { seededRandom } from "../../src/runtime/test.ts";
import { type CalendarUnit, zoneWindows } from "../../src/util/zone_windows.ts";

const hourMs = 3_600_000;

/** The window of a time, as ISO texts without seconds. */
function windowIn(zone: string, unit: CalendarUnit, time: string): string {
  const { start, end } = zoneWindows(unit, zone)(Date.parse(time));
  return [start, end].map((ms) => new Date(ms).toISOString().replace(":00.000Z", "Z")).join(" ");
}

describe("A calendar window in a time zone", () => {
  const days: readonly (readonly [what: string, zone: string, time: string, window: string])[] = [
    ["has 23 hours in spring", "Europe/Berlin", "2027-03-28T12:00Z", "2027-03-27T23:00Z 2027-03-28T22:00Z"],
    ["has 25 hours in autumn", "Europe/Berlin", "2027-10-31T12:00Z", "2027-10-30T22:00Z 2027-10-31T23:00Z"],
    ["has 23 hours in spring", "America/New_York", "2027-03-14T12:00Z", "2027-03-14T05:00Z 2027-03-15T04:00Z"],
    ["has 25 hours in autumn", "America/New_York", "2027-11-07T12:00Z", "2027-11-07T04:00Z 2027-11-08T05:00Z"],
    ["has 23 hours in spring", "Australia/Sydney", "2027-10-03T00:00Z", "2027-10-02T14:00Z 2027-10-03T13:00Z"],
    ["has 25 hours in autumn", "Australia/Sydney", "2027-04-04T00:00Z", "2027-04-03T13:00Z 2027-04-04T14:00Z"],
    ["has 23.5 hours", "Australia/Lord_Howe", "2027-10-03T00:00Z", "2027-10-02T13:30Z 2027-10-03T13:00Z"],
    ["has 24.5 hours", "Australia/Lord_Howe", "2027-04-04T00:00Z", "2027-04-03T13:00Z 2027-04-04T13:30Z"],
    ["begins at half past", "Asia/Kolkata", "2027-01-01T00:00Z", "2026-12-31T18:30Z 2027-01-01T18:30Z"],
    ["begins at a quarter to", "Asia/Kathmandu", "2027-01-01T00:00Z", "2026-12-31T18:15Z 2027-01-01T18:15Z"],
    ["has no midnight", "America/Sao_Paulo", "2018-11-04T12:00Z", "2018-11-04T03:00Z 2018-11-05T02:00Z"],
    [
      "has the hour before midnight twice",
      "America/Sao_Paulo",
      "2019-02-16T12:00Z",
      "2019-02-16T02:00Z 2019-02-17T03:00Z",
    ],
    ["has no midnight", "Africa/Cairo", "2024-04-26T12:00Z", "2024-04-25T22:00Z 2024-04-26T21:00Z"],
    ["has no midnight", "Asia/Beirut", "2022-03-27T12:00Z", "2022-03-26T22:00Z 2022-03-27T21:00Z"],
    ["has the hour before midnight twice", "Asia/Beirut", "2021-10-30T12:00Z", "2021-10-29T21:00Z 2021-10-30T22:00Z"],
    ["ends where the next date is skipped", "Pacific/Apia", "2011-12-29T20:00Z", "2011-12-29T10:00Z 2011-12-30T10:00Z"],
    ["begins after a skipped date", "Pacific/Apia", "2011-12-30T10:00Z", "2011-12-30T10:00Z 2011-12-31T10:00Z"],
    [
      "begins with the first of two midnights",
      "America/St_Johns",
      "2010-11-07T03:00Z",
      "2010-11-07T02:30Z 2010-11-08T03:30Z",
    ],
    ["is the leap day", "Europe/London", "2028-02-29T12:00Z", "2028-02-29T00:00Z 2028-03-01T00:00Z"],
    ["crosses the end of the year", "America/Los_Angeles", "2027-01-01T03:00Z", "2026-12-31T08:00Z 2027-01-01T08:00Z"],
    ["has a name in any case", "eUrOpE/bErLiN", "2027-01-01T00:00Z", "2026-12-31T23:00Z 2027-01-01T23:00Z"],
  ];
  for (const [what, zone, time, window] of days) {
    it(`of a day ${what}: ${zone} ${time}`, () => assertEquals(windowIn(zone, "day", time), window));
  }

  it("of a week begins on Monday, also where the year has a week 53, and where clocks are changed", () => {
    assertEquals(windowIn("UTC", "week", "2026-12-31T12:00Z"), "2026-12-28T00:00Z 2027-01-04T00:00Z");
    assertEquals(windowIn("UTC", "week", "2027-01-03T23:59Z"), "2026-12-28T00:00Z 2027-01-04T00:00Z");
    assertEquals(windowIn("UTC", "week", "2027-01-04T00:00Z"), "2027-01-04T00:00Z 2027-01-11T00:00Z");
    assertEquals(windowIn("Europe/Berlin", "week", "2027-03-24T00:00Z"), "2027-03-21T23:00Z 2027-03-28T22:00Z");
    assertEquals(windowIn("America/New_York", "week", "2027-11-07T12:00Z"), "2027-11-01T04:00Z 2027-11-08T05:00Z");
  });

  it("of a month ends with the month of the zone", () => {
    assertEquals(windowIn("Europe/Berlin", "month", "2027-03-31T21:59Z"), "2027-02-28T23:00Z 2027-03-31T22:00Z");
    assertEquals(windowIn("Europe/Berlin", "month", "2027-03-31T22:00Z"), "2027-03-31T22:00Z 2027-04-30T22:00Z");
    assertEquals(windowIn("Pacific/Kiritimati", "month", "2027-12-31T10:00Z"), "2027-12-31T10:00Z 2028-01-31T10:00Z");
    assertEquals(windowIn("America/New_York", "month", "2028-02-29T12:00Z"), "2028-02-01T05:00Z 2028-03-01T05:00Z");
  });

  it("of an hour is an hour of local time: a repeated one is another, and a change in it cuts it", () => {
    assertEquals(windowIn("Asia/Kolkata", "hour", "2027-01-01T00:00Z"), "2026-12-31T23:30Z 2027-01-01T00:30Z");
    assertEquals(windowIn("Europe/Berlin", "hour", "2027-10-31T00:30Z"), "2027-10-31T00:00Z 2027-10-31T01:00Z");
    assertEquals(windowIn("Europe/Berlin", "hour", "2027-10-31T01:30Z"), "2027-10-31T01:00Z 2027-10-31T02:00Z");
    assertEquals(windowIn("Australia/Lord_Howe", "hour", "2027-10-02T15:40Z"), "2027-10-02T15:30Z 2027-10-02T16:00Z");
    assertEquals(windowIn("Australia/Lord_Howe", "hour", "2027-04-03T15:10Z"), "2027-04-03T15:00Z 2027-04-03T15:30Z");
  });

  it("is never without an end, whatever the time", () => {
    for (const time of [-8.64e15, -1e13, -1, 253_402_300_799_999, 8.64e15]) {
      for (const unit of ["hour", "day", "week", "month"] as const) zoneWindows(unit, "Europe/Berlin")(time);
    }
  });
});

describe("Calendar windows", () => {
  const longest = { hour: 1, day: 25, week: 7 * 24 + 1, month: 31 * 24 + 1 } as const;
  // the whole of time is partitioned, in zones of every kind
  const zones = [
    ...["UTC", "Europe/Berlin", "America/Sao_Paulo", "Asia/Beirut", "Africa/Cairo", "Australia/Lord_Howe"],
    ...["Asia/Kathmandu", "America/St_Johns", "Pacific/Apia", "Africa/Casablanca", "Pacific/Chatham", "America/Havana"],
  ];
  for (const zone of zones) {
    it(`of ${zone} follow each other without a gap, and none is longer than it may be`, () => {
      const random = seededRandom(zone.length * 7919);
      for (const unit of ["hour", "day", "week", "month"] as const) {
        const windowAt = zoneWindows(unit, zone);
        for (let round = 0; round < 25; round++) {
          const time = Math.floor(Date.UTC(2008) + random() * (Date.UTC(2040) - Date.UTC(2008)));
          let window = windowAt(time);
          assert(window.start <= time && time < window.end, `${unit} ${new Date(time).toISOString()}`);
          for (let step = 0; step < 3; step++) {
            const next = windowAt(window.end);
            assertEquals(next.start, window.end, `${unit} ${new Date(window.end).toISOString()}`);
            const last = windowAt(window.end - 1);
            assertEquals([last.start, last.end], [window.start, window.end], `${unit} ${new Date(time).toISOString()}`);
            assert(next.end - next.start <= longest[unit] * hourMs, `${unit} ${new Date(next.start).toISOString()}`);
            window = next;
          }
        }
      }
    });
  }
});

import { assertEquals, assertThrows } from "@std/assert";
import { seededRandom } from "../../src/runtime/test.ts";
import { lastStart, nextStart, parseCron } from "../../src/util/cron.ts";

const minuteMs = 60_000;

function iso(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString().slice(0, 16);
}

Deno.test("nextStart finds the first start after a time", () => {
  const cases: readonly (readonly [cron: string, after: string, next: string | undefined])[] = [
    ["* * * * *", "2026-01-01T00:00", "2026-01-01T00:01"],
    ["0 3 * * 0", "2026-01-01T00:00", "2026-01-04T03:00"],
    ["0 3 * * 7", "2026-01-01T00:00", "2026-01-04T03:00"],
    ["0 3 * * SUN", "2026-01-01T00:00", "2026-01-04T03:00"],
    ["0 3 * * sat-sun", "2026-01-03T03:00", "2026-01-04T03:00"],
    ["0 3 * * 5-0", "2026-01-04T03:00", "2026-01-09T03:00"],
    ["0 3 * * sun-sun", "2026-01-04T03:00", "2026-01-11T03:00"],
    ["0 3 * * mon-fri", "2026-01-02T03:00", "2026-01-05T03:00"],
    ["0 3 * * fri,mon", "2026-01-02T03:00", "2026-01-05T03:00"],
    ["*/15 * * * *", "2026-01-01T00:00", "2026-01-01T00:15"],
    ["10-40/15 * * * *", "2026-01-01T00:25", "2026-01-01T00:40"],
    ["40,5 9,8 * * *", "2026-01-01T08:05", "2026-01-01T08:40"],
    ["40,5 9,8 * * *", "2026-01-01T08:40", "2026-01-01T09:05"],
    ["59 23 31 12 *", "2026-12-31T23:59", "2027-12-31T23:59"],
    ["0 0 1 jan *", "2026-12-31T23:59", "2027-01-01T00:00"],
    ["0 0 31 * *", "2026-03-31T00:00", "2026-05-31T00:00"],
    ["0 0 30 * *", "2026-01-30T00:00", "2026-03-30T00:00"],
    ["0 0 29 2 *", "2026-01-01T00:00", "2028-02-29T00:00"],
    ["0 0 29 2 *", "2096-02-29T00:00", "2104-02-29T00:00"],
    ["0 0 29 2 *", "2396-02-29T00:00", "2400-02-29T00:00"],
    ["0 0 31 2 *", "2026-01-01T00:00", undefined],
    ["0 0 31 4,6,9,11 *", "2026-01-01T00:00", undefined],
    // Either day is enough when both are restricted ...
    ["0 0 13 * fri", "2026-01-01T00:00", "2026-01-02T00:00"],
    ["0 0 13 * fri", "2026-01-10T00:00", "2026-01-13T00:00"],
    ["0 0 31 2 mon", "2026-01-01T00:00", "2026-02-02T00:00"],
    // ... and a field that begins with a star is none that restricts: both have to fit.
    ["0 0 13 * */5", "2026-01-01T00:00", "2026-02-13T00:00"],
    ["0 0 */10 * fri", "2026-01-01T00:00", "2026-05-01T00:00"],
    ["0 0 29 2 */7", "2026-01-01T00:00", "2032-02-29T00:00"],
    ["0 0 29 2 */7", "2088-02-29T00:00", "2128-02-29T00:00"],
  ];
  for (const [cron, after, next] of cases) {
    assertEquals(iso(nextStart(parseCron(cron), Date.parse(`${after}Z`))), next, `${cron} after ${after}`);
  }
});

Deno.test("lastStart finds the start that a window may have begun at, the present moment included", () => {
  const cases: readonly (readonly [cron: string, before: string, last: string | undefined])[] = [
    ["0 3 * * 0", "2026-01-04T03:00", "2026-01-04T03:00"],
    ["0 3 * * 0", "2026-01-04T02:59", "2025-12-28T03:00"],
    ["0,30 1,2 * * *", "2026-01-01T02:10", "2026-01-01T02:00"],
    ["0,30 1,2 * * *", "2026-01-01T00:59", "2025-12-31T02:30"],
    ["0 0 31 * *", "2026-03-30T00:00", "2026-01-31T00:00"],
    ["0 0 29 2 *", "2028-02-28T23:59", "2024-02-29T00:00"],
    ["0 0 29 2 *", "2103-12-31T00:00", "2096-02-29T00:00"],
    ["30 23 31 12 *", "2027-01-01T00:10", "2026-12-31T23:30"],
    ["0 0 31 2 *", "2026-01-01T00:00", undefined],
  ];
  for (const [cron, before, last] of cases) {
    assertEquals(iso(lastStart(parseCron(cron), Date.parse(`${before}Z`))), last, `${cron} before ${before}`);
  }
});

Deno.test("a start counts to the millisecond", () => {
  const cron = parseCron("0 3 * * *");
  const start = Date.UTC(2026, 0, 1, 3);
  assertEquals(nextStart(cron, start - 1), start);
  assertEquals(nextStart(cron, start), start + 24 * 60 * minuteMs);
  assertEquals(lastStart(cron, start), start);
  assertEquals(lastStart(cron, start - 1), start - 24 * 60 * minuteMs);
});

Deno.test("a time before 1970 or one that is none is not trouble", () => {
  const cron = parseCron("0 3 * * thu");
  assertEquals(iso(nextStart(cron, -1)), "1970-01-01T03:00");
  assertEquals(iso(lastStart(cron, -1)), "1969-12-25T03:00");
  assertEquals(iso(lastStart(parseCron("0 3 * * sat"), -1)), "1969-12-27T03:00");
  for (const time of [NaN, Infinity, -Infinity, 8.64e15, -8.64e15]) {
    for (const find of [nextStart, lastStart]) {
      const found = find(cron, time);
      assertEquals(found === undefined || Math.abs(found) <= 8.64e15, true, `${find.name} ${time}`);
    }
  }
});

Deno.test("parseCron says which field is wrong, and why", () => {
  const cases: readonly (readonly [cron: string, why: string])[] = [
    ["", "it has 1 fields"],
    ["* * * *", "it has 4 fields"],
    ["* * * * * *", "it has 6 fields"],
    ["60 * * * *", 'the minute "60" is not between 0 and 59'],
    ["0 24 * * *", 'the hour "24" is not between 0 and 23'],
    ["0 0 0 * *", 'the day of the month "0" is not between 1 and 31'],
    ["0 0 * 13 *", 'the month "13" is not between 1 and 12'],
    ["0 0 * 0 *", 'the month "0" is not between 1 and 12'],
    ["0 0 * * 8", 'the day of the week "8" is not between 0 and 7'],
    ["0 0 * * jan", 'the day of the week "jan" is not between 0 and 7'],
    ["mon 0 * * *", 'the minute "mon" is not between 0 and 59'],
    ["0 0 * * monday", 'the day of the week "monday" is not a number, name, range or "*"'],
    ["0 0 1,,2 * *", 'the day of the month "" is not a number, name, range or "*"'],
    ["5-1 * * * *", 'the minute "5-1" runs backwards'],
    ["0 0 * dec-jan *", 'the month "dec-jan" runs backwards'],
    ["*/0 * * * *", 'the minute "*/0" has a step of 0'],
    ["5/15 * * * *", 'the minute "5/15" has a step after a single value: write "5-59/15"'],
    ["@daily", "it has 1 fields"],
    [`${"1,".repeat(200)}1 * * * *`, "Cannot read a cron expression of 409 characters"],
  ];
  for (const [cron, why] of cases) assertThrows(() => parseCron(cron), SyntaxError, why);
});

Deno.test("parseCron takes blanks around and between fields, and lists of everything", () => {
  assertEquals(parseCron("  0\t3  * *   0 "), parseCron("0 3 * * 0"));
  assertEquals(parseCron("1,1,0 * * * *").times.slice(0, 3), [0, 1, 60]);
  assertEquals(parseCron("* * * * *").times.length, 1440);
  assertEquals([...parseCron("0 0 1-5/2,20 * *").days], [1, 3, 5, 20]);
  assertEquals([...parseCron("0 0 * jan-mar,12 *").months], [1, 2, 3, 12]);
});

/** The slow reading: each field by itself. */
function reader(cron: string): (time: number) => boolean {
  const sets = cron.split(" ").map((field) => field === "*" ? undefined : new Set(field.split(",").map(Number)));
  return (time) => {
    const at = new Date(time);
    const values = [at.getUTCMinutes(), at.getUTCHours(), at.getUTCDate(), at.getUTCMonth() + 1, at.getUTCDay()];
    const [minute, hour, day, month, weekday] = values.map((value, place) => sets[place]?.has(value) ?? true);
    const isEither = sets[2] !== undefined && sets[4] !== undefined;
    return minute! && hour! && month! && (isEither ? day! || weekday! : day! && weekday!);
  };
}

Deno.test("nextStart and lastStart agree with a walk minute by minute", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = seededRandom(seed);
    const pick = (least: number, greatest: number) => least + Math.floor(random() * (greatest - least + 1));
    const field = (least: number, greatest: number) =>
      random() < 0.5 ? "*" : `${pick(least, greatest)},${pick(least, greatest)}`;
    const cron = [field(0, 59), field(0, 23), field(1, 31), "*", field(0, 6)].join(" ");
    const isStart = reader(cron);
    const from = Date.UTC(2027, 11, 20) + pick(0, 80 * 24 * 60) * minuteMs; // over a year's end and a leap day
    let next = from + minuteMs;
    for (let steps = 0; steps < 20_000 && !isStart(next); steps++) next += minuteMs;
    let last = from;
    for (let steps = 0; steps < 20_000 && !isStart(last); steps++) last -= minuteMs;
    if (isStart(next)) assertEquals(iso(nextStart(parseCron(cron), from)), iso(next), `seed ${seed}: ${cron}`);
    if (isStart(last)) assertEquals(iso(lastStart(parseCron(cron), from)), iso(last), `seed ${seed}: ${cron}`);
  }
});

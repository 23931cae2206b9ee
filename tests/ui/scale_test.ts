/** The scales of the dashboard's charts. */
import { assertEquals } from "@std/assert";
import { createScale, type Point, toLonelyPoints, toRuns, toTimeTicks, toValueTicks } from "../../ui/scale.ts";

Deno.test("an axis of values names multiples of 1, 2 or 5 that have enough space", () => {
  const cases: readonly [number, number[]][] = [
    [1, [0, 0.5, 1]],
    [1.1, [0, 0.5, 1]],
    [6, [0, 2, 4, 6]],
    [7, [0, 5]],
    [0.0001, [0, 0.00005, 0.0001]],
    [1980, [0, 1000]],
    [54_000, [0, 20_000, 40_000]],
  ];
  for (const [top, expected] of cases) {
    assertEquals(toValueTicks(top, { length: 102, space: 34 }).map((tick) => Number(tick.toPrecision(6))), expected);
  }
});

Deno.test("an axis of times names whole steps of the clock, with seconds where there is space", () => {
  assertEquals(toTimeTicks([1003, 1061], 300), [1005, 1020, 1035, 1050]);
  assertEquals(toTimeTicks([65, 360], 300), [120, 180, 240, 300, 360]);
  assertEquals(toTimeTicks([7200, 10_800], 280), [7200, 7800, 8400, 9000, 9600, 10_200, 10_800]);
  assertEquals(toTimeTicks([5, 5], 300), []);
});

Deno.test("a line has a gap where more than so many px have no value, and a dot where a value stands alone", () => {
  const at = (x: number): Point => [x, 0];
  const points = [null, at(1), null, at(3), at(4), null, null, null, at(8)];
  assertEquals(toRuns(points, 2), [[at(1), at(3), at(4)], [at(8)]]);
  assertEquals(toLonelyPoints(points), [at(1), at(8)]);
  assertEquals(toRuns([null], 2), []);
});

Deno.test("a scale maps both ends, and a single time to the first px", () => {
  const toX = createScale([10, 20], [40, 140]);
  assertEquals([10, 15, 20].map(toX), [40, 90, 140]);
  assertEquals(createScale([10, 10], [40, 140])(10), 40);
});

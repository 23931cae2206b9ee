/** Which time the dashboard's records cover. */
import { assertEquals } from "@std/assert";
import { Coverage } from "../../ui/coverage.ts";

Deno.test("Coverage counts the time from its beginning on, and none before", () => {
  const coverage = new Coverage();
  assertEquals(coverage.seconds(0, 10_000), 0);
  coverage.begin(4000);
  assertEquals(coverage.seconds(0, 10_000), 6);
  assertEquals(coverage.seconds(0, 3000), 0);
});

Deno.test("Coverage has a gap between the end of a span and the beginning of the next", () => {
  const coverage = new Coverage();
  coverage.begin(0);
  coverage.end(4000);
  assertEquals(coverage.seconds(0, 10_000), 4);
  coverage.begin(7000);
  assertEquals(coverage.seconds(0, 10_000), 7);
  assertEquals(coverage.seconds(3000, 8000), 2);
});

Deno.test("Coverage that is resumed has no gap", () => {
  const coverage = new Coverage();
  coverage.begin(0);
  coverage.end(4000);
  coverage.resume();
  assertEquals(coverage.seconds(0, 10_000), 10);
});

Deno.test("Coverage counts no time twice", () => {
  const coverage = new Coverage();
  coverage.begin(0);
  coverage.begin(5000);
  coverage.end(9000);
  coverage.begin(2000);
  assertEquals(coverage.seconds(0, 20_000), 20);
});

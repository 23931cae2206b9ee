import { assertEquals } from "@std/assert";
import { cronProblem } from "../../src/config/schema/formats.ts";

Deno.test("a cron expression has to be one, and has to come at some time", () => {
  const noCron = 'expected a cron expression of five fields, such as "0 3 * * 0" for Sundays at 03:00 UTC';
  const never = "never occurs: none of its months has such a day";
  const cases: readonly (readonly [expression: string, problem: string | undefined])[] = [
    ["0 3 * * 0", undefined],
    ["0 3 * jan-mar mon-fri", undefined],
    ["0 0 29 2 *", undefined],
    ["0 0 31 2 mon", undefined],
    ["0 0 31 2 *", never],
    ["0 0 30-31 feb *", never],
    ["61 * * * *", noCron],
    ["5/15 * * * *", noCron],
    ["", noCron],
  ];
  for (const [expression, problem] of cases) assertEquals(cronProblem(expression), problem, expression);
});

/** Work on what clients, providers and operators send grows at most in proportion to it. */
import { cases } from "../growth/_table.ts";
import { assertLinear } from "../support/effort.ts";

for (const { covers, what, size, work, release } of cases) {
  Deno.test(`${covers.join(", ")}: ${what}`, () => assertLinear(what, size, work).finally(release));
}

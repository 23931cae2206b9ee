/**
 * Work on what clients, providers and operators send grows at most in proportion to it.
 *
 * The table has every function and class of the source whose name says that it reads something, every dialect, and
 * every list. A new one has to join, or to state why what it reads is bounded.
 */
import { assertEquals } from "@std/assert";
import { assertLinear } from "../support/effort.ts";
import { bounded } from "./_bounded.ts";
import { dialectCases } from "./_dialect_cases.ts";
import { readingExports } from "./_exports.ts";
import { meshCases } from "./_mesh_cases.ts";
import { operationCases } from "./_operation_cases.ts";
import { proxyCases } from "./_proxy_cases.ts";
import { providerCases } from "./_provider_cases.ts";
import { textCases } from "./_text_cases.ts";
import { wireCases } from "./_wire_cases.ts";

const cases = [
  ...textCases,
  ...wireCases,
  ...dialectCases,
  ...providerCases,
  ...operationCases,
  ...meshCases,
  ...proxyCases,
];

Deno.test("every function, class and dialect that reads something is in the table, or bounded", async () => {
  const found = await readingExports(["src", "connectors"]);
  const covered = new Set(cases.flatMap(({ covers }) => covers));
  const isBounded = (name: string) => Object.keys(bounded).some((prefix) => name.startsWith(prefix));
  assertEquals(found.filter((name) => !covered.has(name) && !isBounded(name)), [], "add a row, or a reason");
  assertEquals([...covered].filter((name) => isBounded(name)), [], "either in the table or bounded");
  const unused = Object.keys(bounded).filter((prefix) => !found.some((name) => name.startsWith(prefix)));
  assertEquals(unused, [], "there is no such function or class any more");
});

for (const { covers, what, size, work, release } of cases) {
  Deno.test(`${covers.join(", ")}: ${what}`, () => assertLinear(what, size, work).finally(release));
}

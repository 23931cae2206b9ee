/**
 * The table of growth has every function and class of the source whose name says that it reads something, every dialect,
 * and every list. A new one has to join, or to state why what it reads is bounded.
 */
import { assertEquals } from "@std/assert";
import { bounded } from "./_bounded.ts";
import { readingExports } from "./_exports.ts";
import { cases } from "./_table.ts";

Deno.test("every function, class and dialect that reads something is in the table, or bounded", async () => {
  const found = await readingExports(["src", "connectors"]);
  const covered = new Set(cases.flatMap(({ covers }) => covers));
  const isBounded = (name: string) => Object.keys(bounded).some((prefix) => name.startsWith(prefix));
  assertEquals(found.filter((name) => !covered.has(name) && !isBounded(name)), [], "add a row, or a reason");
  assertEquals([...covered].filter((name) => isBounded(name)), [], "either in the table or bounded");
  const unused = Object.keys(bounded).filter((prefix) => !found.some((name) => name.startsWith(prefix)));
  assertEquals(unused, [], "there is no such function or class any more");
});

/** The behaviour suites in pages, except those that only `task test:nightly` runs there. */
import { assertEquals } from "@std/assert";
import { behaviourSuites, testSuitesInPages } from "./_behaviour.ts";
import { notInPages, slowInPages } from "./_not_in_pages.ts";

Deno.test("every suite that is excluded from pages is there", () => {
  const named = [...Object.keys(notInPages), ...slowInPages];
  assertEquals(named.filter((file) => !behaviourSuites.includes(file)), []);
});

testSuitesInPages(behaviourSuites.filter((file) => !slowInPages.includes(file)));

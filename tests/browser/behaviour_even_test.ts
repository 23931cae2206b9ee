/** The behaviour suites in pages, except those that only `task test:nightly` runs there: every second one. */
import { assertEquals } from "@std/assert";
import { behaviourSuites, gateSuites, testSuitesInPages } from "./_behaviour.ts";
import { notInPages, slowInPages } from "./_not_in_pages.ts";

Deno.test("every suite that is excluded from pages is there", () => {
  const named = [...Object.keys(notInPages), ...slowInPages];
  assertEquals(named.filter((file) => !behaviourSuites.includes(file)), []);
});

testSuitesInPages(gateSuites.filter((_, index) => index % 2 === 0));

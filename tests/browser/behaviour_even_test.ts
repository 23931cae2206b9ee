/** The behaviour suites that the gate runs in pages: every second one. */
import { assertEquals } from "@std/assert";
import { behaviourSuites, testSuitesInPages } from "./_behaviour.ts";
import { gateInPages, notInPages } from "./_not_in_pages.ts";

Deno.test("every suite that is named for pages is there, and none that the gate runs is excluded", () => {
  const named = [...Object.keys(notInPages), ...gateInPages];
  assertEquals(named.filter((file) => !behaviourSuites.includes(file)), []);
  assertEquals(gateInPages.filter((file) => typeof notInPages[file] === "string"), []);
});

testSuitesInPages(gateInPages.filter((_, index) => index % 2 === 0));

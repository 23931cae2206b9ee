import { assertEquals } from "@std/assert";
import { deal, lastLine, summarize } from "../scripts/test.ts";
import { parseCounts } from "../scripts/test_all.ts";

/** As `deno test --junit-path` writes it. */
function report(...cases: [name: string, outcome?: "failure" | "error" | "skipped"][]): string {
  const lines = cases.map(([name, outcome]) =>
    outcome === undefined
      ? `<testcase name="${name}" classname="./a_test.ts" time="0.1" line="1" col="2">\n</testcase>`
      : `<testcase name="${name}" classname="./a_test.ts"><${outcome} message="x > y"/></testcase>`
  );
  return `<?xml version="1.0"?><testsuites><testsuite>${lines.join("\n")}</testsuite></testsuites>`;
}

Deno.test("summarize() counts tests, not what holds them", () => {
  const junit = report(["plain"], ["router"], ["router &gt; picks &quot;a&quot;"], ["router &gt; deep"], [
    "router &gt; deep &gt; down",
  ]);
  assertEquals(summarize(junit, ""), { passed: 3, failed: [], skipped: [] });
});

Deno.test("summarize() names a failure once, and a holder that fails by itself", () => {
  const junit = report(["router", "failure"], ["router &gt; one", "failure"], ["hooks", "error"], ["hooks &gt; two"]);
  assertEquals(summarize(junit, ""), { passed: 1, failed: ["router > one", "hooks"], skipped: [] });
});

Deno.test("summarize() names what was skipped, but not what a filter left out", () => {
  const junit = report(["later", "skipped"], ["left out", "skipped"], ["a &gt; b", "skipped"], ["a"]);
  const output = "later ... ignored (0ms)\n./a_test.ts => a ... b ... ignored (0ms)\n";
  assertEquals(summarize(junit, output), { passed: 0, failed: [], skipped: ["later", "a > b"] });
});

Deno.test("summarize() counts files that break down outside of any test", () => {
  const output = "./b_test.ts (uncaught error)\nerror: x\n FAILURES \n\n./b_test.ts (uncaught error)\n";
  assertEquals(summarize(report(["plain"]), output).failed, ["./b_test.ts (uncaught error)"]);
});

Deno.test("lastLine() says how a run went", () => {
  assertEquals(lastLine({ passed: 12, failed: [], skipped: [] }), "12 passed, 0 failed");
  assertEquals(lastLine({ passed: 1, failed: ["a"], skipped: ["b", "c"] }), "1 passed, 1 failed, 2 skipped");
});

Deno.test("deal() gives neighbours to different workers, and none to a worker without need", () => {
  assertEquals(deal(["a", "b", "c", "d", "e"], 2), [["a", "c", "e"], ["b", "d"]]);
  assertEquals(deal(["a"], 4), [["a"]]);
});

Deno.test("parseCounts() reads the last sum, and takes a part that fails or says nothing for a failure", () => {
  assertEquals(parseCounts("Node: 3 passed\n3 passed, 0 failed\n12 passed, 0 failed, 1 skipped\n", true), {
    passed: 12,
    failed: 0,
  });
  assertEquals(parseCounts("12 passed, 0 failed\n", false), { passed: 12, failed: 1 });
  assertEquals(parseCounts("12 passed, 3 failed\n", false), { passed: 12, failed: 3 });
  assertEquals(parseCounts("", true), { passed: 0, failed: 1 });
});

import { assert, assertEquals } from "@std/assert";
import { bundleForPage, limitBytes, oneProvider, serverTraces, wholeEntry } from "../../scripts/npm/browser_size.ts";
import { stop } from "../../scripts/npm/esbuild.ts";

// the bundler says that it has stopped a moment before its process is gone
Deno.test("a page's bundle", { sanitizeOps: false, sanitizeResources: false }, async (test) => {
  await test.step("reaches nothing of Node's and nothing of Deno's, not even unused", async () => {
    const { wholeText } = await bundleForPage(wholeEntry, { isShaken: false });
    assertEquals(serverTraces(wholeText), []);
  });

  await test.step("weighs no more than its limit with one provider", async () => {
    const { gzipBytes } = await bundleForPage(oneProvider);
    assert(gzipBytes <= limitBytes, `create with one provider weighs ${gzipBytes} bytes gzipped, over ${limitBytes}`);
  });

  await test.step("shows what only servers have, where it is reached", async () => {
    const { wholeText } = await bundleForPage(`import "./mod.ts";`, { isShaken: false });
    const found = serverTraces(wholeText).map((trace) => trace.split(":")[0]);
    assertEquals(found, ["Deno", "a module of Node", "process"]);
  });

  await stop();
});

Deno.test("serverTraces() knows code of servers from words that look like it", () => {
  const code = ["Deno.args", `import"node:fs"`, "process.env.KEY", "let{process:e}=globalThis", `require("fs")`];
  for (const text of code) assertEquals(serverTraces(text).length, 1, text);
  const words = [
    "a denoted node",
    `"the process ended"`,
    "processed.env",
    "nodes:1",
    `"compose node: alias"`,
    "isRequired(x)",
  ];
  for (const text of words) assertEquals(serverTraces(text), [], text);
});

/**
 * Examples that need nothing but this repository. The others run in `tests/packages`, `tests/servers` and
 * `tests/browser`, that of Node in `scripts/npm/proofs`.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { examplePath, runExample, startDemoProcess } from "../../support/_examples.ts";
import { refusingUrl } from "../../support/upstream.ts";

Deno.test("examples/library.ts answers non-streaming and streaming, and names the models", async () => {
  await using demo = await startDemoProcess();
  const said = await runExample("library.ts", { args: ["Why?"], env: { VLLM_HOST: demo.host } });
  const answer = "Hello from \\w+, a simulated provider\\. You said: Why\\?\n— vllm\\.chat-completion\n";
  assertMatch(said, new RegExp(`^${answer}\n${answer}$`));
});

Deno.test("examples/custom_provider.ts answers from its table only while no model does", async () => {
  {
    await using demo = await startDemoProcess();
    assertMatch(await runExample("custom_provider.ts", { args: [demo.url] }), /^Hello from .*\n— demo-chat\n$/);
  }
  const down = new URL(await refusingUrl()).origin;
  assertEquals(
    await runExample("custom_provider.ts", { args: [down, "What is the PRICE?"] }),
    "Ten francs.\n— table-1\n",
  );
  assertEquals(await runExample("custom_provider.ts", { args: [down, "Who?"] }), "Please call us.\n— table-1\n");
});

Deno.test("examples/custom_strategy.ts shares requests out over both models", async () => {
  await using demo = await startDemoProcess();
  const lines = (await runExample("custom_strategy.ts", { args: [demo.url] })).trimEnd().split("\n");
  const counts = Object.fromEntries(lines.map((line) => line.split(": ")));
  assertEquals(Object.keys(counts).toSorted(), ["alpha", "gamma"]);
  assertEquals(Number(counts.alpha) + Number(counts.gamma), 12);
});

Deno.test("examples/README.md names every example", async () => {
  const text = await Deno.readTextFile(examplePath("README.md"));
  const names = (await Array.fromAsync(Deno.readDir(examplePath("")))).map(({ name }) => name);
  const missing = names.filter((name) => name !== "README.md" && !text.includes(`(${name}`));
  assertEquals(missing, []);
  assert(names.length > 8);
});

/** The TypeScript and JavaScript of README and of the pages in `docs/`: all of it compiles, what asks the demo is run. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { startDemoProcess } from "../support/_examples.ts";
import { makeFolder } from "../support/_library.ts";
import { checkout, codeBlocks, writeModules } from "../support/_page_code.ts";

const demoAddress = "127.0.0.1:8080";

/** What a Deno of its own prints; the program's failure is the test's. */
async function deno(args: readonly string[]): Promise<string> {
  const env = { NO_COLOR: "1" };
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args: [...args], cwd: checkout, env })
    .output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assert(success, `${args.at(-1)}: ${out}${err}`);
  return out!;
}

Deno.test("the TypeScript and JavaScript of every page compiles", async () => {
  await using folder = await makeFolder();
  const blocks = await codeBlocks("ts", "js");
  assert(blocks.length > 15);
  const [flags, paths] = await writeModules(folder.path, blocks);
  await deno(["check", "--quiet", ...flags, ...paths]);
});

Deno.test("what a page has the demo asked gets its answer", async (test) => {
  await using folder = await makeFolder();
  await using demo = await startDemoProcess();
  const blocks = (await codeBlocks("ts", "js")).filter(({ text }) => text.includes(demoAddress));
  assertEquals(blocks.length, 5, "README's library, and the clients of OpenAI, Anthropic, Google and Vercel");
  const here = blocks.map((block) => ({ ...block, text: block.text.replaceAll(demoAddress, demo.host) }));
  const [flags, paths] = await writeModules(folder.path, here);
  for (const [index, path] of paths.entries()) {
    await test.step(blocks[index]!.where, async () => {
      const out = await deno(["run", "-A", "--quiet", "--no-check", ...flags, path]);
      assertMatch(out, /Hello from \w+, a simulated provider/);
    });
  }
});

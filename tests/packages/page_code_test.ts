/** The TypeScript, JavaScript and shell commands of README and of the pages in `docs/`: all of it compiles and runs. */
import { assert, assertEquals } from "@std/assert";
import { startDemoProcess } from "../support/_examples.ts";
import { makeFolder } from "../support/_library.ts";
import { allCodeBlocks, checkout, codeBlocks, writeModules } from "../support/_page_code.ts";

const demoAddress = "127.0.0.1:8080";

/** The variables that Deno itself needs: a block must not find API keys of the environment. */
const inherited = Object.fromEntries(
  Object.entries(Deno.env.toObject()).filter(([name]) => /^(?:PATH|HOME|TMPDIR|XDG_|DENO_|NODE_|NPM_)/i.test(name)),
);

/** What a program prints; its failure is the test's. */
async function readOutput(
  [program, ...args]: readonly [string, ...string[]],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const options = { args, cwd: checkout, clearEnv: true, env: { ...inherited, NO_COLOR: "1", ...env } };
  const { success, stdout, stderr } = await new Deno.Command(program, options).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assert(success, `${args.at(-1)}: ${out}${err}`);
  return out!;
}

Deno.test("the TypeScript and JavaScript of every page compiles", async () => {
  await using folder = await makeFolder();
  const blocks = await codeBlocks("ts", "js");
  assert(blocks.length > 15);
  const [flags, paths] = await writeModules(folder.path, blocks);
  await readOutput([Deno.execPath(), "check", "--quiet", ...flags, ...paths]);
});

Deno.test("the TypeScript and JavaScript of every page runs, against the demo", async (test) => {
  await using folder = await makeFolder();
  await using demo = await startDemoProcess();
  const blocks = (await codeBlocks("ts", "js")).filter(({ notRun }) => notRun === undefined);
  assert(blocks.length > 15);
  const here = blocks.map((block) => ({ ...block, text: block.text.replaceAll(demoAddress, demo.host) }));
  const [flags, paths] = await writeModules(folder.path, here);
  let answers = 0;
  for (const [index, path] of paths.entries()) {
    const { where, text } = here[index]!;
    const [name, value] = text.includes("OPENAI_API_KEY") ? ["OPENAI_API_KEY", "sk-0123"] : ["VLLM_HOST", demo.host];
    await test.step(where, async () => {
      const command = [Deno.execPath(), "run", "-A", "--quiet", "--no-check", ...flags, path] as const;
      const out = await readOutput(command, { ACME_API_KEY: "0123456789", [name]: value });
      if (/Hello from \w+, a simulated provider/.test(out)) answers++;
    });
  }
  const pages = "README's two, getting started, the cache, and the clients of OpenAI, Anthropic, Google and Vercel";
  assertEquals(answers, 8, pages);
});

Deno.test("the shell commands of every page run, against the demo, or it says why they cannot", async (test) => {
  await using demo = await startDemoProcess();
  const blocks = (await codeBlocks("sh")).filter(({ notRun }) => notRun === undefined);
  let answers = 0;
  for (const { where, text } of blocks) {
    await test.step(where, async () => {
      const out = await readOutput(["bash", "-c", `set -e\n${text.replaceAll(demoAddress, demo.host)}`]);
      if (out.includes('"object":"chat.completion')) answers++;
    });
  }
  assertEquals(answers, 2, "those of README and of getting started");
});

Deno.test("every block of a page is checked by a test of its language, or says why not", async () => {
  const checked = ["js", "py", "sh", "ts", "yaml"]; // `yaml` by tests/docs/documents_test.ts, `py` by tests/servers
  const generated = "docs/cli.md"; // the help of each command, compared with the source
  const blocks = await allCodeBlocks();
  const rest = blocks.filter(({ language, unchecked, where }) =>
    !checked.includes(language) && unchecked === undefined && !where.startsWith(`${generated}:`)
  );
  assertEquals(rest.map(({ where }) => where), []);
});

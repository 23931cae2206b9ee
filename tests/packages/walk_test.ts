/** The first steps of the README in an empty folder, with nothing but the package: Node, Deno, Python and curl. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { spawnCommand } from "../support/_cli.ts";
import { makeFolder } from "../support/_library.ts";
import { findPackage } from "../support/_package.ts";
import { type CodeBlock, codeBlocks } from "../support/_page_code.ts";
import { findPython } from "../support/_python.ts";

const answer = /^Hello from \w+, a simulated provider/m;

/** Runs a program in a folder, and returns what it prints. */
async function run(
  [program = "", ...args]: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(program, { args, cwd, env }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assertEquals(code, 0, `${program} ${args.join(" ")}: ${out}${err}`);
  return out!;
}

/** The block of the README that contains a text. */
function findBlock(blocks: readonly CodeBlock[], text: string): string {
  const block = blocks.find(({ where, text: code }) => where.startsWith("README.md:") && code.includes(text));
  assert(block !== undefined, `README.md has no block with ${text}`);
  return block.text;
}

Deno.test("the first steps of the README work in an empty folder", async (test) => {
  await using built = await makeFolder();
  await using folder = await makeFolder();
  const here = folder.path;
  const program = findBlock(await codeBlocks("ts"), 'create("chat-completion"); // detects');
  await Deno.writeTextFile(join(here, "package.json"), '{ "type": "module" }');
  await run(["npm", "install", "--install-links", "--offline", await findPackage(built.path)], here);
  assertEquals(Array.from(Deno.readDirSync(join(here, "node_modules")), ({ name }) => name).toSorted(), [
    ".bin",
    ".package-lock.json",
    "@modelmesh",
  ]);
  await using demo = spawnCommand(["proxy", "--demo", "--port", "0"], {
    command: [join(here, "node_modules/.bin/modelmesh")], // npx would outlive its end, or end before it
    cwd: here,
  });
  const url = await demo.url();
  const env = { VLLM_HOST: new URL(url).host, NO_PROXY: "127.0.0.1" };

  await test.step("the request, sent twice: the second one fails over", async () => {
    const curl = findBlock(await codeBlocks("sh"), "curl -iN").replaceAll("http://127.0.0.1:8080", url);
    const outputs = [await run(["sh", "-ec", curl], here), await run(["sh", "-ec", curl], here)];
    assertEquals(outputs.map((text) => /x-mesh-fallbacks: (\d)/.exec(text)?.[1]), ["0", "1"]);
    for (const text of outputs) assertMatch(text, /data: \[DONE\]/);
  });

  for (
    const [name, ...command] of [
      ["Node", "node", "hello.mjs"],
      ["Deno", Deno.execPath(), "run", "-A", "--quiet", "hello.ts"],
    ]
  ) {
    await test.step(`the library on ${name}`, async () => {
      await Deno.writeTextFile(join(here, command.at(-1)!), program);
      assertMatch(await run(command, here, env), answer);
    });
  }

  await test.step("the command line", async () => {
    const command = ["npx", "--no-install", "modelmesh", "chat", "Hello", "--url", url];
    assertMatch(await run(command, here), answer);
  });

  const python = findPython("openai");
  await test.step({
    name: `OpenAI's SDK for Python${python === undefined ? ": needs python3 with openai (pip install openai)" : ""}`,
    ignore: python === undefined,
    async fn() {
      const code = findBlock(await codeBlocks("py"), "OpenAI(").replaceAll("http://127.0.0.1:8080", url);
      assertMatch(await run([python!, "-c", code], here, env), answer);
    },
  });
});

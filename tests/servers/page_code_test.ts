/**
 * The Python of README and of the pages in `docs/`: all of it parses, and what uses the package `openai` alone asks the demo.
 * LangChain's and the Agents SDK's are not run: their packages are large, and their settings are those of `openai`.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { startDemoProcess } from "../support/_examples.ts";
import { codeBlocks } from "../support/_page_code.ts";
import { findPython } from "../support/_python.ts";

const python = findPython("openai");
if (python === undefined) {
  describe.skip("Python on pages: needs python3 with openai (pip install openai)", () => {});
} else {
  const run = async (program: string): Promise<string> => {
    const env = { NO_PROXY: "127.0.0.1", PYTHONIOENCODING: "utf-8" };
    const { success, stdout, stderr } = await new Deno.Command(python, { args: ["-c", program], env }).output();
    assert(success, new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout);
  };
  const blocks = await codeBlocks("py");
  const isOfOpenAi = ({ text }: { readonly text: string }) => /^from openai import OpenAI$/m.test(text);

  describe("Python on pages", () => {
    for (const { where, text } of blocks) {
      it(`parses: ${where}`, async () => void await run(`import ast\nast.parse(${JSON.stringify(text)})`));
    }

    it("asks the demo, and prints its answer", async () => {
      await using demo = await startDemoProcess();
      const own = blocks.filter(isOfOpenAi);
      assertEquals(own.length, 2);
      for (const { text } of own) {
        assertMatch(await run(text.replaceAll("127.0.0.1:8080", demo.host)), /^Hello from \w+, a simulated provider/);
      }
    });
  });
}

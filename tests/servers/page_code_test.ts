/**
 * The Python of README and of the pages in `docs/`: every block parses, and every block whose package is installed calls the
 * demo. `.ci/run` installs all of them.
 */
import { assert, assertMatch } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { join } from "node:path";
import { type RunningDemo, startDemoProcess } from "../support/_examples.ts";
import { makeFolder } from "../support/_library.ts";
import { checkout, codeBlocks } from "../support/_page_code.ts";
import { findPython, PythonProcess } from "../support/_python.ts";

/** Packages of the blocks; one that imports another of them comes first. */
const packages = ["agents", "langchain_openai", "anthropic", "openai"];

const python = findPython("openai");
if (python === undefined) {
  describe.skip("Python on pages: needs python3 with openai (pip install openai)", () => {});
} else {
  const blocks = await codeBlocks("py");
  const packageOf = (text: string) => packages.find((name) => new RegExp(`^from ${name} import `, "m").test(text));

  describe("Python on pages", () => {
    let demo: RunningDemo;
    let process: PythonProcess;
    beforeAll(async () => {
      demo = await startDemoProcess();
      const env = { NO_PROXY: "127.0.0.1", PYTHONIOENCODING: "utf-8", OPENAI_AGENTS_DISABLE_TRACING: "1" };
      process = new PythonProcess(python, env);
    });
    afterAll(async () => {
      await process[Symbol.asyncDispose]();
      await demo[Symbol.asyncDispose]();
    });

    for (const { where, text } of blocks) {
      it(`parses: ${where}`, async () => void await process.run(`import ast\nast.parse(${JSON.stringify(text)})`));

      const name = packageOf(text);
      assert(name !== undefined, `${where}: no known package`);
      const isMissing = findPython(name) === undefined;
      const why = isMissing ? `: needs python3 with ${name}` : "";
      (isMissing ? it.skip : it)(`calls the demo: ${where} (${name})${why}`, async () => {
        const program = text.replaceAll("127.0.0.1:8080", demo.host);
        assertMatch(await process.run(program), /^Hello from \w+, a simulated provider/);
      });
    }

    const hasLlm = findPython("llm") !== undefined;
    const need = hasLlm ? "" : ": needs python3 with llm (pip install llm)";
    (hasLlm ? it : it.skip)(`docs/clients.md: llm finds its model by its file, and calls the demo${need}`, async () => {
      await using folder = await makeFolder();
      const page = await Deno.readTextFile(`${checkout}/docs/clients.md`);
      const [, file = ""] = /```yaml\n(- model_id: mesh\n.*?)```/s.exec(page) ?? [];
      await Deno.writeTextFile(
        join(folder.path, "extra-openai-models.yaml"),
        file.replace("127.0.0.1:8080", demo.host),
      );
      const args = ["-m", "llm", "-m", "mesh", "Hello", "--key", "token", "--no-stream"];
      const { code, stdout, stderr } = await new Deno.Command(python, {
        args,
        env: { NO_PROXY: "127.0.0.1", LLM_USER_PATH: folder.path },
      }).output();
      assert(code === 0, new TextDecoder().decode(stderr));
      assertMatch(new TextDecoder().decode(stdout), /^Hello from \w+, a simulated provider/);
    });
  });
}

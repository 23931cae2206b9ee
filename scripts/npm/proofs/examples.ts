/**
 * Tests that the example for Node runs in a project with only the package.
 * @module
 */
import { fromFileUrl, root } from "../files.ts";
import { must, type Proof, type Workshop } from "../workshop.ts";
import { start } from "../process.ts";

const name = "library_node.mjs";

/** Runs the example with the given environment variables only. */
async function run(workshop: Workshop, env: Readonly<Record<string, string>>) {
  const project = await workshop.plain();
  await Deno.copyFile(fromFileUrl(new URL(`examples/${name}`, root)), `${project.folder}/${name}`);
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return await start(["env", "-i", `PATH=${Deno.env.get("PATH")}`, ...variables, "node", name, "Why?"], project).ended;
}

/** The tests. */
export const examples: readonly Proof[] = [
  {
    name: `examples/${name} streams an answer of the demo`,
    async prove(workshop) {
      const { folder } = await workshop.plain();
      const command = [
        "node",
        "node_modules/@modelmesh/core/modelmesh.cjs",
        "proxy",
        "--demo",
        "--port",
        "0",
        "--json",
      ];
      const demo = start(command, { folder });
      try {
        const [, host = ""] = await demo.find(/"url":"http:\/\/([^"]*)"/);
        const { code, out, err } = await run(workshop, { VLLM_HOST: host });
        const isExpected = /^Hello from \w+, a simulated provider\. You said: Why\?\n— vllm\.chat-completion\n$/.test(
          out,
        );
        must(code === 0 && isExpected && err === "", `It ended with ${code} and said: ${out}${err}`);
      } finally {
        demo.signalAll("SIGTERM");
        await demo.ended;
      }
    },
  },
  {
    name: `examples/${name} without a key names the variables, and fails`,
    async prove(workshop) {
      const { code, out, err } = await run(workshop, {});
      must(code === 1 && out === "" && err.includes("OPENAI_API_KEY"), `It ended with ${code} and said: ${out}${err}`);
    },
  },
];

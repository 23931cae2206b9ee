/**
 * Tests JavaScript programs with the package on every supported runtime.
 * @module
 */
import { type Ended, start } from "../process.ts";
import { must, type Proof, versions, type Workshop } from "../workshop.ts";

/** Returns the path of a Node version from npm. */
async function installNode(workshop: Workshop, version: string): Promise<string> {
  return (await workshop.project(version.replace("@", "-"), [version])).program("node");
}

/** Runs the program. A warning about the package counts as a failure. */
async function runProgram(workshop: Workshop, command: readonly string[]): Promise<void> {
  const { out, err } = await (await workshop.plain()).run([...command, "program.mjs"]);
  must(out === "program: done\n", `The program said: ${out}`);
  must(err === "", `The runtime said: ${err}`);
}

/** Loads the package with `require()`, which fails for modules with top-level `await`. */
async function runRequire(workshop: Workshop, node: string): Promise<void> {
  const script =
    `for (const entry of ["", "/connectors", "/browser", "/proxy", "/cli", "/package.json"]) require("@modelmesh/core" + entry)`;
  await (await workshop.plain()).run([node, "--no-warnings", "--eval", script]);
}

/** Loads a file on a Node that reports another version. */
async function onOldNode(workshop: Workshop, version: string): Promise<Ended> {
  const { folder } = await workshop.plain();
  const script = `Object.defineProperty(process.versions, "node", { value: "${version}" });
    require("${folder}/node_modules/@modelmesh/core/modelmesh.cjs")`;
  return await start(["node", "--eval", script, "--", "modelmesh", "--version"], { folder }).ended;
}

/** The tests. */
export const runtimes: readonly Proof[] = [
  {
    name: "a program on the Node at hand imports every entry, chats and streams",
    prove: (workshop) => runProgram(workshop, ["node"]),
  },
  ...versions.nodes.map((version): Proof => ({
    name: `the same program on ${version}, and require()`,
    isNightly: version !== versions.nodes.at(-1),
    async prove(workshop) {
      const node = await installNode(workshop, version);
      await runProgram(workshop, [node]);
      await runRequire(workshop, node);
    },
  })),
  {
    name: "the same program on Deno",
    prove: (workshop) => runProgram(workshop, [Deno.execPath(), "run", "-A", "--quiet", "--node-modules-dir=manual"]),
  },
  {
    name: "modelmesh tells a Node that is too old, in one line",
    async prove(workshop) {
      for (const version of ["18.19.0", "20.15.1", "4.0.0"]) {
        const { code, out, err } = await onOldNode(workshop, version);
        const line = `modelmesh needs Node 20.16 or newer; this is ${version}\n`;
        must(code === 1 && out === "" && err === line, `On ${version} it ended with ${code} and said: ${out}${err}`);
      }
      const { code, out } = await onOldNode(workshop, "20.16.0");
      must(code === 0 && /^\d+\.\d+\.\d+\n$/.test(out), `On 20.16.0 it ended with ${code} and said: ${out}`);
    },
  },
];

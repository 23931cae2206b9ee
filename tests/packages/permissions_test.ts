/** What Node 24 denies by its permission model is named with the option that permits it. */
import { assertStringIncludes } from "@std/assert";
import { it } from "@std/testing/bdd";
import { findNode } from "../../scripts/npm/node.ts";
import { makeFolder } from "../support/_library.ts";
import { testConfig } from "../support/proxy.ts";

const root = new URL("../../", import.meta.url).pathname;
const program = `
  import { serve } from ${JSON.stringify(`${root}proxy.ts`)};
  const proxy = await serve({ config: "mesh.json", port: 0 });
  await proxy.stop();
  console.log("stopped");
`;

it("Node's permission model: a denied configuration or storage is named, and the page's permissions suffice", async () => {
  const node = await findNode("24");
  await using folder = await makeFolder();
  const storage = { path: "state/state.json" };
  const config = testConfig({ upstreams: { a: "http://127.0.0.1:9/v1" }, config: { storage } });
  await folder.write("mesh.json", JSON.stringify(config));
  await folder.write("program.mjs", program);
  const runWith = async (...permitted: readonly string[]): Promise<string> => {
    const flags = [`--allow-fs-read=${root}`, `--allow-fs-read=${folder.path}/program.mjs`, ...permitted];
    const command = new Deno.Command(node, { args: ["--permission", ...flags, "program.mjs"], cwd: folder.path });
    const { stdout, stderr } = await command.output();
    return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  };
  const readsConfig = `--allow-fs-read=${folder.path}/mesh.json`;
  await Deno.mkdir(`${folder.path}/state`); // Node permits the files of a folder that exists
  const readsState = [`--allow-fs-read=${folder.path}/state`];
  const denied = "this process is not permitted to: add";
  assertStringIncludes(await runWith(), `the file cannot be read: ${denied} --allow-fs-read=mesh.json`);
  assertStringIncludes(await runWith(readsConfig), `${denied} --allow-fs-read=state --allow-fs-write=state`);
  const writesState = `--allow-fs-write=${folder.path}/state`;
  assertStringIncludes(await runWith(readsConfig, ...readsState, writesState), "stopped");
});

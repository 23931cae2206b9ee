/** Programs outside of a checkout that import its modules by path, with neither an import map nor anything installed. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { bundleStd, copies, toCopyUrl } from "../../scripts/build_std.ts";
import { stop } from "../../scripts/npm/esbuild.ts";
import { findNode } from "../../scripts/npm/node.ts";
import { run } from "../../scripts/npm/process.ts";
import { makeFolder } from "../support/_library.ts";
import { testConfig } from "../support/proxy.ts";
import { answer, startUpstream } from "../support/upstream.ts";
import { stringify } from "@std/yaml";

const url = (path: string) => JSON.stringify(new URL(`../../${path}`, import.meta.url));

/** A program that uses what the standard library is for: YAML in both directions, the dashboard, a dotenv file. */
const program = `
  import { create, ModelMesh } from ${url("mod.ts")};
  import { serve } from ${url("proxy.ts")};
  import { dotenvSecrets } from ${url("connectors/secrets/dotenv.ts")};
  import { serverRuntime } from ${url("src/runtime/server.ts")};
  const client = create({ config: "mesh.yaml" });
  const { choices } = await client.chat.completions.create({ messages: [{ role: "user", content: "Hi" }] });
  await client.close();
  const mesh = await ModelMesh.fromYaml("mesh.yaml");
  const pools = mesh.listPools().map(({ name }) => name);
  await mesh.close();
  const proxy = await serve({ port: 0, config: "mesh.yaml" });
  const page = await fetch(proxy.url + "/ui", { headers: { accept: "text/html" } });
  await page.text();
  await proxy.stop();
  const secrets = dotenvSecrets.create({ path: "secrets.env" }, serverRuntime());
  await secrets.set("KEY", "a value");
  console.log(JSON.stringify([choices[0].message.content, pools, page.status, await secrets.get("KEY")]));
`;

async function runsOn(command: readonly string[]): Promise<void> {
  await using folder = await makeFolder();
  await using upstream = await startUpstream([answer({ text: "Hello" })]);
  const storage = { path: "state/state.yaml", persistence: { format: "yaml" } };
  const config = testConfig({ upstreams: { a: upstream.url }, config: { storage } });
  await folder.write("mesh.yaml", stringify(config));
  await folder.write("program.ts", program);
  const { out } = await run([...command, "program.ts"], { folder: folder.path });
  assertEquals(JSON.parse(out), ["Hello", ["chat"], 200, "a value"]);
}

describe("A program that imports a checkout by path reads and writes YAML, and serves the dashboard", () => {
  it("on Deno", async () => {
    await runsOn([Deno.execPath(), "run", "-A", "--no-check", "--no-npm", "--no-remote"]);
  });

  it("on Node 24", async () => {
    await runsOn([await findNode("24")]);
  });
});

// the bundler says that it has stopped a moment before its process is gone
Deno.test(
  "the copies of the standard library are what `deno task std` builds",
  { sanitizeOps: false, sanitizeResources: false },
  async () => {
    try {
      for (const name of Object.keys(copies)) {
        assertEquals(await bundleStd(name), await Deno.readTextFile(toCopyUrl(name)), name);
      }
    } finally {
      await stop();
    }
  },
);

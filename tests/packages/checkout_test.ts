/** Programs outside of a checkout that import its modules by path, with neither an import map nor anything installed. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { findNode } from "../../scripts/npm/node.ts";
import { run } from "../../scripts/npm/process.ts";
import { makeFolder } from "../support/_library.ts";
import { testConfig } from "../support/proxy.ts";
import { respond, startUpstream } from "../support/upstream.ts";
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
  await using upstream = await startUpstream([respond({ text: "Hello" })]);
  const storage = { path: "state/state.yaml", persistence: { format: "yaml" } };
  const config = testConfig({ upstreams: { a: upstream.url }, config: { storage } });
  await folder.write("mesh.yaml", stringify(config));
  await folder.write("program.ts", program);
  const { out } = await run([...command, "program.ts"], { folder: folder.path });
  assertEquals(JSON.parse(out), ["Hello", ["chat"], 200, "a value"]);
}

describe("A program that imports a checkout by path reads and writes YAML, and serves the dashboard", () => {
  it("on Deno", async () => {
    await runsOn([Deno.execPath(), "run", "-A", "--no-check"]);
  });

  it("on Node 24, which has to have it installed, it says so; JSON and dotenv files need nothing", async () => {
    await using folder = await makeFolder();
    const failing = `
      import { create } from ${url("mod.ts")};
      import { dotenvSecrets } from ${url("connectors/secrets/dotenv.ts")};
      import { serverRuntime } from ${url("src/runtime/server.ts")};
      const secrets = dotenvSecrets.create({ path: "secrets.env" }, serverRuntime());
      await secrets.set("KEY", "a value");
      const { message } = await create({ config: "mesh.yaml" }).ready().catch((error) => error);
      console.log(JSON.stringify([message, await secrets.get("KEY")]));
    `;
    await folder.write("mesh.yaml", stringify(testConfig({ upstreams: { a: "http://127.0.0.1:9" } })));
    await folder.write("program.ts", failing);
    const { out } = await run([await findNode("24"), "program.ts"], { folder: folder.path });
    const [message, secret] = JSON.parse(out);
    assertStringIncludes(message, "in the folder of ModelMesh if that is a checkout");
    assertEquals(secret, "a value");
  });
});

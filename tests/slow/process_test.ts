/** Commands as processes of their own, which nothing keeps alive but their work: on Node the built ones. */
import { assertEquals, assertNotMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { copyFile, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type ChildOptions, spawnCommand } from "../support/_cli.ts";
import { makeFolder } from "../support/_library.ts";
import { nodeStarter } from "../support/_programs.ts";
import { goodBody } from "../support/_surface.ts";
import { testConfig } from "../support/proxy.ts";
import { respond, startUpstream } from "../support/upstream.ts";

/** A command that ends by itself. */
async function run(args: readonly string[], options: ChildOptions = {}) {
  await using child = spawnCommand(args, options);
  const code = await child.code;
  return { code, out: child.out, err: child.err };
}

describe("A command as a process of its own", () => {
  it("check: 0 what holds, 1 what does not, 2 what makes no sense", async () => {
    await using folder = await makeFolder();
    const config = testConfig({ upstreams: { a: "http://127.0.0.1:9/v1" } });
    await folder.write("good.json", JSON.stringify(config));
    await folder.write("bad.json", JSON.stringify({ ...config, pols: {} }));
    const cwd = folder.path;
    const good = await run(["check", "good.json"], { cwd });
    assertEquals(good, { code: 0, out: "good.json is valid: 1 provider, 1 model, 1 pool\n", err: "" });
    const bad = await run(["check", "bad.json"], { cwd });
    assertEquals([bad.code, bad.out], [1, ""]);
    assertStringIncludes(bad.err, 'did you mean "pools"?');
    assertEquals((await run(["check"], { cwd })).code, 2);
  });

  for (const store of ["mesh.dotenv.v1", "mesh.encrypted-file.v1"]) {
    it(`secrets: stores what comes by standard input in ${store}, lists and deletes it`, async () => {
      await using folder = await makeFolder();
      const cwd = folder.path;
      const env = { MESH_SECRETS_PASSPHRASE: "a passphrase of this test" };
      const at = ["--store", store, "--path", "kept"];
      const set = await run(["secrets", "set", "KEY", "-", ...at], { cwd, env, input: "sk-ab$cd1 #x\n" });
      assertEquals(set, { code: 0, out: `Stored "KEY" in ${store}\n`, err: "" });
      assertEquals((await run(["secrets", "list", ...at], { cwd, env })).out, "KEY\n");
      if (store === "mesh.dotenv.v1") assertEquals(await readFile(join(cwd, "kept"), "utf8"), "KEY='sk-ab$cd1 #x'\n");
      assertEquals((await run(["secrets", "delete", "KEY", ...at], { cwd, env })).code, 0);
    });
  }

  it("proxy: stays, serves, and leaves its state in a file when a signal ends it", async () => {
    await using upstream = await startUpstream(respond());
    await using folder = await makeFolder();
    const config = { storage: { connector: "mesh.local-file.v1", path: "state.json" } };
    await folder.write("mesh.json", JSON.stringify(testConfig({ upstreams: { a: upstream.url }, config })));
    await using child = spawnCommand(["proxy", "--config", "mesh.json", "--port", "0"], { cwd: folder.path });
    const response = await fetch(`${await child.url()}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(goodBody),
    });
    assertEquals([response.status, (await response.json()).choices[0].message.content], [200, "Hello world"]);
    child.kill("SIGTERM");
    assertEquals(await child.code, 0, child.err);
    assertNotMatch(child.err, /error|\n\s+at /i);
    assertStringIncludes((await folder.list()).join(), "state.json");
  });
});

describe("The command on Node", () => {
  it("exits 1 and says so when its work never ends and nothing is left to wait for", async () => {
    await using folder = await makeFolder();
    await mkdir(join(folder.path, "dist"));
    await copyFile(nodeStarter(), join(folder.path, "modelmesh.cjs"));
    await folder.write("package.json", "{}");
    await folder.write("dist/package.json", '{ "type": "module" }');
    await folder.write("dist/cli.js", "export const main = () => new Promise(() => {});");
    assertEquals(await run([], { command: ["node", join(folder.path, "modelmesh.cjs")] }), {
      code: 1,
      out: "",
      err: "modelmesh ended before its work was done: nothing was left to wait for\n",
    });
  });
});

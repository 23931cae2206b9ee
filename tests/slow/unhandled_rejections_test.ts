/** A rejected promise that no code handles, in code that a proxy has loaded: it is logged, and the proxy goes on. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type ChildCommand, spawnCommand } from "../support/_cli.ts";
import { makeFolder, type TestFolder } from "../support/_library.ts";
import { type Files, manifest, packed } from "../support/_packages.ts";
import { programCommand } from "../support/_programs.ts";
import { goodBody } from "../support/_surface.ts";
import { happens } from "../support/patience.ts";
import { testConfig } from "../support/proxy.ts";
import { respond, startUpstream } from "../support/upstream.ts";

const key = "key-of-a-0123456789";

/** A strategy that forgets a promise in each request. */
const forgetful: Files = {
  "connector.json": manifest({ id: "acme.forgetful.v1", type: "strategy" }),
  "main.js": `
    async function forget() {
      await null;
      throw new Error("forgotten with ${key}");
    }
    function select(candidates) {
      forget();
      return candidates[0];
    }
    export default { id: "acme.forgetful.v1", kind: "strategy", create: () => ({ select }) };`,
};

async function writeConfig(folder: TestFolder, upstream: string): Promise<string> {
  const document = testConfig({
    upstreams: { a: upstream },
    pool: { strategy: "acme.forgetful.v1", model_priority: undefined },
    config: { connectors: { packages: [await packed(folder, forgetful)] } },
  });
  return await folder.write("mesh.json", JSON.stringify(document));
}

async function chat(child: ChildCommand): Promise<number> {
  const headers = { "content-type": "application/json", connection: "close" };
  const body = JSON.stringify({ ...goodBody, model: "chat" });
  const response = await fetch(`${await child.url()}/v1/chat/completions`, { method: "POST", headers, body });
  await response.text();
  return response.status;
}

/** Its stack is logged without the secret in it. */
function assertLogged({ err }: Pick<ChildCommand, "err">): void {
  assertStringIncludes(err, "Unhandled rejection: Error: forgotten with [redacted]");
  assertMatch(err, /\bat (?:async )?forget \(/);
  assertEquals(err.includes(key), false);
}

describe("A promise that code in a proxy forgets, and that is rejected", () => {
  for (const workers of [1, 2]) {
    for (const format of ["json", "text"]) {
      it(`is logged with its stack, and ends nothing: workers ${workers}, ${format}`, async () => {
        await using folder = await makeFolder();
        await using upstream = await startUpstream(respond());
        const config = await writeConfig(folder, upstream.url);
        const args = ["--port", "0", "--config", config, "--workers", `${workers}`, "--log-format", format];
        const env = { MODELMESH_CACHE: `${folder.path}/cache` };
        await using child = spawnCommand(["proxy", ...args], { env, mayReject: true });
        for (let count = 0; count < 6; count++) assertEquals(await chat(child), 200);
        await child.says("Unhandled rejection");
        assertLogged(child);
        assertEquals(child.err.includes("exited"), false, child.err); // no worker was replaced
        child.kill("SIGTERM");
        assertEquals(await happens("it stops", child.code), 0, child.err);
      });
    }
  }

  it("is written to standard error by a program's proxy that has no sink, and is the program's own after stop()", async () => {
    await using upstream = await startUpstream(respond());
    const source = `
      import { serve } from PROXY;
      const proxy = await serve({ port: 0, config: ${JSON.stringify(testConfig({ upstreams: { a: upstream.url } }))} });
      const forget = async () => { await null; throw new Error("forgotten with ${key}"); };
      forget();
      await new Promise((resolve) => setTimeout(resolve));
      const { status } = await fetch(proxy.url + "/health");
      console.error("answers " + status);
      await proxy.stop();
      forget();
      await new Promise((resolve) => setTimeout(resolve, 60_000));`;
    await using child = spawnCommand([], { command: programCommand(source), mayReject: true });
    await child.says("answers 200");
    assertLogged({ err: child.err.split("answers 200")[0]! });
    assertEquals(await happens("it ends", child.code), 1);
  });
});

/** The sources on Node, which removes their types and compiles nothing. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { findNode } from "../../scripts/npm/node.ts";
import { run } from "../../scripts/npm/process.ts";
import { downloaded } from "../../scripts/npm/std.ts";
import { spawnCommand } from "../support/_cli.ts";
import { makeFolder } from "../support/_library.ts";
import { goodBody } from "../support/_surface.ts";
import { testConfig } from "../support/proxy.ts";
import { respond, startUpstream } from "../support/upstream.ts";

const url = (path: string) => new URL(`../../${path}`, import.meta.url);

/** A program that chats over the library and over a proxy. */
const program = `
  import { create } from ${JSON.stringify(url("mod.ts"))};
  import { serve } from ${JSON.stringify(url("proxy.ts"))};
  const { config, body } = JSON.parse(process.argv[1]);
  const client = create("chat", { config });
  const { choices } = await client.chat.completions.create({ messages: body.messages });
  const proxy = await serve({ port: 0, config });
  const headers = { "content-type": "application/json" };
  const response = await fetch(proxy.url + "/v1/chat/completions", { method: "POST", headers, body: JSON.stringify(body) });
  const answer = await response.json();
  await proxy.stop();
  console.log(JSON.stringify([choices, answer.choices].map(([{ message }]) => message.content)));
`;

/** Resolves \`@std/…\`, as an installed package would. */
async function stdHooks(): Promise<string> {
  const std = new URL("..", `file://${await downloaded("npm:deno-std@1.4.0/yaml/mod.js")}`);
  const text = `
    import { registerHooks } from "node:module";
    registerHooks({
      resolve(specifier, context, next) {
        const [, name, path = "mod"] = /^@std\\/(\\w+)(?:\\/(.+))?$/.exec(specifier) ?? [];
        if (name === undefined) return next(specifier, context);
        return { url: \`${std}\${name}/\${path.replaceAll("-", "_")}.js\`, format: "module", shortCircuit: true };
      },
    });`;
  return `data:text/javascript,${encodeURIComponent(text)}`;
}

describe("Node 24", () => {
  it("imports mod.ts and proxy.ts, where nothing is installed", async () => {
    await using folder = await makeFolder();
    await using upstream = await startUpstream(respond());
    const input = JSON.stringify({ config: testConfig({ upstreams: { a: upstream.url } }), body: goodBody });
    const command = [await findNode("24"), "--input-type=module", "--eval", program, input];
    const { out, err } = await run(command, { folder: folder.path });
    assertEquals([JSON.parse(out), err], [["Hello world", "Hello world"], ""]);
  });

  it("runs proxy.ts, with the standard library as an installed package", async () => {
    await using folder = await makeFolder();
    await using upstream = await startUpstream(respond());
    const config = JSON.stringify(testConfig({ upstreams: { a: upstream.url } })); // JSON is YAML, too
    await folder.write("mesh.yaml", config);
    await using child = spawnCommand(["--port", "0", "--config", "mesh.yaml"], {
      command: [await findNode("24"), "--import", await stdHooks(), url("proxy.ts").pathname],
      cwd: folder.path,
    });
    const proxy = await child.url();
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${proxy}/v1/chat/completions`, {
      method: "POST",
      headers,
      body: JSON.stringify(goodBody),
    });
    const page = await fetch(`${proxy}/ui`, { headers: { accept: "text/html" } });
    await page.body?.cancel();
    const { choices } = await response.json();
    assertEquals([choices[0].message.content, page.status], ["Hello world", 200]);
    child.kill("SIGTERM");
    assertEquals(await child.code, 0, child.err);
  });
});

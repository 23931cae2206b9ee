/** The default export of `proxy.ts`, served by `deno serve`. */
import { assert, assertEquals, assertMatch, assertNotMatch, assertStringIncludes } from "@std/assert";
import { type ChildCommand, spawnCommand } from "../support/_cli.ts";
import { makeFolder } from "../support/_library.ts";
import { happens } from "../support/patience.ts";
import { testConfig } from "../support/proxy.ts";
import { assertRefused, checkRefused, getRaw, goodBody } from "../support/_surface.ts";
import { Gate, respond, startUpstream, stream } from "../support/upstream.ts";

const module = new URL("../../proxy.ts", import.meta.url).pathname;
const token = "a-long-secret-0123456789";

/** Starts `deno serve` on a free port of loopback. */
function serve(env: Record<string, string>, ...flags: string[]): ChildCommand {
  const address = ["--host=127.0.0.1", "--port=0"];
  return spawnCommand([], {
    env,
    command: [Deno.execPath(), "serve", "-A", "--no-check", ...address, ...flags, module],
  });
}

function chat(url: string, body: Record<string, unknown> = {}, bearer = token): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${bearer}` },
    body: JSON.stringify({ ...goodBody, ...body }),
  });
}

Deno.test("deno serve serves the configuration of MODELMESH_CONFIG, and saves its state when it stops", async () => {
  await using upstream = await startUpstream(respond());
  await using folder = await makeFolder();
  const storage = { connector: "mesh.local-file.v1", path: `${folder.path}/state.json` };
  const config = testConfig({ upstreams: { a: upstream.url }, config: { storage } });
  const path = await folder.write("mesh.json", JSON.stringify(config));
  await using child = serve({ MODELMESH_CONFIG: path, MODELMESH_TOKEN: token });
  const url = await child.url();
  const response = await chat(url);
  assertEquals([response.status, response.headers.get("x-mesh-model")], [200, "a"]);
  assertEquals((await response.json()).choices[0].message.content, "Hello world");
  await assertRefused(await chat(url, {}, "another-secret-0123456789"), { status: 401, code: "invalid_api_key" });
  checkRefused(await getRaw(url, "/v1/../metrics"), { status: 400, code: "invalid_url" });
  const gate = new Gate();
  gate.open(2);
  upstream.follow(stream({ pieces: ["one", "two"], gate }));
  const open = await chat(url, { stream: true });
  child.kill("SIGTERM");
  gate.openAll();
  assertMatch(await open.text(), /"one"[^]*"two"[^]*data: \[DONE\]/);
  assertEquals(await happens("it ends", child.code), 0);
  assert((await folder.list()).includes("state.json"), "its state is saved");
  assertEquals(child.err.match(/listens on/g)?.length, 1, `the command line does not start: ${child.err}`);
  assertNotMatch(child.err, /Warning/);
});

Deno.test("deno serve detects providers, and aborts the call of a client that leaves its stream", async () => {
  const gate = new Gate();
  gate.open(2);
  await using upstream = await startUpstream(stream({ pieces: ["one", "two"], gate }));
  await using child = serve({ OPENAI_API_KEY: "sk-child-0123456789", OPENAI_BASE_URL: upstream.url });
  const response = await chat(await child.url(), { model: "chat-completion", stream: true });
  assertEquals(response.status, 200);
  const reader = response.body!.getReader();
  await reader.read();
  await reader.cancel();
  await happens("the provider's connection closes", upstream.requests[0]!.closed);
});

Deno.test("deno serve --parallel serves from every thread", async () => {
  await using upstream = await startUpstream(respond());
  await using child = serve({ OPENAI_API_KEY: "sk-child-0123456789", OPENAI_BASE_URL: upstream.url }, "--parallel");
  const url = await child.url();
  const asked = Array.from({ length: 20 }, () => chat(url, { model: "chat-completion" }));
  for (const response of await Promise.all(asked)) {
    assertEquals([response.status, (await response.json()).object], [200, "chat.completion"]);
  }
});

Deno.test("deno serve ends with the reason when the proxy cannot start", async () => {
  await using nothing = serve({});
  assertEquals(await happens("it ends", nothing.code), 1);
  assertStringIncludes(nothing.err, "OPENAI_API_KEY");
  await using folder = await makeFolder();
  const path = await folder.write("mesh.json", '{"pools": 3}');
  await using wrong = serve({ MODELMESH_CONFIG: path, OPENAI_API_KEY: "sk-child-0123456789" });
  assertEquals(await happens("it ends", wrong.code), 1);
  assertStringIncludes(wrong.err, "pools");
});

Deno.test("deno serve beyond loopback warns of an open address", async () => {
  await using child = serve({ OPENAI_API_KEY: "sk-child-0123456789" }, "--host=0.0.0.0");
  await child.says("listens on");
  assertMatch(child.err, /^Warning: .*0\.0\.0\.0 without a token.*MODELMESH_TOKEN/m);
  assertMatch(child.err, /^Warning: Deno\.serve .*reverse proxy/m);
});

Deno.test("deno run without arguments runs the command line", async () => {
  await using child = spawnCommand([], { entry: "proxy" });
  assertEquals(await happens("it ends", child.code), 1);
  assertStringIncludes(child.err, "modelmesh proxy --demo");
});

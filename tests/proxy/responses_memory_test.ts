/** The storage of a proxy that stores responses. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ConfigError, memoryStorage, ModelMesh, stateIn } from "../../mod.ts";
import { createHandler, listen, serve } from "../../proxy.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { startTestProxy } from "../support/proxy.ts";
import { readEvents, responsesCaller, streamed } from "../support/_stored_responses.ts";
import { tempFolder } from "../support/_runtime_clients.ts";
import { until } from "../support/patience.ts";
import { Gate, hang, ok, startUpstream, stream } from "../support/upstream.ts";
import { testConfig } from "../support/proxy.ts";

const state = { proxy: { responses: { state: true } } };

Deno.test("a proxy that stores responses does not start without a storage", async () => {
  await using upstream = await startUpstream(ok());
  const config = testConfig({ upstreams: { one: upstream.url }, config: state });
  const error = await assertRejects(() => serve({ config, port: 0 }), ConfigError);
  assertEquals(error.problems.map(({ path }) => path), ["proxy.responses.state"]);
  assertStringIncludes(error.message, "`storage`");
});

Deno.test("a handler that stores responses without a storage says so to its clients", async () => {
  await using upstream = await startUpstream(ok());
  await using proxy = await startTestProxy({ upstreams: { one: upstream.url }, config: state });
  const client = responsesCaller(proxy.url);
  const results = [await client.create({ input: "Hi" }), await client.call("GET", "resp_1")];
  assertEquals(results.map(({ status, json }) => [status, json.error.code]), Array(2).fill([400, "no_storage"]));
  assertEquals(upstream.calls, 0);
});

Deno.test("a proxy that stops lets background responses end", async () => {
  const gate = new Gate();
  await using upstream = await startUpstream({
    async play(exchange) {
      await gate.pass();
      await ok().play(exchange);
    },
  });
  await using folder = await tempFolder();
  const storage = { storage: { connector: "mesh.local-file.v1", path: `${folder.path}/state.json` } };
  const config = testConfig({ upstreams: { one: upstream.url }, config: { ...state, ...storage } });
  const running = await serve({ config, port: 0 });
  const { json: { id } } = await responsesCaller(running.url).create({ input: "Hi", background: true });
  await upstream.received(1);
  let hasStopped = false;
  const stopped = running.stop().then(() => hasStopped = true);
  await until(() => fetch(running.url).then(() => false, () => true), "it listens no longer");
  assertEquals(hasStopped, false);
  gate.openAll();
  await stopped;
  const next = await serve({ config, port: 0 });
  assertEquals((await responsesCaller(next.url).call("GET", id)).json.status, "completed");
  await next.stop();
});

Deno.test("background responses go on when the configuration is replaced, and are followed and cancelled under the next one", async () => {
  const gate = new Gate();
  await using upstream = await startUpstream([stream({ pieces: ["a", "b"], gate }), hang()]);
  const storage = memoryStorage();
  const clock = fakeClock({ skipSleeps: true });
  const createMesh = async () => {
    const mesh = new ModelMesh({ storage: stateIn(storage), clock });
    await mesh.initialize(testConfig({ upstreams: { one: upstream.url }, config: state }));
    return mesh;
  };
  const before = await createMesh();
  const handler = createHandler(before);
  const server = await listen(handler, { port: 0 });
  const url = `http://127.0.0.1:${server.port}`;
  const client = responsesCaller(url);
  const background = { input: "Hi", background: true };
  gate.open(3);
  const [created] = await readEvents(url, "", { init: streamed(background), count: 4 });
  const { id } = created!.response as { id: string };
  const { json: { id: other } } = await client.create(background);
  const { closed } = await upstream.received(2);
  const next = await createMesh();
  let isReplaced = false;
  const replaced = handler.replace(next).then(() => isReplaced = true);
  assertEquals((await client.call("GET", id)).json.status, "in_progress");
  assertEquals((await client.call("POST", `${other}/cancel`)).json.status, "cancelled");
  await clock.advance(1_000);
  await closed;
  assertEquals(isReplaced, false);
  const followed = readEvents(url, `/${id}?stream=true`);
  gate.openAll();
  await replaced;
  assertEquals((await followed).at(-1)!.type, "response.completed");
  assertEquals((await client.call("GET", id)).json.status, "completed");
  await server.stop(0);
  await before.close();
  await next.close();
});

Deno.test("a proxy with a storage in memory stores responses", async () => {
  await using upstream = await startUpstream(ok());
  const storage = { storage: { connector: "mesh.memory.v1" } };
  const config = testConfig({ upstreams: { one: upstream.url }, config: { ...state, ...storage } });
  const running = await serve({ config, port: 0 });
  const client = responsesCaller(running.url);
  const { json } = await client.create({ input: "Hi" });
  assertEquals((await client.call("GET", json.id)).json, json);
  await running.stop();
});

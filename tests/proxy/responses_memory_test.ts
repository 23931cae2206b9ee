/** The storage of a proxy that stores responses. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ConfigError } from "../../mod.ts";
import { serve } from "../../proxy.ts";
import { startTestProxy } from "../support/proxy.ts";
import { responsesCaller } from "../support/_stored_responses.ts";
import { tempFolder } from "../support/_runtime_clients.ts";
import { until } from "../support/patience.ts";
import { Gate, ok, startUpstream } from "../support/upstream.ts";
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

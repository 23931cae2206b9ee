/** Requests that wait while a proxy reads its configuration again. */
import { assertEquals } from "@std/assert";
import { serverConnectors } from "../../connectors/server.ts";
import { startProxy } from "../../src/proxy/serve.ts";
import { serverRuntime } from "../../src/runtime/server.ts";
import { serverShell } from "../../src/runtime/server_shell.ts";
import { fakeClock, testRuntime } from "../../src/runtime/test.ts";
import { behind } from "../support/_failover.ts";
import { goodBody } from "../support/_surface.ts";
import { until } from "../support/patience.ts";
import { testConfig } from "../support/proxy.ts";
import { Gate, ok, startUpstream } from "../support/upstream.ts";

/** A proxy of a configuration file with the pools `chat` and `other`, whose only model is busy. */
async function start() {
  const gate = new Gate();
  const upstream = await startUpstream(behind(gate, ok()));
  const queued = { models: ["a"], queue: { max_wait: "1m" } };
  const config = (pools: object) =>
    JSON.stringify(testConfig({
      upstreams: { a: upstream.url },
      config: { models: { a: { provider: "a", capabilities: ["chat-completion"], limits: { concurrent: 1 } } }, pools },
    }));
  const clock = fakeClock();
  const files = { "mesh.json": config({ chat: queued, other: queued }) };
  const runtime = testRuntime({ send: serverRuntime().send, clock, files });
  const parts = { connectors: serverConnectors, runtime, shell: serverShell(), sinks: [] };
  const proxy = await startProxy(parts, { config: "mesh.json", port: 0 });
  const ask = (model: string) =>
    fetch(`${proxy.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...goodBody, model }),
    });
  const first = ask("chat");
  await until(() => upstream.calls === 1, "the model is busy");
  return {
    ask,
    clock,
    gate,
    first,
    waits: (pool: string) => until(() => proxy.mesh.poolStatus()[pool]?.waiting === 1, `a request waits in ${pool}`),
    reload: async (pools: (queued: object) => object) => {
      runtime.files.contents.set("mesh.json", config(pools(queued)));
      await proxy.reload();
    },
    async [Symbol.asyncDispose]() {
      gate.openAll();
      await proxy.stop();
      await upstream.close();
      assertEquals(clock.pending, 0, "no timer is left of any mesh");
    },
  };
}

async function readEnd(response: Response): Promise<readonly unknown[]> {
  const { error, object } = await response.json();
  return [response.status, error?.code ?? object, response.headers.get("retry-after")];
}

const served = [200, "chat.completion", null];

Deno.test("requests that wait are served after a reload of their pool, beside those that come later", async () => {
  await using site = await start();
  const before = site.ask("chat");
  await site.waits("chat");
  await site.reload((queued) => ({ chat: queued }));
  const after = site.ask("chat");
  await site.waits("chat");
  site.gate.openAll();
  for (const answer of [site.first, before, after]) assertEquals(await readEnd(await answer), served);
});

Deno.test("requests that wait in a pool which a reload removes are answered with 503 and Retry-After", async () => {
  await using site = await start();
  const waiting = site.ask("other");
  await site.waits("other");
  await site.reload((queued) => ({ chat: queued }));
  assertEquals(await readEnd(await waiting), [503, "no_active_model", "1"]);
  site.gate.openAll();
  assertEquals(await readEnd(await site.first), served);
});

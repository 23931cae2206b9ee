import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create, type MeshClient, MeshError } from "../../mod.ts";
import { getEngine } from "../../src/engine/get_engine.ts";
import { assertClosesAtOnce, environment, fakeClock, getText, messages } from "../support/_library.ts";
import {
  type Behaviour,
  hang,
  html200,
  json,
  refusingUrl,
  respond,
  startUpstream,
  status,
} from "../support/upstream.ts";

/** A server that has two models. */
function localServer(list: Behaviour = json({ data: [{ id: "llama" }, { id: "qwen" }] })) {
  return startUpstream(({ path }) => path === "/v1/models" ? list : respond());
}

function members(client: MeshClient): string[] {
  return client.describe().pools[0]!.models.map(({ name }) => name);
}

describe("A client over a server on one's own machine", () => {
  it("asks it for its models in ready(), and uses them without a key", async () => {
    await using server = await localServer();
    const env = { OLLAMA_HOST: `127.0.0.1:${server.port}`, OLLAMA_API_KEY: "key-of-its-cloud" };
    const client = create("chat-completion", { env });
    assertEquals([server.calls, members(client)], [0, []]);
    await client.ready();
    assertEquals([server.calls, members(client)], [1, ["ollama.llama", "ollama.qwen"]]);
    assertEquals((await client.chat.completions.create({ messages })).model, "llama");
    assertEquals((await client.chat.completions.create({ model: "qwen", messages })).model, "qwen");
    assert(server.requests.every(({ headers }) => headers.authorization === undefined), "it was sent a key");
    await client.close();
  });

  it("asks once, however many calls wait for it", async () => {
    await using server = await localServer();
    const client = create("chat-completion", { env: { LMSTUDIO_HOST: server.url } });
    await Promise.all([client.ready(), ...[1, 2, 3].map(() => client.chat.completions.create({ messages }))]);
    assertEquals(server.requests.filter(({ path }) => path === "/v1/models").length, 1);
    await client.close();
  });

  it("lists its models beside the pools, as free ones of its vendor", async () => {
    await using server = await localServer();
    const client = create("chat-completion", { env: { VLLM_HOST: server.url } });
    const { data } = await client.models.list();
    assertEquals(data.map(({ id, owned_by }) => `${owned_by}: ${id}`), [
      "mesh: chat-completion",
      "vllm: vllm.llama",
      "vllm: vllm.qwen",
    ]);
    const [model] = getEngine(client.mesh).registry.models;
    assertEquals(model?.info.pricing, [{ input: 0, output: 0 }]);
    await client.close();
  });

  const broken: readonly (readonly [what: string, list: Behaviour])[] = [
    ["answers with an error", status(500)],
    ["wants a key", status(401)],
    ["answers with a web page", html200()],
    ["answers with a list of nothing", json({ data: [] })],
    ["answers with no list", json({ models: {} })],
  ];
  for (const [what, list] of broken) {
    it(`leaves out one that ${what}, and the others serve`, async () => {
      await using hosted = await startUpstream(respond());
      await using server = await localServer(list);
      const env = { ...environment({ openai: hosted.url }), LOCALAI_HOST: server.url };
      const client = create("chat-completion", { env });
      assertEquals(getText(await client.chat.completions.create({ messages })), "Hello world");
      assertEquals(new Set(client.mesh.listModels().map(({ provider }) => provider)), new Set(["openai.llm.v1"]));
      assertEquals(client.describe().providers.map(({ id }) => id), ["openai.llm.v1", "localai.local.v1"]);
      await client.close();
    });
  }

  it("says why one that refuses has no models: in the log, in describe(), in the error of a request", async () => {
    await using server = await localServer(status(401));
    const lines: string[] = [];
    const sink = {
      emit() {},
      trace: ({ message }: { message: string }) => void lines.push(message),
      flush: async () => {},
    };
    const client = create("chat-completion", { env: { OLLAMA_HOST: server.url } });
    client.mesh.addSink(sink);
    await client.ready();
    const reason = /^did not list its models: The provider answered 401/;
    assertMatch(client.describe().providers[0]!.reason!, reason);
    assertStringIncludes(`${client.describe()}`, "answered 401");
    assert(lines.some((line) => line.startsWith('The provider "ollama.local.v1" did not list its models')), `${lines}`);
    const error = await assertRejects(() => client.chat.completions.create({ messages }), MeshError);
    assertStringIncludes(
      error.message,
      'the provider "ollama.local.v1" did not list its models: The provider answered 401',
    );
    await client.close();
  });

  it("leaves out one that was not started", async () => {
    await using server = await localServer();
    const env = { OLLAMA_HOST: await refusingUrl(), VLLM_HOST: server.url };
    const client = create("chat-completion", { env });
    await client.ready();
    assertEquals(members(client), ["vllm.llama", "vllm.qwen"]);
    await client.close();
  });

  it("waits for a silent one no longer than a start may take", async () => {
    await using hosted = await startUpstream(respond());
    await using silent = await startUpstream(hang());
    const clock = fakeClock();
    const env = { ...environment({ openai: hosted.url }), OLLAMA_HOST: silent.url };
    const client = create("chat-completion", { env, clock });
    const ready = client.ready();
    const request = await silent.received(1);
    await clock.advance(10_000);
    await assertClosesAtOnce(request);
    await ready;
    assertEquals(getText(await client.chat.completions.create({ messages })), "Hello world");
    await client.close();
  });

  it("does not ask one whose models are configured", async () => {
    await using server = await localServer();
    const client = create({
      config: {
        providers: { "ollama.local.v1": { base_url: server.url } },
        models: { phi: { provider: "ollama.local.v1" } },
        pools: { chat: { models: ["phi"] } },
      },
    });
    assertEquals((await client.chat.completions.create({ messages })).model, "phi");
    assertEquals(server.requests.map(({ path }) => path), ["/v1/chat/completions"]);
    await client.close();
  });
});

/** Servers that are down when a mesh starts: their models join once they answer. */
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create, type CreateOptions, type MeshClient, ModelNotFoundError, NoActiveModelError } from "../../mod.ts";
import { createHandler } from "../../proxy.ts";
import { environment, type FakeClock, fakeClock, messages } from "../support/_library.ts";
import { until } from "../support/patience.ts";
import { hang, json, respond, startUpstream, status } from "../support/upstream.ts";

const list = json({ data: [{ id: "llama" }, { id: "qwen" }] });

/** A server that refuses connections until it is started, and the client of a mesh with it. */
function lateServer(options: CreateOptions = {}) {
  const server = { isUp: false, listed: 0, models: ["llama", "qwen"] };
  const clock = fakeClock();
  const traces: string[] = [];
  const fetch = (url: string | URL | Request, init?: RequestInit) => {
    if (!String(url).includes("127.0.0.9")) return globalThis.fetch(url, init);
    const isList = String(url).endsWith("/models");
    if (isList) server.listed++;
    if (!server.isUp) return Promise.reject(new TypeError("tcp connect error: Connection refused (os error 111)"));
    if (isList) return Promise.resolve(Response.json({ data: server.models.map((id) => ({ id })) }));
    const { model } = JSON.parse(String(init?.body));
    const choice = { index: 0, message: { role: "assistant", content: `from ${model}` }, finish_reason: "stop" };
    return Promise.resolve(Response.json({ id: "1", object: "chat.completion", created: 1, model, choices: [choice] }));
  };
  const client = create({ env: {}, fetch: fetch as typeof globalThis.fetch, clock, ...options });
  const sink = { emit: () => {}, trace: ({ message }: { message: string }) => void traces.push(message) };
  client.mesh.addSink({ ...sink, flush: () => Promise.resolve() });
  return { server, clock, client, traces, [Symbol.asyncDispose]: () => client.close() };
}

const address = "http://127.0.0.9:11434/v1/models";
const localServers: Readonly<Record<string, CreateOptions>> = {
  "a local server that is detected": { env: { OLLAMA_HOST: "127.0.0.9:11434" } },
  "a local server": {
    config: {
      providers: { "ollama.local.v1": { base_url: "http://127.0.0.9:11434/v1" } },
      pools: { "chat-completion": { capability: "chat-completion" } },
    },
  },
  "openai.compatible.v1 without models": {
    config: {
      providers: {
        own: { connector: "openai.compatible.v1", base_url: "http://127.0.0.9:11434/v1" },
      },
      pools: { "chat-completion": { capability: "chat-completion" } },
    },
  },
  "openai.compatible.v1 with enumerate_models": {
    config: {
      providers: {
        own: {
          connector: "openai.compatible.v1",
          base_url: "http://127.0.0.9:11434/v1",
          discovery: { enumerate_models: true },
        },
      },
      pools: { "chat-completion": { capability: "chat-completion" } },
    },
  },
};

const ask = (client: MeshClient, model = "chat-completion") => client.chat.completions.create({ model, messages });
const names = (client: MeshClient) => client.describe().pools.flatMap(({ models }) => models.map(({ name }) => name));

describe("A server that is down at the start", () => {
  for (const [what, options] of Object.entries(localServers)) {
    it(`${what}: meanwhile 503, log and describe() name its address, and it serves once it answers`, async () => {
      await using late = lateServer(options);
      const { client, server, clock, traces } = late;
      const error = await assertRejects(() => ask(client), NoActiveModelError);
      assertStringIncludes(error.message, address);
      assertEquals([error.code, error.retryAfterMs], ["no_active_model", 5_000]);
      const [provider] = client.describe().providers;
      assertStringIncludes(provider!.reason!, address);
      assert(traces.some((line) => line.includes("did not list its models") && line.includes(address)), `${traces}`);
      server.isUp = true;
      await clock.advance(5_000);
      assertMatch((await ask(client)).model, /^llama$/);
      assertEquals(names(client).map((name) => name.split(".").at(-1)), ["llama", "qwen"]);
      assertEquals(client.describe().providers[0]!.reason, undefined);
      const { listed } = server;
      await clock.advance(600_000);
      await ask(client);
      assertEquals([server.listed, clock.pending], [listed, 0], "asks for nothing any more");
    });
  }

  it("is asked by a request that needs it, which waits for the response, and otherwise less and less often", async () => {
    await using late = lateServer(localServers["a local server"]);
    const { client, server, clock } = late;
    await client.ready();
    assertEquals(server.listed, 1);
    const times: number[] = [];
    for (let second = 0; second < 300; second += 5) {
      const before = server.listed;
      await clock.advance(5_000);
      if (server.listed > before) times.push(second + 5);
    }
    assertEquals(times, [5, 15, 35, 75, 135, 195, 255]);
    server.isUp = true;
    assertEquals((await ask(client)).model, "llama");
  });

  it("is asked at most every 5 s, however many requests there are, at once and in a row", async () => {
    await using late = lateServer(localServers["a local server"]);
    const { client, server, clock } = late;
    await client.ready();
    const requests = () => Promise.allSettled(Array.from({ length: 20 }, () => ask(client)));
    await requests();
    assertEquals(server.listed, 1);
    await clock.advance(5_000);
    await requests();
    await requests();
    assertEquals(server.listed, 2);
    await clock.advance(4_999);
    await requests();
    assertEquals(server.listed, 2);
  });

  it("whose models were named: the name of one is a 503 meanwhile, then that model", async () => {
    await using late = lateServer({ env: { OLLAMA_HOST: "127.0.0.9:11434" } });
    const { client, server, clock } = late;
    for (const name of ["ollama.qwen", "ollama/qwen", "qwen"]) {
      const error = await assertRejects(() => ask(client, name), NoActiveModelError);
      assertStringIncludes(error.message, address);
    }
    server.isUp = true;
    await clock.advance(5_000);
    for (const name of ["ollama.qwen", "ollama/qwen", "qwen"]) assertEquals((await ask(client, name)).model, "qwen");
    await assertRejects(() => ask(client, "ollama.unknown"), ModelNotFoundError);
  });

  it("beside another provider: requests do not wait for it, and it joins their pool", async () => {
    await using hosted = await startUpstream(respond());
    const env = { ...environment({ openai: hosted.url }), OLLAMA_HOST: "127.0.0.9:11434" };
    await using late = lateServer({ env });
    const { client, server, clock } = late;
    await ask(client);
    const unknown = await assertRejects(() => ask(client, "unknown"), ModelNotFoundError);
    assertStringIncludes(unknown.message, address);
    await assertRejects(() => ask(client, "ollama.qwen"), NoActiveModelError);
    assertEquals(names(client).filter((name) => name.startsWith("ollama")), []);
    server.isUp = true;
    await clock.advance(5_000);
    assertEquals(
      new Set(names(client).filter((name) => name.startsWith("ollama"))),
      new Set(["ollama.llama", "ollama.qwen"]),
    );
    assertEquals((await ask(client, "ollama.qwen")).model, "qwen");
  });

  it("that has no model yet is asked again, too", async () => {
    await using late = lateServer(localServers["a local server"]);
    const { client, server, clock } = late;
    Object.assign(server, { isUp: true, models: [] });
    const error = await assertRejects(() => ask(client), NoActiveModelError);
    assertStringIncludes(error.message, "listed no model");
    server.models = ["phi"];
    await clock.advance(5_000);
    assertEquals((await ask(client)).model, "phi");
  });

  it("does not keep a request waiting beyond its deadline, and its silence ends with 5 s", async () => {
    await using silent = await startUpstream(hang());
    const clock = fakeClock();
    const config = {
      providers: { own: { connector: "openai.compatible.v1", base_url: silent.url } },
      pools: { chat: { capability: "chat-completion" } },
    };
    await using client = create({ config, clock });
    const ready = client.ready();
    await silent.received(1);
    await clock.advance(5_000);
    await ready;
    await clock.advance(5_000);
    await silent.received(2);
    const late = client.chat.completions.create({ messages }, { timeout: 1_000 });
    const refused = assertRejects(() => late, Error, "asked for their models");
    const waiting = assertRejects(() => client.chat.completions.create({ messages }), NoActiveModelError);
    await clock.advance(1_000);
    await refused;
    await clock.advance(4_000);
    await waiting;
  });

  it("is added later: it joins once it answers", async () => {
    await using late = lateServer({
      config: {
        providers: { own: { connector: "openai.compatible.v1", base_url: "http://127.0.0.9:1/v1" } },
        models: { x: { provider: "own" } },
        pools: { chat: { capability: "chat-completion" } },
      },
    });
    const { client, server, clock } = late;
    await client.ready();
    assertEquals(clock.pending, 0);
    await client.mesh.addProvider({ id: "ollama.local.v1", base_url: "http://127.0.0.9:11434/v1" });
    assertEquals(names(client), ["x"]);
    server.isUp = true;
    await clock.advance(5_000);
    assertEquals(names(client), ["x", "ollama.llama", "ollama.qwen"]);
  });

  it("is not asked any more by a mesh that is closed", async () => {
    const { client, server, clock } = lateServer(localServers["a local server"]);
    await client.ready();
    await client.close();
    await clock.advance(60_000);
    assertEquals([server.listed, clock.pending], [1, 0]);
  });
});

describe("A proxy whose only server is down at the start", () => {
  const asked = (handler: (request: Request) => Promise<Response>, path: string, body?: unknown) =>
    handler(
      new Request(`http://127.0.0.1/v1/${path}`, {
        headers: { "content-type": "application/json", host: "127.0.0.1" },
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
      }),
    );

  it("answers 503 with Retry-After, and lists the models once the server answers", async () => {
    await using late = lateServer({ env: { OLLAMA_HOST: "127.0.0.9:11434" } });
    const { client, server, clock } = late;
    await client.ready();
    const handler = createHandler(client.mesh);
    const refused = await asked(handler, "chat/completions", { model: "chat-completion", messages });
    const { error } = await refused.json();
    assertEquals([refused.status, error.code, refused.headers.get("retry-after")], [503, "no_active_model", "5"]);
    assertStringIncludes(error.message, address);
    const ids = async () => (await (await asked(handler, "models")).json()).data.map(({ id }: { id: string }) => id);
    assertEquals((await ids()).includes("ollama.llama"), false);
    server.isUp = true;
    await clock.advance(5_000);
    const listed = await ids();
    assert(["chat-completion", "ollama.llama", "ollama.qwen"].every((id) => listed.includes(id)), `${listed}`);
    assertEquals((await asked(handler, "chat/completions", { model: "chat-completion", messages })).status, 200);
  });
});

describe("A vendor whose list fails at the start", () => {
  it("serves its catalogue, and joins what it lists later", async () => {
    await using vendor = await startUpstream(({ path }) => path === "/v1/models" ? status(503) : respond());
    const clock: FakeClock = fakeClock();
    await using client = create({
      config: {
        providers: {
          "openai.llm.v1": {
            base_url: vendor.url,
            api_key: "key-0123456789",
            discovery: { enumerate_models: true },
          },
        },
        pools: { chat: { capability: "chat-completion" } },
      },
      clock,
    });
    await client.ready();
    const before = names(client);
    assert(before.length > 0);
    vendor.follow(({ path }) => path === "/v1/models" ? list : respond());
    await assertRejects(() => ask(client, "qwen"), ModelNotFoundError);
    const listing = vendor.received(vendor.calls + 1);
    await clock.advance(5_000);
    await listing;
    await until(() => client.mesh.listModels().some(({ name }) => name === "openai.qwen"));
    assertEquals((await ask(client, "qwen")).model, "qwen");
    assert(before.every((name) => names(client).includes(name)));
  });
});

import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type Connector, ModelMesh, version } from "../../mod.ts";
import { createHandler } from "../../proxy.ts";
import { validate } from "../../src/config/build/validate.ts";
import { getEngine } from "../../src/engine/get_engine.ts";
import { createConfigContext } from "../../src/registry/catalogue.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { assertRefused, assertRequestId } from "../support/_surface.ts";
import { startTestProxy, testConfig, type TestProxy } from "../support/proxy.ts";
import { assertMatchesSchema } from "../support/schema.ts";
import { respond, startUpstream, status } from "../support/upstream.ts";

const chatLeaf = "generation.text-generation.chat-completion";

async function get(proxy: TestProxy, path: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(proxy.url + path);
  assertRequestId(response.headers, path);
  assertMatch(response.headers.get("content-type") ?? "", /^application\/json/, path);
  return { status: response.status, body: await response.json() };
}

/** Two pools over two providers: `chat` has both models, `spare` the second one. */
function twoPools(urls: { first: string; second: string }, clock = fakeClock({ skipSleeps: true })) {
  const routing = { deactivation: { retry_limit: 1 }, recovery: { cooldown: "60s" }, retry: { max_attempts: 0 } };
  return startTestProxy({
    upstreams: urls,
    clock,
    config: {
      pools: {
        "*": routing,
        chat: { models: ["first", "second"], strategy: "priority", model_priority: ["first", "second"] },
        spare: { models: ["second"], strategy: "round-robin" },
      },
    },
  });
}

describe("GET /v1/models", () => {
  it("lists pools first, with what they are and how they do, then models", async () => {
    await using upstream = await startUpstream([status(500), respond()]);
    await using proxy = await twoPools({ first: upstream.url, second: upstream.url });
    const { status: code, body } = await get(proxy, "/v1/models");
    assertEquals(code, 200);
    assertMatchesSchema("ListModelsResponse", body);
    const pool = { object: "model", created: 0, owned_by: "mesh" };
    const facts = { type: "pool", capability: chatLeaf };
    const priority = { ...facts, strategy: "mesh.priority-selection.v1" };
    const spare = {
      id: "spare",
      ...pool,
      mesh: { ...facts, strategy: "mesh.round-robin.v1", status: "active", active: 1, standby: 0 },
    };
    assertEquals(body.object, "list");
    const [chatEntry, spareEntry, ...models] = body.data as { id: string; owned_by: string; mesh?: unknown }[];
    assertEquals(chatEntry, { id: "chat", ...pool, mesh: { ...priority, status: "active", active: 2, standby: 0 } });
    assertEquals(spareEntry, spare);
    const capabilities = ["generation.text-generation.chat-completion"];
    assertEquals(
      models.map(({ mesh }) => mesh),
      models.map(({ id }) => ({ type: "model", provider: id, capabilities, status: "active" })),
    );
    assertEquals(models.map(({ id }) => id), ["first", "second"]);
    assertEquals(models.every(({ owned_by }) => owned_by === "openai-compatible"), true);

    await (await proxy.chat()).body?.cancel();
    const later = await get(proxy, "/v1/models");
    assertEquals((later.body.data as unknown[])[0], {
      id: "chat",
      ...pool,
      mesh: { ...priority, status: "active", active: 1, standby: 1 },
    });
    assertEquals((later.body.data as unknown[])[1], spare);
  });

  it("says of one entry whether it is active or in standby", async () => {
    await using upstream = await startUpstream(status(500));
    await using proxy = await startTestProxy({
      upstreams: { a: upstream.url },
      pool: { retry: { max_attempts: 0 }, deactivation: { retry_limit: 1 } },
    });
    const statusesOf = async () => {
      const entries = await Promise.all(["chat", "a"].map((id) => get(proxy, `/v1/models/${id}`)));
      return entries.map(({ body }) => (body.mesh as { type: string; status: string }).status);
    };
    assertEquals(await statusesOf(), ["active", "active"]);
    await (await proxy.chat()).body?.cancel();
    assertEquals(await statusesOf(), ["standby", "standby"]);
  });

  it("names what a request may name: every id is served", async () => {
    await using upstream = await startUpstream(respond());
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url, b: upstream.url } });
    const { body } = await get(proxy, "/v1/models");
    const ids = (body.data as { id: string }[]).map(({ id }) => id);
    assertEquals(new Set(ids).size, ids.length, "no id comes twice");
    for (const model of ids) {
      assertEquals((await (await proxy.chat({ model })).json()).object, "chat.completion", model);
    }
  });

  it("has one entry by every name that requests may use, in each dialect's shape", async () => {
    await using upstream = await startUpstream(respond());
    const config = {
      providers: { a: { connector: "openai.llm.v1", base_url: upstream.url, api_key: "key-of-a-0123456789" } },
      models: { mine: { provider: "a", model: "gpt-4o" }, tagged: { provider: "a", model: "qwen3:latest" } },
      pools: { chat: { models: ["mine"] } },
    };
    await using proxy = await startTestProxy({ upstreams: {}, config });
    const names = [
      "gpt-4o",
      "openai/gpt-4o",
      "gpt-4o-2024-08-06",
      "gpt-4o:latest",
      "qwen3",
      "gpt-4.1",
      "gpt-4.1-20250414",
    ];
    for (const name of names) {
      const { status: code, body } = await get(proxy, `/v1/models/${name}`);
      assertEquals([code, body.id], [200, name]);
      assertMatchesSchema("Model", body);
      const headers = { "anthropic-version": "2023-06-01" };
      const ofClaude = await (await fetch(`${proxy.url}/v1/models/${name}`, { headers })).json();
      assertEquals([ofClaude.type, ofClaude.id], ["model", name]);
      const ofGemini = await (await fetch(`${proxy.url}/v1beta/models/${name}`)).json();
      assertEquals(ofGemini.name, `models/${name}`);
    }
    for (const name of ["gpt-4o-2024", "qwen", "completion-of-chat"]) {
      assertEquals((await get(proxy, `/v1/models/${name}`)).status, 404, name);
    }
  });

  it("has one entry by its id, slashes and all", async () => {
    await using upstream = await startUpstream(respond());
    const config = {
      models: { "org/model": { provider: "a" }, "ünïque": { provider: "a" }, "50%": { provider: "a" } },
      pools: { chat: { models: ["org/model"] } },
    };
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url }, config });
    const { body: list } = await get(proxy, "/v1/models");
    const rows = [
      ["chat", "chat"],
      ["org/model", "org/model"],
      ["org%2Fmodel", "org/model"],
      ["%6frg%2fmodel", "org/model"],
      ["%C3%BCn%C3%AFque", "ünïque"],
      ["50%25", "50%"],
      ["50%", "50%"],
    ];
    for (const [path, id] of rows) {
      const { status: code, body } = await get(proxy, `/v1/models/${path}`);
      assertEquals(code, 200, path);
      assertMatchesSchema("Model", body);
      assertEquals(body, (list.data as { id: string }[]).find((entry) => entry.id === id), path);
    }
    await assertRefused(await fetch(`${proxy.url}/v1/models/org`), {
      status: 404,
      code: "model_not_found",
      param: "model",
    });
  });
});

describe("GET /health", () => {
  it("is ok, degraded, unavailable and ok again, as pools lose and regain their models", async () => {
    const clock = fakeClock({ skipSleeps: true });
    await using first = await startUpstream([status(500), respond()]);
    await using second = await startUpstream([status(500), respond()]);
    await using proxy = await twoPools({ first: first.url, second: second.url }, clock);
    const pools = (...counts: [number, number][]) => ({
      chat: { active: counts[0]![0], standby: counts[0]![1] },
      spare: { active: counts[1]![0], standby: counts[1]![1] },
    });
    const health = async () => {
      const { status, body } = await get(proxy, "/health");
      return [status, body.status, body.pools];
    };
    assertEquals(await health(), [200, "ok", pools([2, 0], [1, 0])]);

    await (await proxy.chat({ model: "spare" })).body?.cancel();
    assertEquals(await health(), [200, "degraded", pools([2, 0], [0, 1])]);

    second.follow([status(500), respond()]); // the state of a model is each pool's own
    await (await proxy.chat()).body?.cancel();
    assertEquals(await health(), [503, "unavailable", pools([0, 2], [0, 1])]);
    assertEquals((await get(proxy, "/live")).status, 200, "a restart would not help");
    assertEquals((await get(proxy, "/ready")).status, 200, "it still answers, and says when to come again");

    await clock.advance(59_999);
    assertEquals((await health())[1], "unavailable");
    await clock.advance(1);
    assertEquals(await health(), [200, "ok", pools([2, 0], [1, 0])]);
  });

  it("has version and uptime, and leaves out pools without models", async () => {
    const clock = fakeClock({ skipSleeps: true });
    const config = {
      models: { a: { provider: "a", capabilities: ["chat-completion"] } },
      pools: { chat: { models: ["a"] }, "text-embeddings": { capability: "text-embeddings" } },
    };
    await using proxy = await startTestProxy({ upstreams: { a: "http://127.0.0.1:9/v1" }, config, clock });
    await clock.advance(90_500);
    const pools = { chat: { active: 1, standby: 0 } };
    assertEquals((await get(proxy, "/health")).body, { status: "ok", version, uptime_seconds: 90, pools });
  });
});

describe("GET /ready and /live", () => {
  const config = testConfig({ upstreams: { a: "http://127.0.0.1:9/v1" } });
  const ask = async (handler: ReturnType<typeof createHandler>, path: string) => {
    const response = await handler(new Request(`http://localhost${path}`));
    assertRequestId(response.headers, path);
    return [response.status, (await response.json()).status];
  };

  it("say 503 and 200 until secrets are read, and let requests wait", async () => {
    let reveal = (_key: string) => {};
    const key = new Promise<string>((resolve) => reveal = resolve);
    const slowSecrets: Connector = {
      id: "test.slow.v1",
      kind: "secretStore",
      create: () => ({ get: () => key }),
    };
    const mesh = new ModelMesh({ clock: fakeClock() });
    mesh.registerConnector("test.slow.v1", slowSecrets);
    const engine = getEngine(mesh);
    engine.configure(validate({
      ...config,
      secrets: { store: "test.slow.v1" },
      providers: {
        a: { connector: "openai.compatible.v1", base_url: "http://127.0.0.1:9/v1", api_key: "${secrets:K}" },
      },
    }, createConfigContext(engine)));
    const handler = createHandler(mesh);
    assertEquals(await ask(handler, "/ready"), [503, "starting"]);
    assertEquals(await ask(handler, "/live"), [200, "ok"]);
    const waiting = handler(new Request("http://localhost/v1/models"));
    assertEquals(await Promise.race([waiting, ask(handler, "/live")]), [200, "ok"], "a list has to wait");
    reveal("key-0123456789");
    assertEquals((await (await waiting).json()).object, "list");
    assertEquals(await ask(handler, "/ready"), [200, "ok"]);
    await mesh.close();
  });

  it("say 503 and 200 while the proxy is about to stop", async () => {
    let isDraining = false;
    const mesh = new ModelMesh({ clock: fakeClock() });
    await mesh.initialize(config);
    const handler = createHandler(mesh, { isDraining: () => isDraining });
    assertEquals(await ask(handler, "/ready"), [200, "ok"]);
    isDraining = true;
    assertEquals(await ask(handler, "/ready"), [503, "draining"]);
    assertEquals(await ask(handler, "/live"), [200, "ok"]);
    assertEquals(await ask(handler, "/health"), [200, "ok"]);
    await mesh.close();
  });
});

describe("proxy.endpoints", () => {
  it("limits what is served; the probes always are", async () => {
    await using upstream = await startUpstream(respond());
    const start = (endpoints: string[]) =>
      startTestProxy({ upstreams: { a: upstream.url }, config: { proxy: { endpoints } } });
    const unknown = { status: 404, code: "unknown_url" };
    const probe = async ({ url }: TestProxy) => {
      for (const path of ["/health", "/ready", "/live"]) {
        const response = await fetch(url + path);
        assertEquals([response.status, (await response.json()).status], [200, "ok"], path);
      }
    };
    await using chatOnly = await start(["chat/completions"]);
    for (const path of ["/v1/models", "/v1/models/", "/v1/models/chat"]) {
      await assertRefused(await fetch(chatOnly.url + path), unknown, path);
    }
    assertEquals((await (await chatOnly.chat()).json()).object, "chat.completion");
    await probe(chatOnly);

    await using modelsOnly = await start(["models"]);
    await assertRefused(await modelsOnly.chat(), unknown);
    await assertRefused(await fetch(`${modelsOnly.url}/v1/chat/completions`), unknown, "not even 405");
    assertEquals((await fetch(`${modelsOnly.url}/v1/models/chat`).then((response) => response.json())).id, "chat");
    await probe(modelsOnly);
    assertEquals(upstream.calls, 1);
  });
});

/** `mesh.addProvider()`: a provider more while requests go on. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ConfigError, type MeshEvent, ModelMesh, type NewProvider, SecretNotFoundError } from "../../mod.ts";
import { behind, type Cast, refusing, type Stage, stage } from "../support/_failover.ts";
import { until } from "../support/patience.ts";
import { environment, fakeClock } from "../support/_library.ts";
import { Gate, json, ok, startUpstream, status, type Upstream } from "../support/upstream.ts";

const key = "key-of-late-0123456789";
const capabilities = ["chat-completion"];

/** The entry of a provider `late` with one model of that name. */
function late({ url }: Pick<Upstream, "url">, more: Readonly<Record<string, unknown>> = {}): NewProvider {
  return {
    id: "late",
    connector: "openai.compatible.v1",
    base_url: url,
    api_key: key,
    models: { late: { capabilities } },
    ...more,
  };
}

/** A pool `chat` that takes in every chat model, next to a pool of a fixed list. */
function open(cast: Cast, config: Readonly<Record<string, unknown>> = {}): Promise<Stage> {
  return stage(cast, (urls) => ({
    config: {
      providers: Object.fromEntries(
        Object.entries(urls).map(([id, base_url]) => [id, { connector: "openai.compatible.v1", base_url }]),
      ),
      models: Object.fromEntries(Object.keys(urls).map((id) => [id, { provider: id, model: "shared", capabilities }])),
      pools: {
        chat: {
          capability: "chat-completion",
          strategy: "round-robin",
          retry: { max_attempts: 0 },
          deactivation: { retry_limit: 1 },
        },
        fixed: { models: Object.keys(urls) },
      },
      ...config,
    },
  }));
}

const members = ({ proxy }: Pick<Stage, "proxy">, pool = "chat") =>
  proxy.mesh.poolStatus()[pool]!.models.map(({ name, status }) => `${name} ${status}`);

async function listProblems(call: Promise<unknown>): Promise<readonly string[]> {
  const { problems } = await assertRejects(() => call, ConfigError);
  return problems.map(({ path }) => path);
}

describe("addProvider()", () => {
  it("puts its models behind the others, into every pool of a capability and into no fixed list", async () => {
    await using scene = await open({ a: ok({ text: "from a" }) });
    await using upstream = await startUpstream(ok({ text: "from late" }));
    await scene.proxy.mesh.addProvider(late(upstream));
    assertEquals([members(scene), members(scene, "fixed")], [["a active", "late active"], ["a active"]]);
    assertEquals((await scene.askTimes(2)).map(({ text }) => text).sort(), ["from a", "from late"]);
    assertEquals((await scene.ask({ model: "late" })).text, "from late");
    assertEquals(upstream.requests[0]?.headers.authorization, `Bearer ${key}`);
    assertEquals(scene.proxy.mesh.activeProviders(), ["a", "late"]);
  });

  it("joins pools that requests brought into being", async () => {
    await using scene = await open({ a: status(500) });
    await using upstream = await startUpstream(ok({ text: "from late" }));
    assertEquals((await scene.ask({ model: "shared" })).status, 502);
    assertEquals((await scene.ask({ model: "text-generation" })).status, 502);
    await scene.proxy.mesh.addProvider(late(upstream, { models: { late: { capabilities, model: "shared" } } }));
    assertEquals((await scene.ask({ model: "shared" })).text, "from late");
    assertEquals((await scene.ask({ model: "text-generation" })).text, "from late");
    assertEquals((await scene.ask({ model: "a" })).status, 502); // that name means one model
  });

  it("leaves standbys, statistics and requests under way as they are", async () => {
    const gate = new Gate();
    await using scene = await open({ a: status(500), b: behind(gate, ok({ text: "from b" })) });
    await using upstream = await startUpstream(ok({ text: "from late" }));
    const answer = scene.ask();
    await scene.received("b");
    await scene.proxy.mesh.addProvider(late(upstream));
    assertEquals(members(scene), ["a standby", "b active", "late active"]);
    gate.open();
    assertEquals((await answer).text, "from b");
    const numbers = scene.proxy.mesh.stats().filter(({ scope }) => scope === "model");
    assertEquals(numbers.map(({ id, requests_total }) => `${id} ${requests_total}`), ["a 1", "b 1", "late 0"]);
    await scene.clock.advance(60_000);
    assertEquals(members(scene), ["a active", "b active", "late active"]);
  });

  it("puts the new one into standby like any other, and emits that", async () => {
    await using scene = await open({ a: ok({ text: "from a" }) });
    await using upstream = await startUpstream(status(500));
    await scene.proxy.mesh.addProvider(late(upstream));
    await scene.askTimes(2);
    assertEquals(members(scene), ["a active", "late standby"]);
    const reported = scene.proxy.records.filter((record): record is MeshEvent => record.type === "event");
    const names = reported.map(({ event, provider }) => `${event} ${provider}`);
    assertEquals(names, ["deactivation late", "outage late", "rotation a"]);
  });

  it("is probed from now on, like those that were there", async () => {
    const list = json({ object: "list", data: [] });
    await using scene = await open({ a: list }, { discovery: { health: { interval: "30s", failure_threshold: 1 } } });
    await using upstream = await startUpstream(status(500));
    await scene.proxy.mesh.addProvider(late(upstream));
    await scene.clock.advance(30_000);
    await until(() => members(scene).at(-1) === "late standby");
    assertEquals([scene.calls.a, upstream.calls, members(scene)[0]], [1, 1, "a active"]);
  });

  it("asks a local server for its models", async () => {
    await using scene = await open({ a: refusing });
    const listed = { object: "list", data: [{ id: "llama" }] };
    await using upstream = await startUpstream(({ method }) => method === "GET" ? json(listed) : ok({ text: "hi" }));
    await scene.proxy.mesh.addProvider({ id: "ollama.local.v1", base_url: upstream.url });
    assertEquals(members(scene).at(-1), "ollama.llama active");
    assertEquals((await scene.ask({ model: "llama" })).text, "hi");
  });

  it("keeps its key out of what is logged", async () => {
    await using scene = await open({ a: refusing });
    await using upstream = await startUpstream(status(400, { error: { message: `No ${key} here` } }));
    await scene.proxy.mesh.addProvider(late(upstream));
    assertEquals(JSON.stringify((await scene.ask({ model: "late" })).body).includes(key), false);
  });

  it("says all that is wrong with its path, and changes nothing", async () => {
    await using scene = await open({ a: ok({ text: "from a" }) });
    const { mesh } = scene.proxy;
    const wrong = { id: "late", api_key: 4, base_ulr: "x", models: { late: { oops: 1 } } };
    assertEquals(
      (await listProblems(mesh.addProvider(wrong))).toSorted(),
      ["models.late.oops", "providers.late", "providers.late.api_key", "providers.late.base_ulr"],
    );
    const taken = { id: "a", models: { a: {}, b: { provider: "c" } } };
    assertEquals(await listProblems(mesh.addProvider(taken)), ["providers.a", "models.a", "models.b.provider"]);
    assertEquals(await listProblems(mesh.addProvider({} as NewProvider)), ["id"]);
    const secret = { id: "groq.api.v1", api_key: "${secrets:NOWHERE_TO_BE_FOUND}" };
    await assertRejects(() => mesh.addProvider(secret), SecretNotFoundError);
    assertEquals([members(scene), mesh.activeProviders()], [["a active"], ["a"]]);
    assertEquals((await scene.ask()).text, "from a");
  });

  it("takes several, one after the other", async () => {
    await using scene = await open({ a: refusing });
    await using upstream = await startUpstream(ok());
    const add = (id: string) =>
      scene.proxy.mesh.addProvider(late(upstream, { id, models: { [id]: { capabilities } } }));
    await Promise.all([add("one"), add("two")]);
    assertEquals(members(scene), ["a active", "one active", "two active"]);
    assertEquals(await listProblems(add("one")), ["providers.one", "models.one"]);
  });

  it("of one that is switched off adds no member, and its id is taken", async () => {
    await using scene = await open({ a: refusing });
    await using upstream = await startUpstream(ok());
    await scene.proxy.mesh.addProvider(late(upstream, { enabled: false }));
    assertEquals(members(scene), ["a active"]);
    assertEquals(await listProblems(scene.proxy.mesh.addProvider(late(upstream))), ["providers.late", "models.late"]);
  });

  it("keeps the providers that were detected", async () => {
    await using detected = await startUpstream(ok());
    await using upstream = await startUpstream(ok());
    const env = environment({ openai: detected.url });
    const mesh = new ModelMesh({ env, clock: fakeClock() });
    try {
      await mesh.initialize({ pools: { "chat-completion": {} } });
      await mesh.addProvider(late(upstream));
      assertEquals(mesh.activeProviders(), ["openai.llm.v1", "late"]);
    } finally {
      await mesh.close();
    }
  });

  it("of a mesh without a configuration says what to do first", async () => {
    const error = await assertRejects(() => new ModelMesh().addProvider({ id: "groq.api.v1" }));
    assertStringIncludes((error as Error).message, "initialize()");
  });
});

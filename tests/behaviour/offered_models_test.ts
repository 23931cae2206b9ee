/** Models that providers offer by themselves, beside those that a configuration says they have. */
import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ConfigError, create, type MeshClient, ModelNotFoundError, NoActiveModelError } from "../../mod.ts";
import { getEngine } from "../../src/engine/get_engine.ts";
import { fakeClock, messages } from "../support/_library.ts";
import { type Behaviour, hang, json, respond, startUpstream, status } from "../support/upstream.ts";

const defaults = create("chat-completion", { env: { OPENAI_API_KEY: "key-0123456789" } }).describe().pools[0]!.models
  .map(({ name }) => name);
const [first, ...others] = defaults;
const idOf = (name = "") => name.slice("openai.".length);

/** A vendor's API at loopback, and how it answers when it is asked for its models. */
function vendor(list: Behaviour = status(500)) {
  return startUpstream(({ path }) => path === "/v1/models" ? list : respond());
}

/** Entries of `models`. */
type Entries = Record<string, { provider: string; model?: string }>;

function createClient(url: string, entry: object, models: Entries = {}, more: object = {}): MeshClient {
  return create({
    config: {
      providers: { "openai.llm.v1": { base_url: url, api_key: "key-0123456789", ...entry } },
      models,
      pools: { chat: { capability: "chat-completion" } },
      ...more,
    },
    clock: fakeClock(),
  });
}

const members = (client: MeshClient) => client.describe().pools[0]!.models.map(({ name }) => name);
const asked = (requests: readonly { path: string }[]) => requests.filter(({ path }) => path === "/v1/models").length;
const own = { mine: { provider: "openai.llm.v1", model: "brand-new" } };

describe("Models configured", () => {
  it("stand beside those of the catalogue, whose provider is not asked", async () => {
    await using upstream = await vendor();
    await using client = createClient(upstream.url, {}, own);
    await client.ready();
    assertEquals([members(client), asked(upstream.requests)], [["mine", ...defaults], 0]);
  });

  it("take the place of an offered one with the same upstream id", async () => {
    await using upstream = await vendor();
    await using client = createClient(upstream.url, {}, { mine: { provider: "openai.llm.v1", model: idOf(first) } });
    assertEquals(members(client), ["mine", ...others]);
    assert(!client.mesh.listModels().some(({ name }) => name === first));
  });

  it("are all there is where enumerate_models is false", async () => {
    await using upstream = await vendor();
    for (const entry of [{ discovery: { enumerate_models: false } }, { catalogue: { auto_discover: false } }]) {
      await using client = createClient(upstream.url, entry, own);
      await client.ready();
      assertEquals([client.mesh.listModels().map(({ name }) => name), asked(upstream.requests)], [["mine"], 0]);
      await assertRejects(() => client.chat.completions.create({ model: first!, messages }), ModelNotFoundError);
    }
    const config = {
      providers: { "openai.llm.v1": { discovery: { enumerate_models: false } } },
      pools: { chat: { models: [first!] } },
    };
    assertThrows(() => create({ config }), ConfigError, `pools.chat.models[0]: no model "${first}"`);
  });
});

describe("A provider that is asked for its models", () => {
  it("offers what it lists: the catalogue's defaults in pools, the others by name", async () => {
    await using upstream = await vendor(json({ data: [{ id: idOf(first) }, { id: "unheard-of" }] }));
    for (const entry of [{ discovery: { enumerate_models: true } }, { catalogue: { auto_discover: true } }]) {
      await using client = createClient(upstream.url, entry, own);
      await client.ready();
      assertEquals(members(client), ["mine", first]);
      assertEquals(client.mesh.listModels().map(({ name }) => name), ["mine", first, "openai.unheard-of"]);
      assertEquals((await client.chat.completions.create({ model: "unheard-of", messages })).model, "unheard-of");
    }
  });

  for (const [what, list] of [["refuses", status(401)], ["lists none", json({ data: [] })]] as const) {
    it(`offers the catalogue's where it ${what}, and says so`, async () => {
      await using upstream = await vendor(list);
      await using client = createClient(upstream.url, { discovery: { enumerate_models: true } }, own);
      const lines: string[] = [];
      client.mesh.addSink({ emit() {}, trace: ({ message }) => void lines.push(message), flush: async () => {} });
      await client.ready();
      assertEquals(members(client), ["mine", ...defaults]);
      const [{ status, reason } = { status: "", reason: "" }] = client.describe().providers;
      assertEquals(status, "active");
      assertMatch(reason!, /^(did not list its models: The provider answered 401|listed no model)/);
      assert(lines.includes(`The provider "openai.llm.v1" ${reason}`), `${lines}`);
    });
  }

  it("has 5 s for that", async () => {
    await using upstream = await vendor(hang());
    await using client = createClient(upstream.url, { discovery: { enumerate_models: true } });
    const ready = client.ready();
    await upstream.received(1);
    await (getEngine(client.mesh).runtime.clock as ReturnType<typeof fakeClock>).advance(5_000);
    await ready;
    assertEquals(members(client), defaults);
  });

  it("is one without a catalogue and without models of its own, unless that is switched off", async () => {
    await using upstream = await vendor(json({ data: [{ id: "llama" }] }));
    const cases: readonly (readonly [entry: object, models: Entries, names: string[], calls: number])[] = [
      [{}, {}, ["openai-compatible.llama"], 1],
      [{}, { mine: { provider: "own" } }, ["mine"], 0],
      [
        { discovery: { enumerate_models: true } },
        { mine: { provider: "own" } },
        ["mine", "openai-compatible.llama"],
        1,
      ],
      [{ discovery: { enumerate_models: false } }, {}, [], 0],
    ];
    for (const [entry, models, names, calls] of cases) {
      const before = asked(upstream.requests);
      const providers = { own: { connector: "openai.compatible.v1", base_url: upstream.url, ...entry } };
      await using client = create({
        config: { providers, models, pools: { chat: { capability: "chat-completion" } } },
      });
      await client.ready();
      assertEquals([members(client), asked(upstream.requests) - before], [names, calls]);
    }
  });
});

describe("Under a budget, a model that a provider offers without a price", () => {
  const list = json({ object: "list", data: [{ id: "brand-new", object: "model" }] });
  const entry = { discovery: { enumerate_models: true } };
  const asks = (client: MeshClient, model: string) => () => client.chat.completions.create({ model, messages });

  it("is left out, and the error and explain() say why: what it would cost is unknown, and not 0", async () => {
    await using upstream = await vendor(list);
    await using client = createClient(upstream.url, entry, {}, { budget: { daily_limit: 1 } });
    const error = await assertRejects(asks(client, "openai.brand-new"), NoActiveModelError);
    assertEquals([error.code, error.reasons], ["no_active_model", { "openai.brand-new": "no_price" }]);
    const { excluded } = await client.explain({ model: "openai.brand-new", messages });
    assertEquals(excluded, [{ model: "openai.brand-new", reason: "no_price" }]);
    assertEquals(upstream.calls, 1); // for the list
  });

  it("serves once its price is configured, or without a budget", async () => {
    await using upstream = await vendor(list);
    await using free = createClient(upstream.url, entry);
    await asks(free, "openai.brand-new")();
    const priced = { "openai.brand-new": { provider: "openai.llm.v1", pricing: { input: 1, output: 1 } } };
    await using client = createClient(upstream.url, entry, priced, { budget: { daily_limit: 1 } });
    await asks(client, "openai.brand-new")();
  });
});

/** Which models a pool has: those that its providers offer by themselves, wherever a provider comes from. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create, type MeshClient, ModelMesh, type Provider, type ProviderConnector } from "../../mod.ts";
import { customProvider } from "../support/_custom_provider.ts";
import { fakeClock, messages } from "../support/_library.ts";
import { json, respond, startUpstream } from "../support/upstream.ts";

const capability = "chat-completion";
const pools = { chat: { capability } };

/** A vendor's API whose list of models may change. */
async function vendor(...ids: string[]) {
  let listed = ids;
  const upstream = await startUpstream(({ path }) =>
    path === "/v1/models" ? json({ data: listed.map((id) => ({ id })) }) : respond()
  );
  return {
    provider: { base_url: upstream.url, api_key: "key-0123456789", discovery: { enumerate_models: true } },
    list: (...next: string[]) => void (listed = next),
    [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose](),
  };
}

/** A mesh with what it logs. */
async function createMesh(config: Parameters<ModelMesh["initialize"]>[0], connector?: ProviderConnector) {
  const mesh = new ModelMesh({ clock: fakeClock() });
  const lines: string[] = [];
  const trace = ({ message }: { message: string }) => void lines.push(message);
  mesh.addSink({ emit() {}, trace, flush: async () => {} });
  if (connector !== undefined) mesh.registerConnector(connector.id, connector);
  await mesh.initialize(config);
  const members = (pool = "chat") => mesh.poolStatus()[pool]!.models.map(({ name }) => name);
  return { mesh, lines, members, [Symbol.asyncDispose]: () => mesh.close() };
}

describe("A pool over a vendor whose list is asked for", () => {
  it("has every listed model whose capabilities the catalogue knows, a dated release too, and no other", async () => {
    await using openai = await vendor("gpt-4o", "gpt-4o-2024-08-06", "text-embedding-3-small", "unheard-of");
    await using one = await createMesh({
      providers: { "openai.llm.v1": openai.provider },
      pools: { ...pools, vectors: { capability: "text-embeddings" } },
    });
    assertEquals(one.members(), ["openai.gpt-4o", "openai.gpt-4o-2024-08-06"]);
    assertEquals(one.members("vectors"), ["openai.text-embedding-3-small"]);
    assert(one.mesh.listModels().some(({ name }) => name === "openai.unheard-of"));
  });

  it("has all of the list if the catalogue knows none of it", async () => {
    await using openai = await vendor("tuned-1", "tuned-2");
    await using one = await createMesh({ providers: { "openai.llm.v1": openai.provider }, pools });
    assertEquals(one.members(), ["openai.tuned-1", "openai.tuned-2"]);
  });

  it("gets what a sync registers, and of what the catalogue does not know only the name", async () => {
    await using openai = await vendor("gpt-4o");
    await using one = await createMesh({ providers: { "openai.llm.v1": openai.provider }, pools });
    openai.list("gpt-4o", "unheard-of");
    await one.mesh.sync();
    assertEquals(one.members(), ["openai.gpt-4o"]);
    openai.list("gpt-4o", "gpt-4o-mini", "unheard-of");
    await one.mesh.sync();
    assertEquals(one.members(), ["openai.gpt-4o", "openai.gpt-4o-mini"]);
    assertEquals(one.mesh.listModels().map(({ name }) => name.slice("openai.".length)).sort(), [
      "gpt-4o",
      "gpt-4o-mini",
      "unheard-of",
    ]);
  });
});

describe("A pool over an instance", () => {
  const lists = (models: unknown, more: Partial<Provider> = {}) =>
    customProvider({ listModels: () => Promise.resolve(models as never), ...more });
  const instanceOf = (instance: Provider, more: object = {}) => ({ own: { instance, ...more } });

  it("has every model that it lists, and serves with it", async () => {
    await using client: MeshClient = create({
      config: { providers: instanceOf(lists([{ id: "one" }, { id: "two" }])), pools },
    });
    const { choices } = await client.chat.completions.create({ messages });
    assertEquals(choices[0]?.message.content, "Custom");
    assertEquals(client.describe().pools[0]?.models.map(({ name }) => name), ["own.one", "own.two"]);
  });

  it("has its models at their node only, and only the defaults if it marks any", async () => {
    const models = [
      { id: "chat", capabilities: [capability], defaultFor: [capability] },
      { id: "flagship", capabilities: [capability] },
      { id: "vectors", capabilities: ["text-embeddings"] },
    ];
    await using marked = await createMesh({ providers: instanceOf(lists(models)), pools });
    assertEquals(marked.members(), ["own.chat"]);
    await using plain = await createMesh({ providers: instanceOf(lists(models.slice(1))), pools });
    assertEquals(plain.members(), ["own.flagship"]);
  });

  it("has the configured models first; one with the same id stands for the listed one", async () => {
    await using one = await createMesh({
      providers: instanceOf(lists([{ id: "one" }, { id: "two" }])),
      models: { mine: { provider: "own", model: "two" } },
      pools,
    });
    assertEquals(one.members(), ["mine", "own.one"]);
  });

  it("has the configured models alone with enumerate_models false, without a list, and with a list of nothing", async () => {
    const models = { mine: { provider: "own" } };
    const off = { discovery: { enumerate_models: false } };
    const { listModels: _, ...callsAlone } = customProvider();
    const cases = [
      instanceOf(lists([{ id: "one" }]), off),
      instanceOf(callsAlone as Provider),
      instanceOf(lists([])),
      instanceOf(lists([null, 7, {}, { id: 3 }, { id: "" }])),
    ];
    for (const providers of cases) {
      await using one = await createMesh({ providers, models, pools });
      assertEquals([one.members(), one.lines.filter((line) => line.includes("list"))], [["mine"], []]);
    }
  });

  it("has them also if the provider is added later, which creates no connector again", async () => {
    let created = 0;
    const acme: ProviderConnector = {
      id: "acme.llm.v1",
      kind: "provider",
      vendor: "acme",
      keyless: true,
      models: [{ id: "small" }],
      create: () => (created++, customProvider()),
    };
    const providers = { "acme.llm.v1": {}, ...instanceOf(lists([{ id: "one" }])) };
    await using one = await createMesh({ providers, pools }, acme);
    await one.mesh.addProvider({ id: "late", instance: lists([{ id: "two" }]) });
    assertEquals([one.members(), created], [["acme.small", "own.one", "late.two"], 1]);
  });

  it("has what discoverModels returns, where the instance has it: at the start, and from syncs", async () => {
    let found = ["one"];
    const discoverModels = () => Promise.resolve(found.map((id) => ({ id })));
    await using one = await createMesh({ providers: instanceOf(lists([{ id: "listed" }], { discoverModels })), pools });
    assertEquals(one.members(), ["own.one"]);
    found = ["one", "two"];
    await one.mesh.sync();
    assertEquals(one.members(), ["own.one", "own.two"]);
  });
});

describe("A pool over a connector of the program's own", () => {
  const connectorOf = (models: ProviderConnector["models"]): ProviderConnector => ({
    id: "acme.llm.v1",
    kind: "provider",
    vendor: "acme",
    keyless: true,
    models,
    create: () => customProvider(),
  });

  it("has every model that the connector declares, unless it marks defaults", async () => {
    const config = { providers: { "acme.llm.v1": {} }, pools };
    const all = [{ id: "one", capabilities: [capability] }, { id: "two" }];
    await using plain = await createMesh(config, connectorOf(all));
    assertEquals(plain.members(), ["acme.one", "acme.two"]);
    await using marked = await createMesh(config, connectorOf([{ ...all[0]!, defaultFor: [capability] }, all[1]!]));
    assertEquals(marked.members(), ["acme.one"]);
    const models = { mine: { provider: "acme.llm.v1", model: "one" } };
    await using replaced = await createMesh({ ...config, models }, connectorOf(all));
    assertEquals(replaced.members(), ["mine", "acme.two"]);
  });
});

describe("The start warns of", () => {
  it("a pool that has no model once its providers have listed theirs, and an endpoint that none of them serves", async () => {
    await using openai = await vendor("gpt-4o");
    await using one = await createMesh({
      providers: { "openai.llm.v1": openai.provider },
      pools: { ...pools, vectors: { capability: "text-embeddings" } },
      proxy: { endpoints: ["chat/completions", "embeddings", "models"] },
    });
    const warned = one.lines.filter((line) => line.includes("model"));
    assertEquals(warned, [
      'pools.vectors: has no model: no enabled provider offers one for "text-embeddings"',
      'proxy.endpoints[1]: "embeddings" is exposed, but no model serves it',
    ]);
  });

  it("a pool that could not have a model from the beginning, once", async () => {
    await using one = await createMesh({
      providers: { "anthropic.claude.v1": { api_key: "key-0123456789" } },
      pools: {
        ...pools,
        voice: { capability: "text-to-speech" },
      },
    });
    const warned = one.lines.filter((line) => line.includes("has no model"));
    assertEquals(warned.length, 1);
    assertStringIncludes(warned[0]!, "pools.voice: ");
  });
});

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  type ChatCompletionRequest,
  create,
  type MeshClient,
  ModelNotFoundError,
  NoActiveModelError,
  ProviderError,
  routingOf,
  UnsupportedRequestError,
} from "../../mod.ts";
import { clientOver, messages } from "../support/_library.ts";
import { respond, startUpstream, status } from "../support/upstream.ts";

const chat = { capabilities: ["chat-completion"] };

/** Models, pools and aliases that take each other's names. */
const config = {
  providers: {
    "openai.llm.v1": { api_key: "key-0123" },
    "groq.api.v1": { api_key: "key-0123" },
  },
  models: {
    alpha: { provider: "openai.llm.v1", model: "gpt-4o", capabilities: ["chat-completion", "summarization"] },
    beta: { provider: "openai.llm.v1", model: "gpt-4.1", capabilities: ["translation"] },
    summarization: { provider: "openai.llm.v1", model: "o3", ...chat },
    "openai.gpt-4o-mini": { provider: "openai.llm.v1", ...chat },
  },
  pools: {
    chat: { models: ["alpha"] },
    beta: { models: ["alpha"] },
    rewriting: { models: ["openai.gpt-4o-mini"] },
  },
  aliases: {
    fast: "chat",
    cheap: "openai.gpt-4o-mini",
    classification: "chat",
    chat: "gpt-4.1",
    "cheap-one": "groq/openai/gpt-oss-20b",
    foreign: "translation",
  },
};

/** A client of {@linkcode config} whose providers are all one server. */
function clientAt(url: string, settings: Record<string, unknown> = config): MeshClient {
  return create({ config: settings, fetch: (_, init) => fetch(`${url}/chat/completions`, init), random: () => 0.5 });
}

async function ask(client: MeshClient, model: string, more: Partial<ChatCompletionRequest> = {}) {
  const answer = await client.chat.completions.create({ ...more, model, messages, stream: false });
  return { model: answer.model, pool: routingOf(answer)?.pool };
}

describe("The name a request gives", () => {
  const names: readonly (readonly [name: string, what: string, model: string, pool?: string])[] = [
    ["chat", "a pool, before an alias", "gpt-4o"],
    ["beta", "a pool, before a model", "gpt-4o"],
    ["rewriting", "a pool, before a capability", "gpt-4o-mini"],
    ["fast", "an alias of a pool", "gpt-4o", "chat"],
    ["cheap", "an alias of a model", "gpt-4o-mini", "openai.gpt-4o-mini"],
    ["cheap-one", "an alias of a catalogue's model", "openai/gpt-oss-20b", "groq/openai/gpt-oss-20b"],
    ["foreign", "an alias of a capability", "gpt-4.1", "translation"],
    ["classification", "an alias, before a capability", "gpt-4o", "chat"],
    ["summarization", "a capability, before a model", "gpt-4o"],
    ["translation", "a capability", "gpt-4.1"],
    ["transformation.translation", "a capability's path", "gpt-4.1", "translation"],
    ["transformation", "an inner node", "gpt-4.1"],
    ["text-generation", "an inner node's short name", "gpt-4o"],
    ["generation.text-generation.chat-completion", "a path", "gpt-4o", "chat-completion"],
    ["alpha", "a model", "gpt-4o"],
    ["openai.gpt-4o-mini", "a model named after its vendor", "gpt-4o-mini"],
    ["openai/gpt-4o", "a vendor's id", "gpt-4o"],
    ["openai.gpt-4.1", "a configured model by its catalogue name", "gpt-4.1"],
    ["gpt-4.1", "an upstream id", "gpt-4.1"],
    ["groq.openai/gpt-oss-20b", "a model of the catalogue where none is configured", "openai/gpt-oss-20b"],
    ["openai.gpt-5-mini", "a model of the catalogue beside those configured", "gpt-5-mini"],
    ["openai/gpt-oss-120b", "an upstream id that looks like a vendor's", "openai/gpt-oss-120b"],
    ["groq/openai/gpt-oss-120b", "a vendor's id with a slash in it", "openai/gpt-oss-120b"],
  ];
  for (const [name, what, model, pool = name] of names) {
    it(`"${name}" is ${what}`, async () => {
      await using upstream = await startUpstream(respond());
      await using client = clientAt(upstream.url);
      assertEquals(await ask(client, name), { model, pool });
    });
  }

  const unknown: readonly (readonly [name: string, nearest: string | undefined])[] = [
    ["caht", '"chat"'],
    ["gpt-4.o", '"gpt-4o"'],
    ["transaltion", '"translation"'],
    ["openai/gpt-4o-minni", '"openai/gpt-4o-mini"'],
    ["GPT-4O", '"gpt-4o"'],
    ["fsat", '"fast"'],
    ["constructor", undefined],
    ["__proto__", undefined],
    ["*", undefined],
    ["openai.", undefined],
    ["x".repeat(200), undefined],
  ];
  for (const [name, nearest] of unknown) {
    it(`${JSON.stringify(name.slice(0, 30))} means nothing${nearest === undefined ? "" : `: ${nearest} is named`}`, async () => {
      await using upstream = await startUpstream(respond());
      await using client = clientAt(upstream.url);
      const error = await assertRejects(() => ask(client, name), ModelNotFoundError);
      assertEquals([error.code, upstream.calls], ["model_not_found", 0]);
      assertStringIncludes(error.message, nearest ?? name.slice(0, 60));
    });
  }

  it("may be ambiguous as a capability, which is said with its paths", async () => {
    await using client = clientAt("http://127.0.0.1:1/v1");
    const error = await assertRejects(() => ask(client, "audio"), UnsupportedRequestError);
    assertEquals([error.code, error.param], ["invalid_value", "model"]);
    assertStringIncludes(error.message, "generation.audio or understanding.audio");
  });

  it("may mean a capability that no model serves, or that no chat serves", async () => {
    await using client = clientAt("http://127.0.0.1:1/v1");
    for (const name of ["style-transfer", "text-to-speech", "text-embeddings"]) {
      const error = await assertRejects(() => ask(client, name), UnsupportedRequestError);
      assertEquals(error.code, "unsupported_by_pool", name);
    }
  });

  it("may be followed by others in `models`, tried in that order", async () => {
    await using upstream = await startUpstream((request) =>
      ["gpt-4o", "gpt-4.1"].includes(request.json().model) ? status(401) : respond()
    );
    await using client = clientAt(upstream.url);
    assertEquals(await ask(client, "alpha", { models: ["gpt-4.1", "cheap"] }), {
      model: "gpt-4o-mini",
      pool: "openai.gpt-4o-mini",
    });
    assertEquals(upstream.requests.map((request) => request.json().models), [undefined, undefined, undefined]);
  });
});

describe("A name that means models", () => {
  /** Two providers have the model `twin`, a third one has another; each goes into standby after one failure. */
  const over = (urls: { a: string; b: string; c: string }) =>
    clientOver({
      upstreams: urls,
      config: {
        models: {
          "twin-a": { provider: "a", model: "twin", ...chat },
          "twin-b": { provider: "b", model: "twin", ...chat },
          other: { provider: "c", ...chat },
        },
        pools: {
          "*": { deactivation: { retry_limit: 1 }, retry: { max_attempts: 0 } },
          chat: { models: ["twin-a", "twin-b", "other"] },
        },
      },
    });

  it("rotates among all that have this id, and no further", async () => {
    await using bad = await startUpstream(status(401));
    await using good = await startUpstream(respond());
    await using one = over({ a: bad.url, b: bad.url, c: good.url });
    const both = await assertRejects(() => ask(one.client, "twin"), ProviderError);
    assertEquals(both.attempts.map(({ model }) => model), ["twin-a", "twin-b"]);
    const alone = await assertRejects(() => ask(one.client, "twin-a"), ProviderError);
    assertEquals(alone.attempts.map(({ model }) => model), ["twin-a"]);
    assertEquals([bad.calls, good.calls], [3, 0]);
    await using saved = over({ a: bad.url, b: good.url, c: bad.url });
    assertEquals(await ask(saved.client, "twin"), { model: "twin", pool: "twin" });
  });

  it("has a state of its own: what is in standby in a pool still serves by name, and the other way round", async () => {
    await using flaky = await startUpstream([status(401), respond(), status(401), respond()]);
    await using good = await startUpstream(respond());
    await using one = over({ a: flaky.url, b: good.url, c: good.url });
    assertEquals((await ask(one.client, "chat")).pool, "chat");
    assertEquals(one.client.mesh.poolStatus().chat?.models[0]?.status, "standby");
    assertEquals(await ask(one.client, "twin-a"), { model: "twin", pool: "twin-a" });
    await assertRejects(() => ask(one.client, "twin-a"), ProviderError);
    const inStandby = await assertRejects(() => ask(one.client, "twin-a"), NoActiveModelError);
    assertEquals(inStandby.reasons, { "twin-a": "retry_limit" });
    assertEquals(await ask(one.client, "twin"), { model: "twin", pool: "twin" });
    assertEquals(flaky.calls, 4);
  });

  it("shares what is a fact about the vendor", async () => {
    await using limited = await startUpstream(status(429, { headers: { "retry-after": "30" } }));
    await using good = await startUpstream(respond());
    await using one = over({ a: limited.url, b: good.url, c: good.url });
    await assertRejects(() => ask(one.client, "twin-a"));
    assertEquals(one.client.mesh.poolStatus().chat?.models[0]?.reason, "rate_limited");
    await ask(one.client, "twin");
    assertEquals([limited.calls, good.calls], [1, 1]);
  });

  it("and one that means a capability make a pool once, however it is spelt, which is listed nowhere", async () => {
    await using bad = await startUpstream(status(401));
    await using one = over({ a: bad.url, b: bad.url, c: bad.url });
    const error = await assertRejects(() => ask(one.client, "chat-completion"), ProviderError);
    assertEquals(error.attempts.length, 3);
    for (const name of ["text-generation.chat-completion", "generation.text-generation.chat-completion"]) {
      await assertRejects(() => ask(one.client, name), NoActiveModelError);
    }
    await assertRejects(() => ask(one.client, "other"), ProviderError);
    assertEquals(one.client.mesh.listPools().map(({ name }) => name), ["chat"]);
    const { data } = await one.client.models.list();
    assertEquals(data.map(({ id }) => id), ["chat", "twin-a", "twin-b", "other"]);
  });
});

describe("Models in a configuration", () => {
  const provider = { connector: "openai.llm.v1", api_key: "key-0123" };

  it("that a pool lists are in it, from the catalogue too and whatever else is configured", async () => {
    const models = {
      "openai.gpt-4o": { provider: "openai.llm.v1", ...chat },
      named: { provider: "openai.llm.v1", model: "gpt-4.1", ...chat },
    };
    const listed = ["openai.gpt-5-mini", "openai.gpt-4.1", "openai.gpt-4o"];
    await using client = create({
      config: { providers: { "openai.llm.v1": provider }, models, pools: { chat: { models: listed } } },
    });
    const members = client.describe().pools[0]?.models.map(({ name }) => name);
    assertEquals(members, ["openai.gpt-5-mini", "named", "openai.gpt-4o"]);
  });

  it("of two accounts at one vendor both serve", async () => {
    await using upstream = await startUpstream(({ headers }) =>
      headers.authorization === "Bearer key-of-one" ? status(401) : respond()
    );
    await using client = clientAt(upstream.url, {
      providers: { one: { ...provider, api_key: "key-of-one" }, two: { ...provider, api_key: "key-of-two" } },
      pools: { chat: { capability: "chat-completion" } },
    });
    assertEquals(new Set(client.describe().pools[0]?.models.map((model) => model.provider)), new Set(["one", "two"]));
    for (const name of ["gpt-4o", "openai/gpt-4o", "two.gpt-4o"]) {
      assertEquals((await ask(client, name)).model, "gpt-4o");
    }
  });
});

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  anthropic,
  ConfigError,
  create,
  gemini,
  groq,
  memorySecrets,
  memoryStorage,
  MeshConfig,
  type MeshEvent,
  mistral,
  mockClient,
  NoProvidersError,
  ollama,
  openai,
  openrouter,
  prioritySelection,
  roundRobin,
  routingOf,
  type RoutingRecord,
  SecretNotFoundError,
  type SelectionStrategy,
  stateIn,
} from "../../browser.ts";
import type { GivenProvider } from "../../src/contracts/browser_provider.ts";
import {
  hang,
  hangAfterHeaders,
  json,
  type ReceivedRequest,
  refusingUrl,
  respond,
  startUpstream,
  status,
} from "../support/upstream.ts";
import { fakeClock, key, messages, providerAt, read, vendorAt } from "./_provider.ts";

const at = "http://127.0.0.1:9/v1";
const authorizations = (requests: readonly ReceivedRequest[]) => requests.map(({ headers }) => headers.authorization);

describe("create() with providers of the program", () => {
  it("answers non-streaming and streaming, with the key and the model's own id", async () => {
    await using upstream = await startUpstream(respond({ text: "Hello you" }));
    await using client = create("chat-completion", { providers: [providerAt(upstream.url)] });
    const whole = await client.chat.completions.create({ messages });
    assertEquals(whole.choices[0]?.message.content, "Hello you");
    assertEquals(await read(await client.chat.completions.create({ messages, stream: true })), "Hello you");
    assertEquals(authorizations(upstream.requests), [`Bearer ${key}`, `Bearer ${key}`]);
    assertEquals(upstream.requests.map(({ path }) => path), ["/v1/chat/completions", "/v1/chat/completions"]);
    assertEquals(upstream.requests.map((request) => request.json().model), ["small", "small"]);
    assertEquals(upstream.requests[1]?.json().stream_options, { include_usage: true });
  });

  it("names models by the provider's host or the id it was given, and takes either name or the upstream id", async () => {
    await using upstream = await startUpstream(respond());
    const providers = [providerAt(upstream.url), providerAt(upstream.url, { id: "acme", models: ["large"] })];
    await using client = create({ providers });
    const host = `127.0.0.1:${upstream.port}`;
    assertEquals(client.mesh.listModels().map(({ name }) => name), [`${host}.small`, "acme.large"]);
    for (const model of [`${host}.small`, "small", "acme.large", "acme/large", "large"]) {
      await client.chat.completions.create({ messages, model });
    }
    const asked = upstream.requests.map((request) => request.json().model);
    assertEquals(asked, ["small", "small", "large", "large", "large"]);
    assertEquals(client.describe().providers.map(({ id }) => id), [host, "acme"]);
  });

  it("fails over between two of them, non-streaming and streaming", async () => {
    await using broken = await startUpstream(status(500));
    await using good = await startUpstream(respond({ text: "Second" }));
    const providers = [providerAt(broken.url, { id: "a" }), providerAt(good.url, { id: "b" })];
    await using client = create("chat-completion", { providers, clock: fakeClock({ skipSleeps: true }) });
    const whole = await client.chat.completions.create({ messages });
    assertEquals(whole.choices[0]?.message.content, "Second");
    assertEquals(routingOf(whole)?.fallback_chain.map(({ provider, outcome }) => [provider, outcome]), [
      ["a", "server"],
      ["b", "ok"],
    ]);
    assertEquals(await read(await client.chat.completions.create({ messages, stream: true })), "Second");
  });

  it("retries as often, and after the statuses, that each provider says", async () => {
    await using first = await startUpstream(status(500));
    await using second = await startUpstream(status(418));
    await using third = await startUpstream(respond());
    const providers = [
      providerAt(first.url, { id: "a", maxRetries: 0 }),
      providerAt(second.url, { id: "b", maxRetries: 1, retryableCodes: [418] }),
      providerAt(third.url, { id: "c" }),
    ];
    await using client = create("chat-completion", { providers, clock: fakeClock({ skipSleeps: true }) });
    await client.chat.completions.create({ messages });
    assertEquals([first.calls, second.calls, third.calls], [1, 2, 1]);
  });

  it("waits no longer than a provider's timeout", async () => {
    await using slow = await startUpstream(hang());
    const clock = fakeClock();
    const provider = providerAt(slow.url, { timeout: 700, maxRetries: 0 });
    await using client = create("chat-completion", { providers: [provider], clock });
    const failed = assertRejects(() => client.chat.completions.create({ messages }), Error, "within 700 ms");
    await slow.received(1);
    await clock.advance(700);
    await failed;
  });

  it("waits no longer than that for a stream to go on", async () => {
    await using slow = await startUpstream(hangAfterHeaders("text/event-stream"));
    const clock = fakeClock();
    const provider = providerAt(slow.url, { timeout: 700, maxRetries: 0 });
    await using client = create("chat-completion", { providers: [provider], clock });
    const call = client.chat.completions.create({ messages, stream: true });
    const failed = assertRejects(() => call, Error, "silent for 700 ms");
    await slow.received(1);
    for (let wait = 0; wait < 3; wait++) await clock.advance(700); // its head counts as a sign of life
    await failed;
  });

  it("says what a page can do when no server answers", async () => {
    const provider = providerAt(await refusingUrl(), { maxRetries: 0 });
    await using client = create("chat-completion", { providers: [provider] });
    const call = () => client.chat.completions.create({ messages });
    await assertRejects(call, Error, "no server listening there, no CORS headers");
  });

  it("emits events, and takes a strategy of the entry or of the program", async () => {
    await using upstream = await startUpstream(respond());
    const records: (MeshEvent | RoutingRecord)[] = [];
    const last: SelectionStrategy = { select: (candidates) => candidates.at(-1), score: () => 0 };
    for (const strategy of [undefined, roundRobin, prioritySelection, last]) {
      await using client = create("chat-completion", {
        providers: [providerAt(upstream.url, { id: "a", models: ["one", "two"] })],
        strategy,
        on: (record) => records.push(record),
      });
      for (let turn = 0; turn < 2; turn++) await client.chat.completions.create({ messages });
    }
    const asked = upstream.requests.map((request) => request.json().model);
    assertEquals(asked, ["one", "one", "one", "two", "one", "one", "two", "two"]);
    assertEquals(records.map(({ type }) => type), Array(8).fill("routing"));
  });

  it("keeps states in a storage, so that another client does not ask what is in standby", async () => {
    await using limited = await startUpstream(status(429, { headers: { "retry-after": "60" } }));
    await using good = await startUpstream(respond());
    const options = {
      providers: [providerAt(limited.url, { id: "a" }), providerAt(good.url, { id: "b" })],
      storage: stateIn(memoryStorage()),
    };
    for (let visit = 0; visit < 2; visit++) {
      await using client = create("chat-completion", options);
      await client.chat.completions.create({ messages });
    }
    assertEquals([limited.calls, good.calls], [1, 2]);
  });
});

describe("create() with vendors", () => {
  const document = (path: string) => path.endsWith("/models") ? json({ data: [{ id: "llama" }] }) : respond();

  it("sends each one its key, and names their models by their ids", async () => {
    await using upstream = await startUpstream(respond());
    const vendors = { openai, groq, mistral, openrouter };
    const providers = Object.entries(vendors).map(([id, vendor]) =>
      vendor({ apiKey: `key-of-${id}-0123456789`, baseUrl: upstream.url, models: ["m"] })
    );
    await using client = create("chat-completion", { providers });
    for (const id of Object.keys(vendors)) await client.chat.completions.create({ messages, model: `${id}.m` });
    const keys = Object.keys(vendors).map((id) => `Bearer key-of-${id}-0123456789`);
    assertEquals(authorizations(upstream.requests), keys);
  });

  it("asks their defaults unless models are given, in that order, and others by name", () => {
    const pooled = (provider: GivenProvider) =>
      create("chat-completion", { providers: [provider] }).describe().pools[0]?.models.map(({ name }) => name);
    assertEquals(pooled(vendorAt("acme", { apiKey: key, baseUrl: at })), ["acme.one"]);
    assertEquals(pooled(vendorAt("acme", { apiKey: key, baseUrl: at, models: ["two", "new"] })), [
      "acme.two",
      "acme.new",
    ]);
    assertEquals(pooled(openai({ apiKey: key, id: "work", models: ["gpt-4.1"] })), ["work.gpt-4.1"]);
    const { mesh } = create({ providers: [vendorAt("acme", { apiKey: key, baseUrl: at })] });
    assertEquals(mesh.listModels().map(({ name }) => name), ["acme.one", "acme.two"]);
  });

  it("has the rules of the newest generation for a model that their catalogue does not know", async () => {
    await using upstream = await startUpstream(respond());
    const providers = [openai({ apiKey: key, baseUrl: upstream.url, models: ["gpt-9-nova"] })];
    await using client = create("chat-completion", { providers });
    await client.chat.completions.create({ messages, max_tokens: 5, temperature: 0.2, top_k: 9 });
    const { messages: _, ...sent } = upstream.requests[0]!.json();
    assertEquals(sent, { model: "gpt-9-nova", max_completion_tokens: 5 });
  });

  it("knows what their catalogue knows of a model, of a dated one too", async () => {
    await using upstream = await startUpstream(respond());
    const providers = [openai({ apiKey: key, baseUrl: upstream.url, models: ["gpt-5-mini-2025-08-07"] })];
    await using client = create("chat-completion", { providers });
    await client.chat.completions.create({ messages, max_tokens: 5 });
    const { max_tokens, max_completion_tokens } = upstream.requests[0]!.json();
    assertEquals([max_tokens, max_completion_tokens], [undefined, 5], "reasoning models know it by another name");
  });

  it("rewords what none of their models takes", async () => {
    await using upstream = await startUpstream(respond());
    const providers = [groq({ apiKey: key, baseUrl: upstream.url, models: ["m"] })];
    await using client = create("chat-completion", { providers });
    await client.chat.completions.create({ messages, logit_bias: { 1: 2 } });
    assertEquals(upstream.requests[0]?.json().logit_bias, undefined);
  });

  it("asks for a key when it becomes ready, and keeps it out of every error", async () => {
    await using upstream = await startUpstream(status(400, { error: { message: `Bad ${key}` } }));
    const asked: string[] = [];
    const apiKey = () => (asked.push("key"), Promise.resolve(` ${key}\n`));
    const providers = [vendorAt("acme", { apiKey, baseUrl: upstream.url })];
    await using client = create("chat-completion", { providers });
    assertEquals(asked, []);
    await client.ready();
    assertEquals(asked, ["key"]);
    const error = await assertRejects(() => client.chat.completions.create({ messages }));
    assert(!String(error).includes(key));
    assertEquals(authorizations(upstream.requests), [`Bearer ${key}`]);
    assertEquals(asked, ["key"]);
  });

  it("does so for providers of the program too, and takes a key that comes later", async () => {
    await using upstream = await startUpstream(respond());
    const secrets = memorySecrets();
    const providers = [providerAt(upstream.url, { id: "acme", apiKey: () => secrets.get("ACME_API_KEY") })];
    await using client = create("chat-completion", { providers });
    const call = () => client.chat.completions.create({ messages });
    await assertRejects(call, ConfigError, 'providers[0].apiKey: the function returned no API key for "acme"');
    await secrets.set("ACME_API_KEY", "sk-...");
    await assertRejects(call, ConfigError, "providers[0].apiKey: expected an API key");
    await secrets.set("ACME_API_KEY", key);
    await call();
    assertEquals(authorizations(upstream.requests), [`Bearer ${key}`]);
  });

  it("asks a server of the visitor's own for its models, unless they are given", async () => {
    await using upstream = await startUpstream(({ path }) => document(path));
    await using client = create("chat-completion", { providers: [ollama({ baseUrl: upstream.url })] });
    assertEquals((await client.chat.completions.create({ messages })).model !== undefined, true);
    assertEquals(client.mesh.listModels().map(({ name }) => name), ["ollama.llama"]);
    await using other = create("chat-completion", { providers: [ollama({ baseUrl: upstream.url, models: ["tiny"] })] });
    await other.ready();
    assertEquals(other.mesh.listModels().map(({ name }) => name), ["ollama.tiny"]);
    assertEquals(upstream.requests.map(({ path }) => path), ["/v1/models", "/v1/chat/completions"]);
  });

  it("states in a header for Anthropic that the call comes from a page", async () => {
    const sent: Headers[] = [];
    const fetcher: typeof fetch = (_input, init) => {
      sent.push(new Headers(init?.headers));
      return Promise.resolve(
        Response.json({ type: "error", error: { type: "api_error", message: "" } }, { status: 400 }),
      );
    };
    for (const provider of [anthropic({ apiKey: key }), gemini({ apiKey: key })]) {
      await using client = create({ providers: [provider], fetch: fetcher });
      await assertRejects(() => client.chat.completions.create({ messages }));
    }
    assertEquals(sent[0]?.get("anthropic-dangerous-direct-browser-access"), "true");
    assertEquals([sent[0]?.get("x-api-key"), sent.at(-1)?.get("x-goog-api-key")], [key, key]);
  });
});

describe("create() with a configuration", () => {
  const document = (baseUrl: string) => ({
    providers: { acme: { connector: "openai.compatible.v1", base_url: baseUrl, api_key: "${secrets:ACME_KEY}" } },
    models: { small: { provider: "acme" } },
    pools: { chat: { models: ["small"] } },
  });

  it("fills its secret references in from the secret store, when it becomes ready", async () => {
    await using upstream = await startUpstream(respond());
    const secrets = memorySecrets();
    await using client = create({ config: MeshConfig.parse(document(upstream.url), { secrets }) });
    await secrets.set("ACME_KEY", key);
    await client.chat.completions.create({ messages });
    assertEquals(authorizations(upstream.requests), [`Bearer ${key}`]);
    assertEquals(client.mesh.listPools().map(({ name }) => name), ["chat"]);
  });

  it("takes the document itself, as on a server: read when it becomes ready, by the same checks", async () => {
    await using upstream = await startUpstream(respond());
    await using client = create({ config: document(upstream.url), env: { ACME_KEY: key } });
    await client.chat.completions.create({ messages });
    assertEquals(authorizations(upstream.requests), [`Bearer ${key}`]);
    assertEquals(client.describe().pools.map(({ name }) => name), ["chat"]);
  });

  it("says everything that is wrong with a document when it becomes ready, and again at every call", async () => {
    const pools = { chat: { models: ["smal"], strategy: "nearest" } };
    await using client = create({ config: { ...document(at), pools } });
    for (const ask of [() => client.ready(), () => client.chat.completions.create({ messages })]) {
      const { problems } = await assertRejects(ask, ConfigError);
      assertEquals(problems.map(({ path }) => path), ["pools.chat.strategy", "pools.chat.models[0]"]);
    }
  });

  it("finds out when it becomes ready that a pool or a capability is none of the document's", async () => {
    await using client = create({ config: document(at), env: { ACME_KEY: key }, pool: "chats" });
    const { problems } = await assertRejects(() => client.ready(), ConfigError);
    assertEquals(problems.map(({ path }) => path), ["pool"]);
  });

  it("finds out when it becomes ready that a document has no providers, and a page no environment", async () => {
    await using client = create({ config: { pools: {} } });
    await assertRejects(() => client.ready(), NoProvidersError);
  });

  it("says which reference cannot be resolved", async () => {
    await using client = create({ config: MeshConfig.parse(document(at)) });
    const error = await assertRejects(() => client.ready(), SecretNotFoundError);
    assertStringIncludes(error.message, "ACME_KEY");
  });
});

it("mockClient() answers by its script in a browser too", async () => {
  await using client = mockClient({ responses: ["One two", new Error("Out of luck")] });
  assertEquals(await read(await client.chat.completions.create({ messages, stream: true })), "One two");
  await assertRejects(() => client.chat.completions.create({ messages }), Error, "Out of luck");
  assert(client.describe().toString().includes("mock"));
});

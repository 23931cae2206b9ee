import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  anthropic,
  create,
  memorySecrets,
  memoryStorage,
  MeshConfig,
  type MeshEvent,
  mockClient,
  routingOf,
  type RoutingRecord,
  SecretNotFoundError,
  stateIn,
} from "../../browser.ts";
import {
  answer,
  hang,
  hangAfterHeaders,
  type ReceivedRequest,
  refusingUrl,
  startUpstream,
  status,
} from "../support/upstream.ts";
import { fakeClock, key, messages, providerAt, read, vendorAt } from "./_provider.ts";

const authorizations = (requests: readonly ReceivedRequest[]) => requests.map(({ headers }) => headers.authorization);

describe("create() with providers of the program", () => {
  it("answers whole and streamed, with the key and the model's own id", async () => {
    await using upstream = await startUpstream(answer({ text: "Hello you" }));
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
    await using upstream = await startUpstream(answer());
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

  it("fails over between two of them, whole and streamed", async () => {
    await using broken = await startUpstream(status(500));
    await using good = await startUpstream(answer({ text: "Second" }));
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
    await using third = await startUpstream(answer());
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

  it("says what a page can do when nobody answers", async () => {
    const provider = providerAt(await refusingUrl(), { maxRetries: 0 });
    await using client = create("chat-completion", { providers: [provider] });
    const call = () => client.chat.completions.create({ messages });
    await assertRejects(call, Error, "nobody listening at that address, or no CORS headers");
  });

  it("tells events, takes a strategy and the models that were chosen", async () => {
    await using upstream = await startUpstream(answer());
    const records: (MeshEvent | RoutingRecord)[] = [];
    await using client = create("chat-completion", {
      providers: [providerAt(upstream.url, { id: "a", models: ["one", "two", "three"] })],
      models: ["a.two", "one"],
      strategy: "round-robin",
      on: (record) => records.push(record),
    });
    for (let turn = 0; turn < 3; turn++) await client.chat.completions.create({ messages });
    assertEquals(upstream.requests.map((request) => request.json().model), ["two", "one", "two"]);
    assertEquals(records.map(({ type }) => type), ["routing", "routing", "routing"]);
  });

  it("keeps states in a storage, so that another client leaves alone what rests", async () => {
    await using limited = await startUpstream(status(429, { headers: { "retry-after": "60" } }));
    await using good = await startUpstream(answer());
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
  it("takes keys by vendor, id and variable", async () => {
    await using upstream = await startUpstream(answer());
    for (const name of ["acme", "acme.test.v1", "ACME_API_KEY"]) {
      const providers = [vendorAt("acme", upstream.url)];
      await using client = create("chat-completion", { providers, apiKeys: { [name]: key } });
      await client.chat.completions.create({ messages });
    }
    assertEquals(authorizations(upstream.requests), Array(3).fill(`Bearer ${key}`));
  });

  it("reads keys that were not given from a secret store, when it becomes ready", async () => {
    await using upstream = await startUpstream(answer());
    const providers = [vendorAt("acme", upstream.url), vendorAt("other", upstream.url)];
    const asked: string[] = [];
    const secrets = { get: (name: string) => (asked.push(name), Promise.resolve(` ${key}\n`)) };
    await using client = create({ providers, apiKeys: { other: "another-key-0123456789" }, secrets });
    assertEquals(asked, []);
    await client.ready();
    assertEquals(asked, ["ACME_API_KEY"]);
    await client.chat.completions.create({ messages, model: "acme.one" });
    assertEquals(authorizations(upstream.requests), [`Bearer ${key}`]);
  });

  it("names the secret that its store lacks", async () => {
    await using client = create({ providers: [vendorAt("acme", "http://127.0.0.1:9/v1")], secrets: memorySecrets() });
    const error = await assertRejects(() => client.ready(), SecretNotFoundError);
    assertEquals(error.names, ["ACME_API_KEY"]);
  });

  it("tells Anthropic that the call comes from a page", async () => {
    const sent: Headers[] = [];
    const fetcher: typeof fetch = (_input, init) => {
      sent.push(new Headers(init?.headers));
      return Promise.resolve(
        Response.json({ type: "error", error: { type: "api_error", message: "" } }, { status: 400 }),
      );
    };
    await using client = create({ providers: [anthropic], apiKeys: { anthropic: key }, fetch: fetcher });
    await assertRejects(() => client.chat.completions.create({ messages }));
    assertEquals(sent[0]?.get("anthropic-dangerous-direct-browser-access"), "true");
    assertEquals(sent[0]?.get("x-api-key"), key);
  });
});

describe("create() with a configuration", () => {
  const document = (baseUrl: string) => ({
    providers: { acme: { connector: "openai.compatible.v1", base_url: baseUrl, api_key: "${secrets:ACME_KEY}" } },
    models: { small: { provider: "acme" } },
    pools: { chat: { models: ["small"] } },
  });

  it("fills its secret references in from apiKeys, then from the secret store", async () => {
    await using upstream = await startUpstream(answer());
    const config = MeshConfig.parse(document(upstream.url));
    for (const options of [{ apiKeys: { ACME_KEY: key } }, { secrets: memorySecrets({ ACME_KEY: key }) }]) {
      await using client = create({ config, ...options });
      await client.chat.completions.create({ messages });
    }
    assertEquals(authorizations(upstream.requests), [`Bearer ${key}`, `Bearer ${key}`]);
  });

  it("says which reference nobody can fill in", async () => {
    await using client = create({ config: MeshConfig.parse(document("http://127.0.0.1:9/v1")) });
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

/** A web page that calls its providers itself, by CORS, with keys of its user. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertClosesAtOnce } from "../support/_library.ts";
import {
  type Behaviour,
  formatHead,
  Gate,
  hang,
  hangAfterHeaders,
  raw,
  refusingUrl,
  respond,
  status,
  stream,
} from "../support/upstream.ts";
import { describeInChromium } from "./_chromium.ts";
import type { Program } from "./_page.ts";
import { streamed } from "./_programs.ts";
import { startProvider } from "./_provider.ts";

const key = "key-of-the-user-0123456789";

/** How the first of two providers fails, what is reported of it, and how often it was asked. */
const failures: readonly { readonly behaviour?: Behaviour; readonly outcome: string; readonly calls: number }[] = [
  { behaviour: status(500), outcome: "server", calls: 3 },
  { behaviour: status(429), outcome: "rate_limited", calls: 3 },
  { outcome: "network", calls: 0 }, // it refuses the connection
];

/** Moments to leave at, and what the provider does then. */
const moments: readonly { readonly name: string; readonly isStream: boolean; readonly behaviour: () => Behaviour }[] = [
  { name: "while a whole answer is made", isStream: false, behaviour: hang },
  { name: "while a whole answer is on its way", isStream: false, behaviour: hangAfterHeaders },
  { name: "before a stream's first event", isStream: true, behaviour: () => hangAfterHeaders("text/event-stream") },
  { name: "in the middle of a stream", isStream: true, behaviour: midway },
];

/** A stream that waits after its first piece. */
function midway(): Behaviour {
  const gate = new Gate();
  gate.open(2);
  return stream({ pieces: ["one", "two"], gate });
}

interface Failover {
  readonly first: string;
  readonly second: string;
  readonly isStream: boolean;
}

/** Asks two providers in this order; returns the text and how it came about. */
const askedInTurn: Program<Failover, unknown> = async (modelmesh, { first, second, isStream }) => {
  const { BrowserBaseProvider, create, createBrowserProviderConfig, routingOf } = modelmesh;
  const providers = Object.entries({ first, second }).map(([id, baseUrl]) => {
    const apiKey = `key-of-${id}-0123456789`;
    return new BrowserBaseProvider(createBrowserProviderConfig({ id, baseUrl, apiKey, models: ["m"] }));
  });
  const client = create("chat-completion", { providers, random: () => 0 }); // no wait between tries
  const messages = [{ role: "user" as const, content: "Hi" }];
  let text = "";
  let answered: object;
  if (isStream) {
    const stream = await client.chat.completions.create({ messages, stream: true });
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
    answered = stream;
  } else {
    const answer = await client.chat.completions.create({ messages });
    text += answer.choices[0]?.message.content;
    answered = answer;
  }
  await client.close();
  const { model, fallback_chain } = routingOf(answered)!;
  return { text, model, chain: fallback_chain.map(({ model, outcome }) => `${model} ${outcome}`) };
};

/** Asks what a configuration document names; returns the text, and what a document with a slip in it is answered with. */
const askedByDocument: Program<{ config: Record<string, unknown> }, unknown> = async (modelmesh, { config }) => {
  const { ConfigError, create } = modelmesh;
  const client = create({ config });
  const { choices } = await client.chat.completions.create({ messages: [{ role: "user", content: "Hi" }] });
  const pools = client.describe().pools.map(({ name }) => name);
  await client.close();
  const wrong = create({ config: { ...config, pools: { chat: { models: ["nearest"] } } } });
  const problems = await wrong.ready().then(
    () => [],
    (error) => ConfigError.isInstance(error) ? error.problems : [error],
  );
  await wrong.close();
  return { text: choices[0]?.message.content, pools, problems: problems.map(({ path }) => path) };
};

/** Asks until `leave()` is called. */
const askedForLong: Program<{ url: string; isStream: boolean }, unknown> = async (modelmesh, facts, show) => {
  const { BrowserBaseProvider, create, createBrowserProviderConfig } = modelmesh;
  const config = createBrowserProviderConfig({ baseUrl: facts.url, apiKey: "key-0123456789", models: ["small"] });
  const client = create("chat-completion", { providers: [new BrowserBaseProvider(config)] });
  const controller = new AbortController();
  Object.assign(globalThis, { leave: () => controller.abort() });
  const { signal } = controller;
  const messages = [{ role: "user" as const, content: "Hi" }];
  if (!facts.isStream) return await client.chat.completions.create({ messages }, { signal });
  const stream = await client.chat.completions.create({ messages, stream: true }, { signal });
  for await (const { choices } of stream) show(choices[0]?.delta.content ?? "");
};

describeInChromium("A page that calls its providers", (open) => {
  it("streams a chat: it shows the first event before the provider has sent the last", async () => {
    const gate = new Gate();
    gate.open(2);
    await using provider = await startProvider(stream({ pieces: ["one", "two"], gate }));
    await using page = await open();
    const done = page.run(streamed, { baseUrl: provider.url, apiKey: key });
    await page.shows("one");
    await gate.reached(3);
    assertEquals(await page.text(), "one");
    gate.openAll();
    assertEquals(await done, ["one", "two"]);
    const [request] = provider.requests;
    assertEquals([request?.path, request?.headers.authorization], ["/v1/chat/completions", `Bearer ${key}`]);
  });

  it("speaks a dialect of its own by a subclass in plain JavaScript", async () => {
    const events = ['{"say":"Hel"}', '{"note":"nothing to pass on"}', '{"say":"lo"}', '{"bye":true}'];
    const body = events.map((data) => `data: ${data}\n\n`).join("");
    await using provider = await startProvider(raw(formatHead(200, { "content-type": "text/event-stream" }) + body));
    await using page = await open();
    const program = `async ({ BrowserBaseProvider, create, createBrowserProviderConfig }, { url, key }) => {
      class Acme extends BrowserBaseProvider {
        _getCompletionEndpoint() {
          return url + "/talk";
        }
        _parseSseChunk(data) {
          const { say, bye } = JSON.parse(data);
          if (say === undefined && !bye) return null;
          return {
            id: "talk-1",
            object: "chat.completion.chunk",
            created: 0,
            model: "acme-small",
            choices: [{ index: 0, delta: bye ? {} : { content: say }, finish_reason: bye ? "stop" : null }],
          };
        }
      }
      const acme = new Acme(createBrowserProviderConfig({ apiKey: key, models: ["acme-small"] }));
      const client = create("chat-completion", { providers: [acme] });
      const stream = await client.chat.completions.create({ messages: [{ role: "user", content: "Hi" }], stream: true });
      const pieces = [];
      for await (const chunk of stream) pieces.push(chunk.choices[0].delta.content ?? chunk.choices[0].finish_reason);
      await client.close();
      return pieces;
    }`;
    assertEquals(await page.run(program, { url: provider.url, key }), ["Hel", "lo", "stop"]);
    assertEquals(provider.requests.map(({ path }) => path), ["/v1/talk"]);
  });

  it("goes through a forwarder to a provider that answers no web pages", async () => {
    await using forwarder = await startProvider(respond({ text: "Hello" }));
    await using page = await open();
    const facts = { baseUrl: "https://api.acme.example/v1", proxyUrl: new URL(forwarder.url).origin, apiKey: key };
    assertEquals(await page.run(streamed, facts), ["Hello"]);
    assertEquals(forwarder.requests.map(({ path }) => path), ["/https://api.acme.example/v1/chat/completions"]);
  });

  it("is answered by the second when the first fails, non-streaming and streaming", async () => {
    await using second = await startProvider(respond({ text: "Hello" }));
    await using page = await open();
    for (const { behaviour = respond(), outcome, calls } of failures) {
      for (const isStream of [false, true]) {
        await using first = await startProvider(behaviour);
        const url = outcome === "network" ? await refusingUrl() : first.url;
        const reported = await page.run(askedInTurn, { first: url, second: second.url, isStream });
        assertEquals(reported, { text: "Hello", model: "second.m", chain: [`first.m ${outcome}`, "second.m ok"] });
        assertEquals(first.requests.length, calls, outcome);
      }
    }
  });

  it("has the text so far in its error when the connection breaks in the middle of a stream", async () => {
    await using page = await open();
    const provider = await startProvider(midway());
    const failed = page.failure(streamed, { baseUrl: provider.url, apiKey: key });
    await page.shows("one");
    await provider[Symbol.asyncDispose]();
    const { name, text } = await failed;
    assertEquals(name, "StreamInterruptedError");
    assertStringIncludes(text, '"partialText":"one"');
    assertEquals(provider.requests.length, 1);
  });

  it("asks what a configuration document names, and hears of every slip in one", async () => {
    await using provider = await startProvider(respond({ text: "Hello" }));
    await using page = await open();
    const config = {
      providers: { acme: { connector: "openai.compatible.v1", base_url: provider.url, api_key: key } },
      models: { small: { provider: "acme" } },
      pools: { chat: { models: ["small"] } },
    };
    const reported = await page.run(askedByDocument, { config });
    assertEquals(reported, { text: "Hello", pools: ["chat"], problems: ["pools.chat.models[0]"] });
    assertEquals(provider.requests.map(({ headers }) => headers.authorization), [`Bearer ${key}`]);
  });

  it("may do so in a worker", async () => {
    await using first = await startProvider(status(500));
    await using second = await startProvider(respond({ text: "Hello" }));
    await using page = await open();
    const facts = { first: first.url, second: second.url, isStream: true };
    const reported = await page.run(askedInTurn, facts, "worker");
    assertEquals(reported, { text: "Hello", model: "second.m", chain: ["first.m server", "second.m ok"] });
  });

  it("ends the provider's call with an AbortController, at any moment, and gets an AbortError", async () => {
    await using page = await open();
    for (const { name, isStream, behaviour } of moments) {
      await using provider = await startProvider(behaviour());
      const failed = page.failure(askedForLong, { url: provider.url, isStream });
      const request = await provider.received(1);
      if (behaviour === midway) await page.shows("one");
      await page.run("() => leave()", {});
      await assertClosesAtOnce(request);
      assertEquals((await failed).name, "AbortError", name);
      assertEquals(provider.requests.length, 1, name);
    }
  });

  it("ends the provider's call by leaving the loop, and hears no more of it", async () => {
    await using provider = await startProvider(midway());
    await using page = await open();
    await page.run(async (modelmesh, { url }) => {
      const { BrowserBaseProvider, create, createBrowserProviderConfig } = modelmesh;
      const config = createBrowserProviderConfig({ baseUrl: url, apiKey: "key-0123456789", models: ["small"] });
      const client = create("chat-completion", { providers: [new BrowserBaseProvider(config)] });
      const messages = [{ role: "user" as const, content: "Hi" }];
      const stream = await client.chat.completions.create({ messages, stream: true });
      for await (const { choices } of stream) {
        if (choices[0]?.delta.content === "one") break;
      }
    }, { url: provider.url });
    await assertClosesAtOnce(provider.requests[0]);
  });
});

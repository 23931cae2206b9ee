import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  BrowserBaseProvider,
  type CompletionRequest,
  create,
  createBrowserProviderConfig,
  ProviderError,
  RateLimitError,
} from "../../browser.ts";
import type { BrowserProviderOptions } from "../../src/contracts/browser_provider.ts";
import { completeResponse, errorBody, json, raw, respond, startUpstream } from "../support/upstream.ts";
import { fakeClock, key, messages, read } from "./_provider.ts";

/** A stream of events with these data. */
function events(...data: readonly string[]) {
  return completeResponse(200, data.map((one) => `data: ${one}\n\n`).join(""), "text/event-stream");
}

/** A vendor with a dialect of its own, whose every hook is replaced. */
class Acme extends BrowserBaseProvider {
  readonly #address: string;

  constructor(address: string, options: Partial<BrowserProviderOptions> = {}) {
    super(createBrowserProviderConfig({ id: "acme", apiKey: key, models: ["acme-small"], ...options }));
    this.#address = address;
  }

  protected override _getCompletionEndpoint(model: string) {
    return `${this.#address}/engines/${model}`;
  }

  protected override _buildHeaders(credential: string | undefined) {
    return { "content-type": "text/plain", "x-acme-key": `${credential}!` };
  }

  protected override _buildRequestPayload({ model, stream, body }: CompletionRequest): unknown {
    return `${model.id}|${stream}|${body.messages[0]?.content}`;
  }

  protected override _parseResponse(data: Record<string, unknown>) {
    const message = { role: "assistant", content: `${data.said}`, refusal: null } as const;
    return {
      id: "acme-1",
      object: "chat.completion" as const,
      created: 0,
      model: "acme-small",
      choices: [{ index: 0, message, finish_reason: "stop" as const, logprobs: null }],
    };
  }

  protected override _parseSseChunk(data: string) {
    if (data === "ping") return null;
    const [text, end] = data.split("|");
    const finish_reason = end === undefined ? null : "stop" as const;
    const choices = [{ index: 0, delta: { content: text }, finish_reason, logprobs: null }];
    return { id: "acme-1", object: "chat.completion.chunk" as const, created: 0, model: "acme-small", choices };
  }

  protected override _resolveUrl(url: string) {
    return `${url}?by=page`;
  }
}

describe("A subclass of BrowserBaseProvider", () => {
  it("decides on the address, the headers, the body and how a non-streaming response is read", async () => {
    await using upstream = await startUpstream(json({ said: "Hello" }));
    await using client = create("chat-completion", { providers: [new Acme(upstream.url)] });
    const { choices } = await client.chat.completions.create({ messages });
    assertEquals(choices[0]?.message.content, "Hello");
    const [request] = upstream.requests;
    assertEquals(request?.path, "/v1/engines/acme-small?by=page");
    assertEquals(request?.body, `acme-small|false|${messages[0]?.content}`);
    assertEquals(request?.headers["x-acme-key"], `${key}!`);
    assertEquals(request?.headers["content-type"], "text/plain");
    assertEquals(request?.headers.authorization, undefined);
  });

  it("decides how each event is read; null passes nothing on, a finish reason ends the stream", async () => {
    await using upstream = await startUpstream(events("ping", "Hel", "ping", "lo", "|end"));
    await using client = create("chat-completion", { providers: [new Acme(upstream.url)] });
    const stream = await client.chat.completions.create({ messages, stream: true });
    const chunks = await Array.fromAsync(stream);
    assertEquals(chunks.map(({ choices }) => choices[0]?.delta.content), ["Hel", "lo", ""]);
    assertEquals(chunks[0]?.choices[0]?.delta.role, "assistant", "what clients rely on is filled in");
    assertEquals(upstream.requests[0]?.body, `acme-small|true|${messages[0]?.content}`);
  });

  it("that reads a stream without an end gets an error", async () => {
    await using upstream = await startUpstream(events("Hel", "lo"));
    await using client = create("chat-completion", { providers: [new Acme(upstream.url, { maxRetries: 0 })] });
    const stream = await client.chat.completions.create({ messages, stream: true });
    await assertRejects(() => read(stream), Error, "ended before the response was complete");
  });

  it("that fails to read a response lets another provider serve, and shows no key", async () => {
    class Broken extends Acme {
      protected override _parseResponse(): never {
        throw new TypeError(`no "said" for ${key}`);
      }
    }
    await using first = await startUpstream(json({}));
    await using second = await startUpstream(json({ said: "Second" }));
    const providers = [new Broken(first.url, { id: "a", maxRetries: 0 }), new Acme(second.url, { id: "b" })];
    await using client = create("chat-completion", { providers });
    const { choices } = await client.chat.completions.create({ messages });
    assertEquals(choices[0]?.message.content, "Second");
    await using alone = create("chat-completion", { providers: providers.slice(0, 1) });
    const error = await assertRejects(() => alone.chat.completions.create({ messages }));
    assert(!String(error).includes(key));
  });

  it("that returns no completion has not answered", async () => {
    class Silent extends Acme {
      // @ts-expect-error plain JavaScript may return anything
      protected override _parseResponse() {}
    }
    await using upstream = await startUpstream(json({ said: "" }));
    await using client = create("chat-completion", { providers: [new Silent(upstream.url, { maxRetries: 0 })] });
    await assertRejects(() => client.chat.completions.create({ messages }), Error, "invalid_response");
  });

  it("needs to replace one hook only, as in plain JavaScript", async () => {
    await using upstream = await startUpstream(respond({ text: "Hi" }));
    const url = upstream.url;
    class OneHook extends BrowserBaseProvider {
      protected override _getCompletionEndpoint() {
        return `${url}/v2/chat`;
      }
    }
    const config = createBrowserProviderConfig({ apiKey: key, models: ["m"], authMethod: "x-api-key" });
    await using client = create("chat-completion", { providers: [new OneHook(config)] });
    await client.chat.completions.create({ messages });
    const [request] = upstream.requests;
    assertEquals(request?.path, "/v1/v2/chat");
    assertEquals([request?.headers["x-api-key"], request?.headers.authorization], [key, undefined]);
    assertEquals(client.mesh.listModels()[0]?.name, `127.0.0.1:${upstream.port}.m`);
  });
});

describe("BrowserBaseProvider", () => {
  it("passes an error in OpenAI's shape on, its wait too", async () => {
    const headers = { "retry-after": "30" };
    await using upstream = await startUpstream(
      completeResponse(429, JSON.stringify(errorBody(429)), "application/json", headers),
    );
    const provider = new BrowserBaseProvider(createBrowserProviderConfig({ baseUrl: upstream.url, models: ["m"] }));
    await using client = create("chat-completion", { providers: [provider], clock: fakeClock() });
    const error = await assertRejects(() => client.chat.completions.create({ messages }), RateLimitError);
    assertEquals(error.retryAfterMs, 30_000);
  });

  it("sends no key when there is none, and keeps one out of every error", async () => {
    await using upstream = await startUpstream([
      respond(),
      completeResponse(400, JSON.stringify(errorBody(400, { message: `Bad ${key}` })), "application/json"),
    ]);
    const bare = new BrowserBaseProvider(createBrowserProviderConfig({ baseUrl: upstream.url, models: ["m"] }));
    await using client = create("chat-completion", { providers: [bare] });
    await client.chat.completions.create({ messages });
    assertEquals(upstream.requests[0]?.headers.authorization, undefined);
    const config = createBrowserProviderConfig({ baseUrl: upstream.url, models: ["m"], apiKey: key });
    await using other = create("chat-completion", { providers: [new BrowserBaseProvider(config)] });
    const error = await assertRejects(() => other.chat.completions.create({ messages }), ProviderError);
    assertStringIncludes(String(error), "[redacted]");
    assert(!`${error}${error.stack}${JSON.stringify(other.describe())}`.includes(key));
  });

  it("says that a connection broke in the middle, not that it was blocked", async () => {
    const body = `data: ${
      JSON.stringify({ choices: [{ index: 0, delta: { content: "Hel" }, finish_reason: null }] })
    }\n\n`;
    const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n";
    await using upstream = await startUpstream(raw(head + body, "reset"));
    const provider = new BrowserBaseProvider(createBrowserProviderConfig({ baseUrl: upstream.url, models: ["m"] }));
    await using client = create("chat-completion", { providers: [provider] });
    const stream = await client.chat.completions.create({ messages, stream: true });
    await assertRejects(() => read(stream), Error, "broke in the middle");
  });
});

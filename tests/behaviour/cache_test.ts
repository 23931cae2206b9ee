/** The cache of responses: what is repeated, for whom, and what a client sees of it. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { clientDialects } from "../support/_dialect_calls.ts";
import type { Json } from "../support/_dialects.ts";
import { startTestProxy, type TestProxyOptions } from "../support/proxy.ts";
import { answer, type Behaviour, startUpstream } from "../support/upstream.ts";

/** A proxy with a cache over one provider. */
async function open(
  { behaviour = answer(), cache = {}, ...options }:
    & { readonly behaviour?: Behaviour; readonly cache?: Json }
    & Partial<TestProxyOptions> = {},
) {
  const upstream = await startUpstream(behaviour);
  const proxy = await startTestProxy({
    upstreams: { a: upstream.url },
    ...options,
    config: { cache, ...options.config },
  });
  return {
    ...proxy,
    upstream,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

/** Requests in each dialect whose responses may be repeated. */
const requests: Readonly<Record<string, Json>> = {
  chat: { model: "chat", messages: [{ role: "user", content: "Hi" }], temperature: 0 },
  messages: { model: "chat", max_tokens: 100, messages: [{ role: "user", content: "Hi" }], temperature: 0 },
  gemini: { contents: [{ role: "user", parts: [{ text: "Hi" }] }], generationConfig: { temperature: 0 } },
  responses: { model: "chat", input: "Hi", temperature: 0 },
};

async function ask(url: string, dialect: string, { stream = false, body = {}, headers = {} }: {
  readonly stream?: boolean;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
} = {}) {
  const streaming = stream && dialect !== "gemini" ? { stream } : {};
  const response = await fetch(url + clientDialects[dialect]!.path(stream), {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ ...requests[dialect], ...streaming, ...body }),
  });
  return {
    status: response.status,
    cache: response.headers.get("x-mesh-cache"),
    headers: response.headers,
    text: await response.text(),
  };
}

describe("A repeated response", () => {
  for (const dialect of Object.keys(requests)) {
    for (const stream of [false, true]) {
      it(`is that of the first request in ${dialect}, ${stream ? "streamed" : "complete"}`, async () => {
        await using proxy = await open();
        const first = await ask(proxy.url, dialect, { stream });
        const second = await ask(proxy.url, dialect, { stream });
        assertEquals([first.status, first.cache], [200, "MISS"], first.text);
        assertMatch(second.cache ?? "none", /^HIT; age=0/);
        assertEquals(second.text, first.text);
        assertEquals(proxy.upstream.requests.length, 1);
        assert(first.text !== "");
      });
    }
  }
});

/**
 * What only a native model can take, in every dialect: it goes to a native model as the client's bytes, models of other
 * APIs are out for it, and without a native model in the pool the error names the member.
 */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { toApiKey } from "../../support/_dialect_proxy.ts";
import { type Json, speaking } from "../../support/_dialects.ts";
import {
  geminiRequests,
  messagesRequests,
  type NativeOnlyRequest,
  responsesRequests,
} from "../../support/_native_only.ts";
import { respondWithResponse } from "../../support/_responses_behaviours.ts";
import { startTestProxy, type TestProxy } from "../../support/proxy.ts";
import { type Behaviour, ok, startUpstream, status, type Upstream } from "../../support/upstream.ts";

/** A dialect, and a provider that has it natively. */
interface Tried {
  readonly connector: string;
  readonly config?: Json;
  readonly model: string;
  readonly requests: readonly NativeOnlyRequest[];
  /** Members of a minimal request, and of one that is streamed. */
  readonly minimal: Json;
  readonly streamed: Json;
  /** The path of a request. */
  readonly path: (options: { readonly isStream: boolean }) => string;
  readonly answer: Behaviour;
  /** Whether the body has the model. */
  readonly namesModel: boolean;
}

const tried: Readonly<Record<string, Tried>> = {
  messages: {
    connector: speaking.anthropic.connector,
    model: speaking.anthropic.model,
    requests: messagesRequests,
    minimal: { max_tokens: 64, messages: [{ role: "user", content: "Hi" }] },
    streamed: { stream: true },
    path: () => "/v1/messages",
    answer: speaking.anthropic.respond(),
    namesModel: true,
  },
  responses: {
    connector: "openai.compatible.v1",
    config: { responses: true },
    model: "small",
    requests: responsesRequests,
    minimal: {},
    streamed: { stream: true },
    path: () => "/v1/responses",
    answer: respondWithResponse({ text: "Hi" }),
    namesModel: true,
  },
  gemini: {
    connector: speaking.gemini.connector,
    model: speaking.gemini.model,
    requests: geminiRequests,
    minimal: {},
    streamed: {},
    path: ({ isStream }) => `/v1beta/models/chat:${isStream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    answer: speaking.gemini.respond(),
    namesModel: false,
  },
};

/** A pool over scripted providers; those whose name begins with `n` are native. */
async function over(
  { connector, config, model }: Pick<Tried, "connector" | "config" | "model">,
  upstreams: Readonly<Record<string, Upstream>>,
): Promise<TestProxy> {
  const names = Object.keys(upstreams);
  const isNative = (name: string) => name.startsWith("n");
  const perName = (make: (name: string) => object) => Object.fromEntries(names.map((name) => [name, make(name)]));
  return await startTestProxy({
    upstreams: {},
    config: {
      providers: perName((name) => ({
        connector: isNative(name) ? connector : "openai.compatible.v1",
        base_url: upstreams[name]!.url,
        api_key: toApiKey(name),
        ...(isNative(name) && config !== undefined ? { config } : {}),
      })),
      models: perName((name) => ({
        provider: name,
        model: isNative(name) ? model : "small",
        capabilities: ["chat-completion"],
      })),
      pools: {
        chat: {
          models: names,
          strategy: "priority",
          model_priority: names,
          retry: { max_attempts: 0 },
          deactivation: { retry_limit: 1_000 },
        },
      },
    },
  });
}

async function post({ url }: TestProxy, path: string, body: string) {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-beta": "tomorrow-2030-12-31" },
    body,
  });
  return { status: response.status, model: response.headers.get("x-mesh-model"), text: await response.text() };
}

for (const [dialect, facts] of Object.entries(tried)) {
  const { requests, minimal, streamed, path, answer, namesModel, model } = facts;
  /** The client's text: spaces and numbers that a serializer would write in another way. */
  const written = (body: Json, name: string) => {
    const members = Object.entries({ ...(namesModel ? { model: name } : {}), ...minimal, ...body })
      .map(([key, value]) => `"${key}":${JSON.stringify(value, null, 1).replaceAll('"depth": 3', '"depth": 3.0')}`);
    return `{${members.join(",")}}`;
  };

  describe(`${dialect}: what only a native model can take`, () => {
    it("goes to the native model of a mixed pool as it came, non-streaming and streaming", async () => {
      await using chat = await startUpstream(ok());
      await using native = await startUpstream(answer);
      await using proxy = await over(facts, { chat, native });
      for (const { name, body } of requests) {
        for (const isStream of [false, true]) {
          const asked = { ...body, ...(isStream ? streamed : {}) };
          const { status: code, model: served, text } = await post(proxy, path({ isStream }), written(asked, "chat"));
          assertEquals([name, code, served], [name, 200, "native"], text);
          assertEquals(native.requests.at(-1)!.body, written(asked, model), name);
        }
      }
      assertEquals(chat.calls, 0);
    });

    it("goes on to the next native model when one fails, and to no other", async () => {
      await using down = await startUpstream(status(503));
      await using chat = await startUpstream(ok());
      await using fine = await startUpstream(answer);
      await using proxy = await over(facts, { native: down, chat, next: fine });
      for (const { name, body } of requests) {
        for (const isStream of [false, true]) {
          const asked = { ...body, ...(isStream ? streamed : {}) };
          const { status: code, model: served } = await post(proxy, path({ isStream }), written(asked, "chat"));
          assertEquals([name, code, served], [name, 200, "next"]);
          assertEquals(fine.requests.at(-1)!.body, written(asked, model), name);
          assertEquals(down.requests.at(-1)!.body, fine.requests.at(-1)!.body, name);
        }
      }
      assertEquals([down.calls, chat.calls, fine.calls], [2 * requests.length, 0, 2 * requests.length]);
    });

    it("is refused, with the member's name, where no model of the pool is native", async () => {
      await using chat = await startUpstream(ok());
      await using proxy = await over(facts, { chat });
      for (const { name, body, param } of requests) {
        for (const isStream of [false, true]) {
          const asked = { ...body, ...(isStream ? streamed : {}) };
          const { status: code, text } = await post(proxy, path({ isStream }), written(asked, "chat"));
          assertEquals([name, code], [name, 400], text);
          const { error } = JSON.parse(text);
          assertStringIncludes(error.message, `"${param}"`, name);
          if ("param" in error) assertEquals([error.param, error.code], [param, "unsupported_by_pool"], name);
        }
      }
      assertEquals(chat.calls, 0);
    });
  });
}

describe("POST /v1/messages/count_tokens", () => {
  it("counts what only a native model can take", async () => {
    await using chat = await startUpstream(ok());
    await using native = await startUpstream(tried.messages!.answer);
    await using proxy = await over(tried.messages!, { chat, native });
    const { minimal } = tried.messages!;
    for (const { name, body } of messagesRequests) {
      const { max_tokens: _, ...asked } = { ...minimal, ...body } as Json;
      const { status: code, text } = await post(
        proxy,
        "/v1/messages/count_tokens",
        JSON.stringify({ model: "chat", ...asked }),
      );
      assertEquals([name, code], [name, 200], text);
      assertMatch(text, /^\{"input_tokens":[1-9]\d*\}$/, name);
    }
    const paths = new Set(native.requests.map(({ path }) => path));
    assertEquals([chat.calls, [...paths]], [0, ["/v1/messages/count_tokens"]]);
  });
});

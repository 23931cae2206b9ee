/**
 * What the official `openai` package throws, and when it tries again.
 */
import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import OpenAI from "openai";
import { dialects, speaking } from "../../support/_dialects.ts";
import { createSdk, startDialectProxy } from "../../support/_dialect_proxy.ts";
import { startTestProxy, type TestProxy, type TestProxyOptions } from "../../support/proxy.ts";
import { assertMatchesSchema } from "../../support/schema.ts";
import {
  type Behaviour,
  cutAt,
  hang,
  ok,
  startUpstream,
  status,
  stream,
  type Upstream,
} from "../../support/upstream.ts";

const ask = { model: "chat", messages: [{ role: "user" as const, content: "Hi" }] };
const onlyOnce = { retry: { max_attempts: 0 } };

/** What a call throws, its body checked against OpenAI's schema. */
async function catchError(call: () => PromiseLike<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  const error = await assertRejects(call, OpenAI.APIError);
  assertMatchesSchema("ErrorResponse", { error: error.error });
  return error;
}

async function readAll(chunks: AsyncIterable<OpenAI.ChatCompletionChunk>): Promise<string> {
  let text = "";
  for await (const { choices } of chunks) text += choices[0]?.delta.content ?? "";
  return text;
}

interface Row {
  readonly name: string;
  readonly script?: Behaviour;
  readonly proxy?: Omit<TestProxyOptions, "upstreams">;
  readonly request?: object;
  /** What happens before the request, or while it waits. */
  readonly before?: (proxy: TestProxy) => unknown;
  readonly during?: (proxy: TestProxy, upstream: Upstream) => unknown;
  readonly type: abstract new (...args: never[]) => Error;
  readonly is: readonly [status: number, type: string, code: string, param: string | null];
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly message?: string;
  readonly calls: number;
}

const noWait = { "retry-after": null, "x-should-retry": "false" };
const theirs = { message: "No such thing as 9", type: "invalid_request_error", param: "temperature", code: "too_hot" };

const rows: readonly Row[] = [
  {
    name: "a token that is not accepted",
    proxy: { tokens: ["right"] },
    type: OpenAI.AuthenticationError,
    is: [401, "invalid_request_error", "invalid_api_key", null],
    headers: { "www-authenticate": "Bearer" },
    calls: 0,
  },
  {
    name: "a model that does not exist",
    request: { model: "chad" },
    type: OpenAI.NotFoundError,
    is: [404, "invalid_request_error", "model_not_found", "model"],
    message: '404 The model or pool "chad" does not exist; did you mean "chat"',
    calls: 0,
  },
  {
    name: "a request without messages",
    request: { messages: undefined },
    type: OpenAI.BadRequestError,
    is: [400, "invalid_request_error", "missing_required_parameter", "messages"],
    calls: 0,
  },
  {
    name: "a request that the provider refuses",
    script: status(400, { error: theirs }),
    type: OpenAI.BadRequestError,
    is: [400, "invalid_request_error", "too_hot", "temperature"],
    message: "400 No such thing as 9",
    calls: 1,
  },
  {
    name: "a request that the provider cannot process",
    script: status(422, { error: theirs }),
    type: OpenAI.UnprocessableEntityError,
    is: [422, "invalid_request_error", "too_hot", "temperature"],
    calls: 1,
  },
  {
    name: "a rate limit that ends soon",
    script: status(429, { headers: { "retry-after": "30" } }),
    type: OpenAI.RateLimitError,
    is: [429, "rate_limit_error", "rate_limit_exceeded", null],
    headers: { "retry-after": "30", "retry-after-ms": "30000", "x-should-retry": null },
    calls: 1,
  },
  {
    name: "a rate limit that ends late",
    script: status(429, { headers: { "retry-after": "120" } }),
    type: OpenAI.RateLimitError,
    is: [429, "rate_limit_error", "rate_limit_exceeded", null],
    headers: { "retry-after": "120", "retry-after-ms": "120000", "x-should-retry": "false" },
    calls: 1,
  },
  {
    name: "a quota that is exhausted",
    script: status(429, { error: { type: "insufficient_quota", code: "insufficient_quota" } }),
    type: OpenAI.RateLimitError,
    is: [429, "insufficient_quota", "insufficient_quota", null],
    headers: { "x-should-retry": "false" },
    calls: 1,
  },
  {
    name: "a provider that fails at every try",
    script: status(500),
    type: OpenAI.InternalServerError,
    is: [502, "server_error", "all_attempts_failed", null],
    headers: noWait,
    calls: 3,
  },
  {
    name: "a provider that refuses our own key",
    script: status(401, { error: { message: "Incorrect API key provided: key-of-one-0123456789" } }),
    type: OpenAI.InternalServerError,
    is: [502, "server_error", "upstream_auth_error", null],
    headers: noWait,
    calls: 1,
  },
  {
    name: "a pool that rests",
    script: status(500),
    proxy: { pool: { ...onlyOnce, deactivation: { retry_limit: 1 } } },
    before: async (proxy) => await (await proxy.chat()).body?.cancel(),
    type: OpenAI.InternalServerError,
    is: [503, "server_error", "no_active_model", null],
    headers: { "retry-after": "60", "retry-after-ms": "60000", "x-should-retry": null },
    calls: 1,
  },
  {
    name: "a provider that does not answer within the deadline",
    script: hang(),
    proxy: { config: { proxy: { request_timeout: "5s" } } },
    during: async (proxy, upstream) => {
      await upstream.received(1);
      await proxy.clock.advance(5_000);
    },
    type: OpenAI.InternalServerError,
    is: [504, "server_error", "timeout", null],
    calls: 1,
  },
];

describe("The openai package throws the class that fits, streaming or not", () => {
  for (const row of rows) {
    it(row.name, async () => {
      for (const isStream of [false, true]) await checkRow(row, isStream);
    });
  }

  it("a path that does not exist", async () => {
    await using proxy = await startTestProxy({ upstreams: { one: "http://127.0.0.1:9/v1" } });
    const error = await catchError(() => createSdk(proxy).get("/nope"));
    assertInstanceOf(error, OpenAI.NotFoundError);
    assertEquals([error.status, error.code], [404, "unknown_url"]);
  });
});

async function checkRow({ script = ok(), proxy: options, request, ...row }: Row, isStream: boolean): Promise<void> {
  await using upstream = await startUpstream(script);
  await using proxy = await startTestProxy({ ...options, upstreams: { one: upstream.url } });
  await row.before?.(proxy);
  const body = { ...ask, stream: isStream, ...request };
  const failed = catchError(() => createSdk(proxy).chat.completions.create(body));
  await row.during?.(proxy, upstream);
  const error = await failed;
  assertInstanceOf(error, row.type);
  assertEquals([error.status, error.type, error.code, error.param], [...row.is]);
  assert(error.message.startsWith(row.message ?? String(row.is[0])), error.message);
  assert(!error.message.includes("key-of-"), error.message);
  for (const [name, value] of Object.entries(row.headers ?? {})) {
    assertEquals(error.headers?.get(name) ?? null, value, name);
  }
  assertEquals(error.requestID, error.headers?.get("x-request-id"));
  assertEquals(error.requestID?.length, 36);
  assertEquals(upstream.calls, row.calls);
}

for (const dialect of dialects) {
  const { respond: answer, eventsToContent } = speaking[dialect];

  describe(`A stream of the ${dialect} dialect that does not reach its end always throws`, () => {
    const interrupted = async (script: Behaviour, what: string): Promise<void> => {
      await using upstream = await startUpstream(script);
      await using proxy = await startDialectProxy({ one: { dialect, url: upstream.url } });
      const chunks = await createSdk(proxy).chat.completions.create({ ...ask, stream: true });
      const error = await assertRejects(() => readAll(chunks), OpenAI.APIError, undefined, what);
      assertEquals([error.code, error.type, error.status], ["stream_interrupted", "server_error", undefined], what);
      assertMatchesSchema("ErrorResponse", { error: error.error });
      assertEquals(upstream.calls, 1, what);
    };

    it("when the provider says an error midway", () => interrupted(answer({ failsAfter: eventsToContent }), "error"));

    it("when it breaks off after any event, however the connection ends", async () => {
      for (let after = eventsToContent; after < eventsToContent + 4; after++) {
        for (const how of ["end", "close", "reset"] as const) {
          await interrupted(answer({ cut: { after, how } }), `${how} after ${after}`);
        }
      }
    });
  });
}

describe("A stream that breaks off in the middle of an event", () => {
  it("throws wherever it was cut after the first content", async () => {
    const pieces = Array.from({ length: 12 }, (_, index) => `word${index} `);
    await using upstream = await startUpstream(ok());
    const pool = { deactivation: { retry_limit: 100 } };
    await using proxy = await startTestProxy({ upstreams: { one: upstream.url }, pool });
    for (let at = 700; at < 2_200; at += 107) {
      upstream.follow(cutAt(stream({ pieces }), at, at % 2 === 0 ? "close" : "reset"));
      const chunks = await createSdk(proxy).chat.completions.create({ ...ask, stream: true });
      const error = await assertRejects(() => readAll(chunks), OpenAI.APIError, undefined, `at ${at}`);
      assertEquals(error.code, "stream_interrupted");
    }
  });
});

/** Sees how long the package sleeps, until it is disposed of. */
function recordSleeps(): Disposable & { readonly ms: readonly number[] } {
  const sleeps: number[] = [];
  const { setTimeout } = globalThis;
  const recording = (task: () => void, ms = 0) => {
    if (/openai\S*sleep/.test(new Error().stack ?? "")) sleeps.push(ms);
    return setTimeout(task, ms);
  };
  globalThis.setTimeout = recording as typeof setTimeout;
  return { ms: sleeps, [Symbol.dispose]: () => void (globalThis.setTimeout = setTimeout) };
}

describe("The openai package with its two retries", () => {
  it("sends one request only when another try is pointless", async () => {
    for (const script of [status(500), status(401), status(429, { headers: { "retry-after": "90" } })]) {
      await using upstream = await startUpstream(script);
      await using proxy = await startTestProxy({ upstreams: { one: upstream.url }, pool: onlyOnce });
      await catchError(() => createSdk(proxy, { maxRetries: 2 }).chat.completions.create(ask));
      assertEquals(upstream.calls, 1);
      assertEquals(proxy.records.filter(({ type }) => type === "routing").length, 1);
    }
  });

  it("waits as long as it is asked to, and no longer, before it tries again", async () => {
    await using upstream = await startUpstream([status(429, { headers: { "retry-after-ms": "5" } }), ok()]);
    await using proxy = await startTestProxy({ upstreams: { one: upstream.url }, pool: onlyOnce });
    const statuses: number[] = [];
    using sleeps = recordSleeps();
    const fetcher: typeof fetch = async (...request) => {
      if (statuses.length > 0) await proxy.clock.advance(5);
      const response = await fetch(...request);
      statuses.push(response.status);
      return response;
    };
    const answer = await createSdk(proxy, { maxRetries: 2, fetch: fetcher }).chat.completions.create(ask);
    assertEquals([answer.choices[0]!.message.content, statuses, upstream.calls], ["Hello world", [429, 200], 2]);
    assertEquals(sleeps.ms, [5]); // left alone it would choose 375 to 500 ms
  });
});

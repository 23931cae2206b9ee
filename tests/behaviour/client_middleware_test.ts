import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  type ChatCompletion,
  type ChatStream,
  DeadlineError,
  type Middleware,
  ModelNotFoundError,
  ProviderError,
  routingOf,
  UnsupportedRequestError,
} from "../../mod.ts";
import { assertClosesAtOnce, clientOver, getText, messages, type TestClient } from "../support/_library.ts";
import { fakeClock, settle } from "../../src/runtime/test.ts";
import { until } from "../support/patience.ts";
import { Gate, hang, ok, refusingUrl, reset, respond, startUpstream, status, stream } from "../support/upstream.ts";

/** A response that no provider gave. */
const replacement: ChatCompletion = {
  id: "own",
  object: "chat.completion",
  created: 0,
  model: "own",
  choices: [{
    index: 0,
    message: { role: "assistant", content: "Own", refusal: null },
    finish_reason: "stop",
    logprobs: null,
  }],
};

function over(url: string, ...middleware: Middleware[]): TestClient {
  return clientOver({ upstreams: { alpha: url }, options: { middleware } });
}

async function read(stream: ChatStream): Promise<string> {
  let text = "";
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
  return text;
}

describe("Middleware", () => {
  it("sees request and response with the request's id, and changes nothing by returning nothing", async () => {
    await using upstream = await startUpstream(ok());
    const seen: unknown[] = [];
    await using one = over(upstream.url, {
      beforeRequest: (request, { requestId }) => void seen.push(["before", request.messages, requestId]),
      afterResponse: (response, { requestId }) =>
        void seen.push(["after", getText(response as ChatCompletion), requestId]),
      onError: () => void seen.push("error"),
    });
    const settings = { headers: { "x-request-id": "r-1" } };
    assertEquals(getText(await one.client.chat.completions.create({ messages }, settings)), "Hello world");
    assertEquals(seen, [["before", messages, "r-1"], ["after", "Hello world", "r-1"]]);
  });

  it("may be one object instead of a list, and may be asynchronous", async () => {
    await using upstream = await startUpstream(ok());
    await using one = clientOver({
      upstreams: { alpha: upstream.url },
      options: { middleware: { afterResponse: () => Promise.resolve(replacement) } },
    });
    assertStrictEquals(await one.client.chat.completions.create({ messages }), replacement);
  });

  it("replaces the request, its model too", async () => {
    await using upstream = await startUpstream(respond());
    await using one = clientOver({
      upstreams: { alpha: upstream.url, beta: upstream.url },
      options: { middleware: { beforeRequest: (request) => ({ ...request, model: "beta", seed: 7 }) } },
    });
    await one.client.chat.completions.create({ messages });
    assertEquals(upstream.requests[0]?.json(), { model: "beta", messages, seed: 7 });
  });

  it("replaces a stream as well as a non-streaming response", async () => {
    const gate = new Gate();
    gate.open(2); // the first one is still going on
    await using upstream = await startUpstream(stream({ gate }));
    await using other = await startUpstream(stream({ text: "Another one" }));
    await using source = clientOver({ upstreams: { beta: other.url } });
    await using one = over(upstream.url, {
      async afterResponse(response) {
        (response as ChatStream).cancel();
        return await source.client.chat.completions.create({ messages, stream: true });
      },
    });
    assertEquals(await read(await one.client.chat.completions.create({ messages, stream: true })), "Another one");
    await assertClosesAtOnce(upstream.requests[0]);
  });

  it("is called in the order given, each with what the one before left", async () => {
    await using upstream = await startUpstream(ok());
    const named = (name: string): Middleware => ({
      beforeRequest: (request) => ({ ...request, user: `${request.user ?? ""}${name}` }),
      afterResponse: (response) => ({ ...response as ChatCompletion, id: `${(response as ChatCompletion).id}${name}` }),
    });
    await using one = over(upstream.url, named("1"), {}, named("2"));
    assertEquals((await one.client.chat.completions.create({ messages })).id, "chatcmpl-scripted12");
    assertEquals(upstream.requests[0]?.json().user, "12");
  });

  it("turns an error into a response, or lets it go on to the next, and in the end to the caller", async () => {
    await using upstream = await startUpstream(status(401));
    const seen: unknown[] = [];
    const passes: Middleware = { onError: (error) => void seen.push(error) };
    await using saved = over(upstream.url, passes, { onError: () => replacement }, passes);
    assertStrictEquals(await saved.client.chat.completions.create({ messages }), replacement);
    assertEquals([seen.length, ProviderError.isInstance(seen[0])], [1, true]);
    await using lost = over(upstream.url, passes, passes);
    const error = await assertRejects(() => lost.client.chat.completions.create({ messages }), ProviderError);
    assertEquals([seen.length, seen[1] === error, seen[2] === error], [3, true, true]);
  });

  it("hears of its own errors and of requests that are refused, and its own error is what is thrown", async () => {
    const url = await refusingUrl();
    const seen: unknown[] = [];
    const own = new RangeError("own");
    const fail = () => {
      throw own;
    };
    const listens: Middleware = { onError: (error) => void seen.push(error) };
    await using early = over(url, { beforeRequest: fail }, listens);
    assertStrictEquals(await early.client.chat.completions.create({ messages }).catch((error) => error), own);
    await using refused = over(url, listens);
    const error = await assertRejects(() => refused.client.chat.completions.create({ messages: [] }));
    assertEquals([seen.length, seen[0] === own, seen[1] === error], [2, true, true]);
    assert(UnsupportedRequestError.isInstance(error));
    await using twice = over(url, { beforeRequest: () => Promise.reject(new Error("first")), onError: fail });
    assertStrictEquals(await twice.client.chat.completions.create({ messages }).catch((error) => error), own);
  });
});

describe("routingOf()", () => {
  const facts = {
    type: "routing",
    request_id: "r-1",
    operation: "chat",
    pool: "chat",
    delivery: "sync",
    attempts: 2,
  } as const;
  const chain = [
    { model: "alpha", provider: "alpha", outcome: "auth", status: 401, error: "Scripted 401", ms: 0 },
    { model: "beta", provider: "beta", outcome: "ok", ms: 0 },
  ];

  it("gives the decision behind a response and a stream, which stay as they are", async () => {
    await using alpha = await startUpstream(status(401));
    await using beta = await startUpstream(respond());
    for (const streamed of [false, true]) {
      await using one = clientOver({ upstreams: { alpha: alpha.url, beta: beta.url } });
      const settings = { headers: { "x-request-id": "r-1" } };
      const response = await one.client.chat.completions.create({ messages, stream: streamed }, settings);
      const record = routingOf(response)!;
      const routings = () => one.records.filter(({ type }) => type === "routing");
      assertEquals(routings().length, streamed ? 0 : 1, "it is emitted when the request is over");
      if ("cancel" in response) (response as ChatStream).cancel();
      assertEquals(record, {
        ...facts,
        delivery: streamed ? "stream" : "sync",
        timestamp: "2026-01-01T00:00:00.000Z",
        capability: "generation.text-generation.chat-completion",
        model: "beta",
        provider: "beta",
        replaced_provider: "alpha",
        rotation_reason: "auth",
        // a stream that is cancelled did not reach its end
        fallback_chain: streamed ? [...chain.slice(0, -1), { ...chain.at(-1)!, outcome: "aborted" }] : chain,
        routing_latency_ms: 0,
        status: streamed ? 499 : 200,
        duration_ms: 0,
        ...(streamed
          ? { ttft_ms: 0, estimated: true, tokens_in: record.tokens_in!, tokens_out: record.tokens_out! } // it was cut
          : { tokens_in: 10, tokens_out: 5 }),
      });
      assertEquals(routings(), [record]);
      assert(!JSON.stringify(response).includes("fallback_chain"));
    }
  });

  it("gives the decision behind an error", async () => {
    await using alpha = await startUpstream(status(401));
    await using one = clientOver({ upstreams: { alpha: alpha.url } });
    const error = await assertRejects(() => one.client.chat.completions.create({ messages }), ProviderError);
    const record = routingOf(error)!;
    assertEquals([record.request_id, record.model, record.fallback_chain], [error.requestId, "alpha", [chain[0]]]);
  });

  it("reports a call that may have been billed although it failed", async () => {
    await using broken = await startUpstream([reset(), hang()]);
    await using one = clientOver({ upstreams: { alpha: broken.url }, pool: { retry: { max_attempts: 0 } } });
    const lost = await assertRejects(() => one.client.chat.completions.create({ messages }), ProviderError);
    const call = assertRejects(
      () => one.client.chat.completions.create({ messages }, { timeout: 1000 }),
      DeadlineError,
    );
    await broken.received(2);
    await one.clock.advance(1000);
    for (const error of [lost, await call]) {
      const { attempts, possibly_billed } = routingOf(error)!;
      assertEquals([attempts, possibly_billed], [1, true], error.name);
    }
  });

  it("knows nothing of anything else", async () => {
    await using one = clientOver({ upstreams: { alpha: await refusingUrl() } });
    const error = await assertRejects(
      () => one.client.chat.completions.create({ model: "?", messages }),
      ModelNotFoundError,
    );
    for (const value of [error, {}, replacement]) assertEquals(routingOf(value), undefined);
  });
});

describe("The timeout of a call", () => {
  /** A client whose clock stands still. */
  const over = (url: string, middleware: Middleware, clock = fakeClock()) =>
    clientOver({ upstreams: { alpha: url }, clock, options: { middleware } });
  const hangs = (): never => new Promise(() => {}) as never;
  /** Where middleware hangs, and how often the provider is asked. */
  const places: readonly (readonly [name: string, middleware: Middleware, calls: number])[] = [
    ["beforeRequest", { beforeRequest: hangs }, 0],
    ["afterResponse", { afterResponse: hangs }, 1],
    ["onError", { afterResponse: () => Promise.reject(new Error("lost")), onError: hangs }, 1],
  ];
  for (const [name, middleware, calls] of places) {
    it(`ends the wait for a ${name} that hangs, and so does its signal`, async () => {
      await using upstream = await startUpstream(ok());
      await using one = over(upstream.url, middleware);
      await one.client.ready();
      const headers = { "x-request-id": "r-1" };
      const called = one.client.chat.completions.create({ messages }, { timeout: 5_000, headers });
      called.catch(() => {});
      await until(() => upstream.calls === calls && one.clock.pending > 0);
      await one.clock.advance(4_999);
      assertEquals(await Promise.race([called, settle().then(() => "waits")]), "waits");
      await one.clock.advance(1);
      const error = await assertRejects(() => called, DeadlineError, "5000 ms");
      assertEquals([error.code, error.requestId], ["timeout", "r-1"]);
      const stop = new AbortController();
      const other = one.client.chat.completions.create({ messages }, { signal: stop.signal });
      other.catch(() => {});
      await until(() => upstream.calls === 2 * calls);
      stop.abort(new Error("left"));
      await assertRejects(() => other, Error, "left");
      assertEquals(one.clock.pending, 0);
    });
  }

  it("is one for middleware and request together", async () => {
    await using upstream = await startUpstream(hang());
    const clock = fakeClock();
    await using one = over(upstream.url, { beforeRequest: () => clock.sleep(3_000) }, clock);
    await one.client.ready();
    const called = one.client.chat.completions.create({ messages }, { timeout: 5_000 });
    called.catch(() => {});
    await one.clock.advance(3_000);
    await until(() => upstream.calls === 1);
    await one.clock.advance(1_999);
    assertEquals(await Promise.race([called, settle().then(() => "waits")]), "waits");
    await one.clock.advance(1);
    await assertRejects(() => called, DeadlineError);
  });

  it("lets an onError that answers at once replace what came too late", async () => {
    await using upstream = await startUpstream(hang());
    await using one = over(upstream.url, { onError: () => replacement });
    await one.client.ready();
    const called = one.client.chat.completions.create({ messages }, { timeout: 5_000 });
    await until(() => upstream.calls === 1);
    await one.clock.advance(5_000);
    assertStrictEquals(await called, replacement);
  });
});

import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  type ChatCompletionRequest,
  create,
  DeadlineError,
  MeshError,
  NoActiveModelError,
  ProviderError,
  UnsupportedRequestError,
} from "../../mod.ts";
import { assertClosesAtOnce, clientOver, fakeClock, getText, messages, type TestClient } from "../support/_library.ts";
import { Gate, hang, json, refusingUrl, respond, startUpstream, status, stream } from "../support/upstream.ts";

/** A request in which nothing can be changed. */
function frozenRequest(): ChatCompletionRequest & { stream?: null } {
  const message = Object.freeze({ role: "user", content: "Hi" });
  return Object.freeze({ model: "chat", max_tokens: 5, mesh: {}, messages: Object.freeze([message]) as never });
}

/** In standby at its first failure, so that a miscounted abort shows. */
const strict = { deactivation: { retry_limit: 1 }, retry: { max_attempts: 0 } };

function assertNoModelIsBlamed({ client, records }: TestClient): void {
  assertEquals(client.mesh.poolStatus().chat?.standby, 0);
  assertEquals(records.filter(({ type }) => type === "event"), []);
}

describe("client.chat.completions.create()", () => {
  it("answers as the provider did, from the client's pool or the one named", async () => {
    const message = { role: "assistant", content: "Ahoy", refusal: null, odd: 1 };
    const completion = {
      id: "1",
      object: "chat.completion",
      created: 1,
      model: "m-1",
      choices: [{ index: 0, message, finish_reason: "stop", logprobs: null }],
      extra: [1],
    };
    await using upstream = await startUpstream(json(completion));
    await using one = clientOver({ upstreams: { alpha: upstream.url } });
    for (const model of [{}, { model: "chat" }]) {
      assertEquals<unknown>(await one.client.chat.completions.create({ ...model, messages }), completion);
    }
    assertEquals(upstream.requests.map((request) => request.json()), [
      { model: "alpha", messages },
      { model: "alpha", messages },
    ]);
  });

  it("leaves the request as it was", async () => {
    await using upstream = await startUpstream(respond());
    await using one = clientOver({
      upstreams: { alpha: upstream.url },
      config: {
        models: { alpha: { provider: "alpha", parameters: { rename: { max_tokens: "max_completion_tokens" } } } },
      },
    });
    assertEquals(getText(await one.client.chat.completions.create(frozenRequest())), "Hello world");
    assertEquals(upstream.requests[0]?.json(), { model: "alpha", messages, max_completion_tokens: 5 });
  });

  it("sends neither routing fields nor a caller's own target or key", async () => {
    await using upstream = await startUpstream(respond());
    await using one = clientOver({ upstreams: { alpha: upstream.url } });
    const smuggled = { mesh: {}, api_key: "k", api_base: "http://x", base_url: "http://x", extra_headers: { a: "b" } };
    const ofVendor = { vendor_field: { deep: true } }; // what no type names comes by a spread
    await one.client.chat.completions.create({ ...smuggled, messages, seed: 7, ...ofVendor });
    assertEquals(upstream.requests[0]?.json(), { model: "alpha", messages, seed: 7, vendor_field: { deep: true } });
  });

  const malformed: readonly (readonly [body: unknown, code: string, param: string | null])[] = [
    [null, "invalid_value", null],
    [[], "invalid_value", null],
    [{}, "missing_required_parameter", "messages"],
    [{ messages: [] }, "invalid_value", "messages"],
    [{ messages: "Hi" }, "invalid_value", "messages"],
    [{ messages: [{ content: "Hi" }] }, "missing_required_parameter", "messages[0].role"],
    [{ messages: [{ role: "user", content: 1 }] }, "invalid_value", "messages[0].content"],
    [{ messages, model: 1 }, "invalid_value", "model"],
    [{ messages, model: " " }, "invalid_value", "model"],
    [{ messages, stream: "yes" }, "invalid_value", "stream"],
    [{ messages, temperature: "hot" }, "invalid_value", "temperature"],
    [{ messages, tools: {} }, "invalid_value", "tools"],
  ];
  for (const [body, code, param] of malformed) {
    it(`refuses ${JSON.stringify(body)} without asking anybody`, async () => {
      await using one = clientOver({ upstreams: { alpha: await refusingUrl() } });
      const call = () => one.client.chat.completions.create(body as ChatCompletionRequest);
      const error = await assertRejects(call, UnsupportedRequestError);
      assertEquals([error.code, error.param], [code, param]);
      assertEquals(one.records, []);
    });
  }

  const ids: readonly (readonly [header: string, value: string, kept: boolean])[] = [
    ["x-request-id", "mine-1", true],
    ["X-Request-ID", "mine-2", true],
    ["x-request-id", "no good", false],
    ["x-request-id", "x".repeat(129), false],
  ];
  for (const [header, value, kept] of ids) {
    it(`${kept ? "keeps" : "replaces"} the request id ${header}: ${value.slice(0, 20)}`, async () => {
      await using upstream = await startUpstream(status(400));
      await using one = clientOver({ upstreams: { alpha: upstream.url } });
      const call = () => one.client.chat.completions.create({ messages }, { headers: { [header]: value } });
      const { requestId = "" } = await assertRejects(call, ProviderError);
      if (kept) assertEquals(requestId, value);
      else assert(/^[0-9a-f-]{36}$/.test(requestId), requestId);
      assertEquals(one.records.map((record) => record.type === "routing" ? record.request_id : ""), [requestId]);
    });
  }

  it("throws the proxy's error table as classes: a fault of the request, all failed, all in standby", async () => {
    await using upstream = await startUpstream([
      status(422, { error: { message: "Too hot", code: "hot", param: "temperature" } }),
      status(401),
    ]);
    await using one = clientOver({ upstreams: { alpha: upstream.url }, pool: strict });
    const call = () => one.client.chat.completions.create({ messages });
    const fault = await assertRejects(call, ProviderError);
    assertEquals([fault.status, fault.code, fault.param, fault.message], [422, "hot", "temperature", "Too hot"]);
    const refused = await assertRejects(call, ProviderError);
    assertEquals([refused.status, refused.code, refused.provider], [502, "upstream_auth_error", "alpha"]);
    assertEquals(refused.attempts, [{ model: "alpha", provider: "alpha", kind: "auth", status: 401 }]);
    const inStandby = await assertRejects(call, NoActiveModelError);
    assertEquals([inStandby.retryAfterMs, inStandby.reasons], [60_000, { alpha: "retry_limit" }]);
    assertStringIncludes(inStandby.message, "60 s");
  });
});

describe("The signal of a call", () => {
  it("that is aborted already sends nothing, and its reason is thrown", async () => {
    await using upstream = await startUpstream(respond());
    await using one = clientOver({ upstreams: { alpha: upstream.url }, pool: strict });
    const reason = new Error("changed my mind");
    for (const streamed of [false, true]) {
      const call = one.client.chat.completions.create({ messages, stream: streamed }, {
        signal: AbortSignal.abort(reason),
      });
      assertStrictEquals(await call.catch((error) => error), reason);
    }
    assertEquals(upstream.calls, 0);
    assertNoModelIsBlamed(one);
  });

  for (const streamed of [false, true]) {
    it(`ends a ${streamed ? "streaming" : "whole"} call that waits for its provider, at once and without blame`, async () => {
      await using upstream = await startUpstream(hang());
      await using one = clientOver({ upstreams: { alpha: upstream.url, beta: upstream.url }, pool: strict });
      const controller = new AbortController();
      const { signal } = controller;
      const call = one.client.chat.completions.create({ messages, stream: streamed }, { signal });
      const request = await upstream.received(1);
      controller.abort("any value will do");
      assertEquals(await call.catch((error) => error), "any value will do");
      await assertClosesAtOnce(request);
      assertEquals(upstream.calls, 1);
      assertNoModelIsBlamed(one);
    });
  }

  it("ends the wait before a retry", async () => {
    await using upstream = await startUpstream(status(500));
    const clock = fakeClock();
    await using one = clientOver({ upstreams: { alpha: upstream.url }, clock });
    const controller = new AbortController();
    const call = one.client.chat.completions.create({ messages }, { signal: controller.signal });
    while (clock.sleeps.length === 0) await clock.advance(0);
    controller.abort();
    assertStrictEquals(await call.catch((error) => error), controller.signal.reason);
    assertEquals(upstream.calls, 1);
    assertNoModelIsBlamed(one);
  });

  it("ends a stream midway, read or not, with its reason and without blame", async () => {
    for (const isReading of [true, false]) {
      const gate = new Gate();
      await using upstream = await startUpstream(stream({ gate }));
      await using one = clientOver({ upstreams: { alpha: upstream.url }, pool: strict });
      const controller = new AbortController();
      gate.open(2);
      const { signal } = controller;
      const answer = await one.client.chat.completions.create({ messages, stream: true }, { signal });
      const chunks = answer[Symbol.asyncIterator]();
      for (let place = 0; place < 2; place++) assertEquals((await chunks.next()).done, false);
      const early = isReading ? chunks.next() : undefined;
      controller.abort();
      assertStrictEquals(await (early ?? chunks.next()).catch((error) => error), signal.reason);
      await assertClosesAtOnce(upstream.requests[0]);
      assertEquals((await chunks.next()).done, true);
      assertNoModelIsBlamed(one);
    }
  });

  it("and the time limit hold while the client gets ready", async () => {
    for (const settings of [{ signal: AbortSignal.abort("left") }, { timeout: 1000 }]) {
      await using silent = await startUpstream(hang());
      const clock = fakeClock();
      const client = create("chat-completion", { env: { OLLAMA_HOST: silent.url }, clock });
      const ready = client.ready();
      await silent.received(1);
      let thrown: unknown;
      const call = client.chat.completions.create({ messages }, settings).catch((error) => thrown = error);
      await clock.advance(1000);
      assert(thrown === "left" || DeadlineError.isInstance(thrown), `threw ${thrown}`);
      await clock.advance(10_000);
      await Promise.all([ready, call]);
      await client.close();
    }
  });
});

describe("The time limit of a call", () => {
  const limits: readonly (readonly [timeout: number, requestTimeout: string, limit: number])[] = [
    [1000, "60s", 1000],
    [60_000, "2s", 2000],
  ];
  for (const [timeout, requestTimeout, limit] of limits) {
    it(`is the lesser of ${timeout} ms and the configuration's ${requestTimeout}`, async () => {
      await using upstream = await startUpstream(hang());
      const clock = fakeClock();
      await using one = clientOver({
        upstreams: { alpha: upstream.url },
        config: { proxy: { request_timeout: requestTimeout } },
        clock,
      });
      let isOver = false;
      const call = assertRejects(() => one.client.chat.completions.create({ messages }, { timeout }), DeadlineError);
      const end = call.finally(() => isOver = true);
      const request = await upstream.received(1);
      await clock.advance(limit - 1);
      assertEquals(isOver, false);
      await clock.advance(1);
      const error = await end;
      assertEquals(error.code, "timeout");
      assert(error.requestId !== undefined);
      await assertClosesAtOnce(request);
    });
  }

  it("has to be a number of 1 ms or more", async () => {
    await using upstream = await startUpstream(respond());
    await using one = clientOver({ upstreams: { alpha: upstream.url } });
    for (const timeout of [0, -1, 0.5, NaN, "1000", null, {}]) {
      const settings = { timeout } as { timeout: number };
      const call = () => one.client.chat.completions.create({ messages }, settings);
      const error = await assertRejects(call, UnsupportedRequestError, undefined, String(timeout));
      assertEquals([error.code, error.param], ["invalid_value", "timeout"]);
      assertEquals(error.message, '"timeout" has to be a number of milliseconds, at least 1');
    }
    assertEquals(upstream.calls, 0);
    for (const timeout of [undefined, 60_000, Infinity]) {
      await one.client.chat.completions.create({ messages }, { timeout } as { timeout: number });
    }
  });

  it("does not bound a stream whose content has begun", async () => {
    const gate = new Gate();
    await using upstream = await startUpstream(stream({ gate }));
    const clock = fakeClock();
    await using one = clientOver({ upstreams: { alpha: upstream.url }, clock });
    gate.open(2);
    const answer = await one.client.chat.completions.create({ messages, stream: true }, { timeout: 1000 });
    await clock.advance(5000);
    gate.openAll();
    let text = "";
    for await (const chunk of answer) text += chunk.choices[0]?.delta.content ?? "";
    assertEquals(text, "Hello world");
  });
});

describe("A closed client", () => {
  it("refuses calls with a clear error, and may be closed twice", async () => {
    await using upstream = await startUpstream(respond());
    const { client } = clientOver({ upstreams: { alpha: upstream.url } });
    await client.close();
    await client.close();
    const error = await assertRejects(() => client.chat.completions.create({ messages }), MeshError);
    assertStringIncludes(error.message, "closed");
    assertEquals(upstream.calls, 0);
  });

  it("is what `await using` leaves behind, with no timer set", async () => {
    await using upstream = await startUpstream(status(401));
    const clock = fakeClock();
    let left: TestClient["client"];
    {
      await using client = clientOver({ upstreams: { alpha: upstream.url }, pool: strict, clock }).client;
      await client.chat.completions.create({ messages }).catch(() => {});
      assertEquals([client.mesh.poolStatus().chat?.standby, clock.pending], [1, 1]);
      left = client;
    }
    assertEquals(clock.pending, 0);
    await assertRejects(() => left.chat.completions.create({ messages }), MeshError, "closed");
  });

  it("that never had a configuration has nothing to close", async () => {
    const client = create({ config: "nowhere.yaml" });
    await client.close();
    assertThrows(() => client.describe(), MeshError);
  });
});

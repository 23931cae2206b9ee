/** Refused content: one try, and the provider's reason for the caller, in its dialect. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { after, isOpen, soon, stage, type StageOptions } from "../support/_failover.ts";
import { fakeClock } from "../support/_library.ts";
import { b, fromB, policy, reason, refusal, refuse } from "../support/_refusals.ts";
import { completeResponse, holdOpen, ok, status, stream } from "../support/upstream.ts";

const strict: StageOptions = { pool: { deactivation: { retry_limit: 1 } } };

describe("refused content", () => {
  it("is not tried again, although its status is retried, nor with another API key", async () => {
    await using scene = await stage({ a: refusal, b }, {
      pool: { retry: { retryable_codes: [400] } },
      provider: { api_key: ["key-one-0123456789", "key-two-0123456789"] },
    });
    assertEquals([(await scene.ask()).error?.code, scene.calls], ["content_policy_violation", { a: 1, b: 0 }]);
  });

  it("is the caller's error after failures of other models, too", async () => {
    await using scene = await stage({ a: status(401), b: refusal, c: b });
    const seen = await scene.ask();
    assertEquals([seen.status, seen.error], [400, policy]);
    assertEquals([seen.headers.get("x-mesh-model"), scene.calls], ["b", { a: 1, b: 1, c: 0 }]);
  });

  it("ends a list of models", async () => {
    await using scene = await stage({ a: refusal, b });
    const seen = await scene.ask({ model: "a", models: ["b"] });
    assertEquals([seen.error, scene.calls], [policy, { a: 1, b: 0 }]);
  });

  it("is refused to each of concurrent requests, and leaves the model active", async () => {
    await using scene = await stage({ a: refusal, b }, strict);
    const seen = await Promise.all(Array.from({ length: 5 }, () => scene.ask()));
    assertEquals(seen.map(({ status }) => status), Array(5).fill(400));
    assertEquals([scene.calls, scene.states().a], [{ a: 5, b: 0 }, "active"]);
  });

  it("refuses no key and no provider with a 403", async () => {
    const answer = refuse(403, { code: "permission", error: "Content violates usage guidelines." });
    await using scene = await stage({ a: [answer, ok({ text: "from a" })], b }, {
      pool: { provider_deactivation: "on_auth_failure" },
      provider: (id) => id === "a" ? { connector: "xai.grok.v1" } : {},
    });
    await scene.ask();
    assertEquals((await scene.ask()).text, "from a");
  });

  it("counts where its status does, and is the caller's error all the same", async () => {
    await using scene = await stage({ a: refusal, b }, {
      pool: { deactivation: { retry_limit: 1, error_codes: [400] } },
    });
    assertEquals([(await scene.ask()).error, scene.states().a], [policy, "error_code for 60s"]);
  });
});

describe("a stream whose content is refused", () => {
  const event = `data: ${JSON.stringify({ error: policy })}\n\n`;

  it("is an ordinary error before its first content, by status or by event", async () => {
    for (const answer of [refusal, completeResponse(200, event, "text/event-stream")]) {
      await using scene = await stage({ a: answer, b: fromB });
      const response = await scene.proxy.chat({ stream: true });
      assertEquals([response.status, (await response.json()).error, scene.calls], [400, policy, { a: 1, b: 0 }]);
    }
  });

  it("is an error event after a heartbeat", async () => {
    const a = holdOpen();
    await using scene = await stage({ a, b: fromB }, { clock: fakeClock() });
    const answer = scene.proxy.chat({ stream: true });
    await scene.received("a");
    await isOpen(answer);
    const text = (await after(scene.clock, 10_000, answer)).text();
    await a.send(event);
    assertMatch(await soon(text), /^: heartbeat\n\ndata: \{"error":\{"message":"Your request was rejected/);
    assertEquals(scene.calls, { a: 1, b: 0 });
  });

  it("midway, ends with the provider's reason, which does not count against the model", async () => {
    const a = stream({ error: { after: 1, error: policy } });
    await using scene = await stage({ a, b: fromB }, strict);
    const seen = await scene.askStream();
    assertEquals([seen.text, seen.last, seen.error?.code], ["Hello", "error", "stream_interrupted"]);
    assertStringIncludes(seen.error!.message, reason);
    assertEquals([scene.states().a, scene.routing.fallback_chain[0]!.outcome], ["active", "stream_interrupted"]);
  });
});

const messages = [{ role: "user", content: "Hi" }];

describe("a refusal in another dialect", () => {
  const dialects = {
    completions: ["/v1/completions", { prompt: "Hi" }, { error: policy }],
    messages: ["/v1/messages", { messages, max_tokens: 9 }, {
      type: "error",
      error: { type: "invalid_request_error", message: reason },
    }],
    responses: ["/v1/responses", { input: "Hi" }, { error: policy }],
    gemini: ["/v1beta/models/chat:generateContent", { contents: [{ role: "user", parts: [{ text: "Hi" }] }] }, {
      error: { code: 400, message: reason, status: "INVALID_ARGUMENT" },
    }],
  } as const;
  for (const [name, [path, body, error]] of Object.entries(dialects)) {
    it(`is that of the provider: ${name}`, async () => {
      await using scene = await stage({ a: refusal, b });
      const response = await fetch(scene.proxy.url + path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "chat", ...body }),
      });
      const { request_id: _, ...seen } = await response.json();
      assertEquals([response.status, seen, scene.calls], [400, error, { a: 1, b: 0 }]);
    });
  }
});

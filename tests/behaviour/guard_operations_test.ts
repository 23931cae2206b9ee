/** Guards of operations other than chat, the services that guards ask, and guards in the library. */
import { assert, assertEquals, assertMatch, assertNotMatch, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create, UnsupportedRequestError } from "../../mod.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { operationStage } from "../support/_operations.ts";
import { startTestProxy, testConfig } from "../support/proxy.ts";
import { completeResponse, json, respond, startUpstream, status } from "../support/upstream.ts";

const card = "4111 1111 1111 1111";
const block = { guards: { pii: { connector: "mesh.guard.pii.v1", action: "block", types: ["card"] } } };
const mask = { guards: { pii: { connector: "mesh.guard.pii.v1", types: ["card"] } } };
const pool = { guards: ["pii"] };

/** Requests of operations with a card number in each text. */
const requests = [
  ["text-embeddings", "embeddings", { input: card }],
  ["text-embeddings", "embeddings", { input: ["fine", card] }],
  ["text-to-image", "images/generations", { prompt: card }],
  ["text-to-speech", "audio/speech", { input: card, voice: "alloy" }],
  ["text-to-speech", "audio/speech", { input: "fine", instructions: card, voice: "alloy" }],
  ["reranking", "rerank", { query: card, documents: ["a"] }],
  ["reranking", "rerank", { query: "a", documents: ["b", card] }],
  ["web-search", "search", { query: card }],
  ["content-moderation", "moderations", { input: [card] }],
  ["chat-completion", "completions", { prompt: card }],
  ["chat-completion", "completions", { prompt: ["fine", card] }],
] as const;

describe("A request of an operation other than chat", () => {
  for (const [capability, path, body] of requests) {
    it(`is checked in ${path}: ${JSON.stringify(body)}`, async () => {
      await using stage = await operationStage({ a: json({}) }, { capability, pool, config: block });
      const refused = await stage.post(path, body);
      assertEquals(refused.status, 400, refused.text);
      assertEquals(refused.json.error.code, "content_blocked");
      assertNotMatch(refused.text, /4111/);
      assertEquals(stage.calls, { a: 0 });
    });
  }

  it("is masked in a form, and so is its transcript", async () => {
    const spoken = json({ text: `The card is ${card}`, segments: [{ id: 0, text: card }] });
    await using stage = await operationStage({ a: spoken }, { capability: "speech-to-text", pool, config: mask });
    const form = new FormData();
    form.set("model", "pool");
    form.set("prompt", `Card ${card}`);
    form.set("response_format", "verbose_json");
    form.set("file", new File([new Uint8Array(64)], "a.wav", { type: "audio/wav" }));
    const response = await fetch(`${stage.proxy.url}/v1/audio/transcriptions`, { method: "POST", body: form });
    const text = await response.text();
    assertEquals(response.status, 200, text);
    assertMatch(text, /The card is \[CARD\]/);
    assertNotMatch(text, /4111/);
  });

  it("is masked as subtitles, which come as text", async () => {
    const subtitles = completeResponse(200, `1\n00:00:00,000 --> 00:00:01,000\n${card}\n`, "text/plain");
    await using stage = await operationStage({ a: subtitles }, { capability: "speech-to-text", pool, config: mask });
    const form = new FormData();
    form.set("model", "pool");
    form.set("response_format", "srt");
    form.set("file", new File([new Uint8Array(64)], "a.wav", { type: "audio/wav" }));
    const response = await fetch(`${stage.proxy.url}/v1/audio/transcriptions`, { method: "POST", body: form });
    const text = await response.text();
    assertEquals(response.status, 200, text);
    assertMatch(text, /00:00:01,000\n\[CARD\]/);
  });

  it("leaves audio and numbers as they are", async () => {
    const bytes = new Uint8Array([73, 68, 51, 4, 0, 0, 0, 0]);
    await using stage = await operationStage({ a: completeResponse(200, bytes, "audio/mpeg") }, {
      capability: "text-to-speech",
      pool,
      config: mask,
    });
    const spoken = await stage.post("audio/speech", { input: `Pay ${card}`, voice: "alloy" });
    assertEquals(spoken.bytes, bytes);
    assertEquals(stage.upstreams.a!.requests[0]!.json().input, "Pay [CARD]");
  });

  it("leaves audio in events as it is", async () => {
    const events = 'data: {"type":"speech.audio.delta","audio":"AAAA4111111111111111AAAA"}\n\n';
    await using stage = await operationStage({ a: completeResponse(200, events, "text/event-stream") }, {
      capability: "text-to-speech",
      pool,
      config: mask,
    });
    const spoken = await stage.post("audio/speech", { input: "Hi", voice: "alloy", stream_format: "sse" });
    assertEquals(spoken.text, events);
  });

  it("is not sent as a file, which guards cannot see", async () => {
    await using stage = await operationStage({ a: json({}) }, {
      capability: "chat-completion",
      pool,
      config: block,
      provider: { files: { upload: true }, batch: { supported: true } },
    });
    for (const purpose of ["batch", "user_data"]) {
      const form = new FormData();
      form.set("purpose", purpose);
      const line = {
        custom_id: "1",
        method: "POST",
        url: "/v1/chat/completions",
        body: { model: "pool", messages: [] },
      };
      const messages = [{ role: "user", content: card }];
      const text = JSON.stringify({ ...line, body: { ...line.body, messages } });
      form.set("file", new File([`${text}\n`], "a.jsonl"));
      const response = await fetch(`${stage.proxy.url}/v1/files`, {
        method: "POST",
        headers: { "x-mesh-pool": "pool" },
        body: form,
      });
      const refused = await response.text();
      assertEquals(response.status, 400, refused);
      assertMatch(refused, /guard/);
    }
    assertEquals(stage.calls, { a: 0 });
  });
});

describe("A team with guards", () => {
  it("sends no files, which guards cannot see", async () => {
    const token = "token-of-someone-0123456789";
    const proxy = { auth: { tokens: [{ token, name: "someone", team: "legal" }] } };
    await using stage = await operationStage({ a: json({}) }, {
      capability: "chat-completion",
      config: { ...block, teams: { legal: { guards: ["pii"] } }, proxy },
      provider: { files: { upload: true } },
    });
    const form = new FormData();
    form.set("purpose", "user_data");
    form.set("file", new File([card], "a.txt"));
    const response = await fetch(`${stage.proxy.url}/v1/files`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: form,
    });
    const refused = await response.text();
    assertEquals([response.status, stage.calls], [400, { a: 0 }], refused);
    assertMatch(refused, /pass the guard/);
  });
});

describe("A count of tokens", () => {
  it("is checked as its request is", async () => {
    const upstream = await startUpstream(respond());
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url }, pool, config: block });
    const response = await fetch(`${proxy.url}/v1/messages/count_tokens`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "chat", messages: [{ role: "user", content: card }] }),
    });
    assertEquals(response.status, 400, await response.text());
    await upstream[Symbol.asyncDispose]();
  });
});

describe("The guard that asks a service", () => {
  /** A proxy over one provider, whose guard asks a service. */
  async function open(service: ReturnType<typeof json>, settings: object = {}) {
    const upstreams = { provider: await startUpstream(respond()), service: await startUpstream(service) };
    const guards = {
      ask: { connector: "mesh.guard.webhook.v1", url: upstreams.service.url, secret: "whsec_c2VjcmV0", ...settings },
    };
    const proxy = await startTestProxy({
      upstreams: { a: upstreams.provider.url },
      pool: { guards: ["ask"] },
      config: { guards },
      clock: fakeClock(),
    });
    return {
      ...upstreams,
      proxy,
      async [Symbol.asyncDispose]() {
        await proxy[Symbol.asyncDispose]();
        await Promise.all(Object.values(upstreams).map((upstream) => upstream[Symbol.asyncDispose]()));
      },
    };
  }

  it("signs what it sends, and does what the verdict says", async () => {
    const verdict = { action: "replace", texts: [{ path: "messages[0].content", text: "Good day", rule: "manners" }] };
    await using stage = await open(json(verdict), { stages: ["request"] });
    const response = await stage.proxy.chat();
    assertEquals(response.status, 200, await response.text());
    assertEquals(stage.provider.requests[0]!.json().messages[0].content, "Good day");
    const { headers, ...request } = stage.service.requests[0]!;
    const { texts, stage: at, pool: name } = request.json?.() ?? stage.service.requests[0]!.json();
    assertEquals([texts, at, name], [[{ path: "messages[0].content", text: "Hi" }], "request", "chat"]);
    assertMatch(headers["webhook-signature"] ?? "", /^v1,[\w+/]+=*$/);
    assert(headers["webhook-id"] !== undefined && headers["webhook-timestamp"] !== undefined);
  });

  for (
    const [how, service] of Object.entries({
      "is down": status(503),
      "answers with no JSON": status(200, { text: "ok" }),
      "answers with no verdict": json({ ok: true }),
    })
  ) {
    it(`blocks when it ${how}, and never says where it is`, async () => {
      await using stage = await open(service);
      const response = await stage.proxy.chat();
      const text = await response.text();
      assertEquals(response.status, 400, text);
      assertMatch(text, /could not check the request/);
      assertNotMatch(text + JSON.stringify(stage.proxy.records), new RegExp(String(stage.service.port)));
      assertEquals(stage.provider.calls, 0);
    });
  }
});

describe("The guard that asks a pool of moderation models", () => {
  const harmless = { flagged: false, categories: { violence: false, hate: false } };
  const violent = { flagged: true, categories: { violence: true, hate: false } };
  const results = (result: object) => json({ id: "m", model: "judge", results: [{ ...result, category_scores: {} }] });

  for (
    const [what, result, settings, expected] of [
      ["passes what is harmless", harmless, {}, 200],
      ["blocks what is flagged", violent, {}, 400],
      ["blocks the categories that it is told", violent, { categories: ["violence"] }, 400],
      ["passes other categories", violent, { categories: ["hate"] }, 200],
    ] as const
  ) {
    it(what, async () => {
      const provider = await startUpstream(respond());
      const judge = await startUpstream(results(result));
      await using proxy = await startTestProxy({
        upstreams: { a: provider.url, judge: judge.url },
        config: {
          models: {
            a: { provider: "a", capabilities: ["chat-completion"] },
            judge: { provider: "judge", capabilities: ["content-moderation"] },
          },
          pools: { chat: { models: ["a"], guards: ["judge"] }, judges: { models: ["judge"] } },
          guards: {
            judge: { connector: "mesh.guard.moderation.v1", pool: "judges", stages: ["request"], ...settings },
          },
        },
      });
      const response = await proxy.chat();
      const text = await response.text();
      assertEquals(response.status, expected, text);
      assertEquals([judge.calls, provider.calls], [1, expected === 200 ? 1 : 0]);
      if (expected === 400) assertMatch(JSON.stringify(proxy.records), /"rule":"violence"/);
      await Promise.all([provider, judge].map((upstream) => upstream[Symbol.asyncDispose]()));
    });
  }
});

describe("A client of the library", () => {
  it("has guards, of complete responses and of streams", async () => {
    const upstream = await startUpstream(respond({ text: `It is ${card}, you know` }));
    const client = create({
      config: testConfig({ upstreams: { a: upstream.url }, pool, config: block }),
      clock: fakeClock({ skipSleeps: true }),
    });
    const ask = (content: string, stream: boolean) =>
      client.chat.completions.create({ model: "chat", messages: [{ role: "user", content }], stream } as never);
    await assertRejects(() => ask(card, false), UnsupportedRequestError, 'The guard "pii" has blocked the request');
    await assertRejects(() => ask("Which?", false), UnsupportedRequestError, "blocked the response");
    await assertRejects(() => ask("Which?", true), UnsupportedRequestError, "blocked the response");
    await client.close();
    await upstream[Symbol.asyncDispose]();
  });

  it("has patterns of its own", async () => {
    const upstream = await startUpstream(respond({ text: "Project Zephyr it is" }));
    const guards = {
      names: { connector: "mesh.guard.regex.v1", patterns: { project: "(?i)project\\s+zephyr" }, action: "mask" },
    };
    const config = testConfig({ upstreams: { a: upstream.url }, pool: { guards: ["names"] }, config: { guards } });
    const client = create({ config, clock: fakeClock({ skipSleeps: true }) });
    const { choices } = await client.chat.completions.create({
      model: "chat",
      messages: [{ role: "user", content: `${"project ".repeat(20_000)}zephyr` }],
    });
    assertEquals(choices[0]!.message.content, "[PROJECT] it is");
    await client.close();
    await upstream[Symbol.asyncDispose]();
  });
});

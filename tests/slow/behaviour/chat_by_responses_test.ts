/** Chat requests to models that need the Responses API for tools: complete and streamed, from clients of every dialect. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { RoutingRecord } from "../../../mod.ts";
import { dataIn, saidIn } from "../../support/_dialect_responses.ts";
import type { Json } from "../../support/_dialects.ts";
import { speaking } from "../../support/_dialects.ts";
import { firstTurn, message, reasoner, sealed, toolsIn } from "../../support/_reasoner.ts";
import { eventsText, respondWithResponse, type ResponseReply } from "../../support/_responses_behaviours.ts";
import type { Any, Turn } from "../../support/_said.ts";
import { startTestProxy } from "../../support/proxy.ts";
import { raw, type ReceivedRequest, respond, type Script, startUpstream, status } from "../../support/upstream.ts";

/** A provider: its script, and what differs from a vendor with the model `gpt-6.1-sol`. */
interface Part {
  readonly script: Script;
  readonly connector?: string;
  readonly model?: object;
  readonly provider?: object;
}

/** A proxy whose pool `chat` has a model per provider, in order of priority. */
async function stage(parts: Readonly<Record<string, Part>>, pool: object = {}) {
  const names = Object.keys(parts);
  const upstreams = Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await startUpstream(parts[name]!.script)] as const)),
  );
  const perName = (make: (name: string, part: Part) => object) =>
    Object.fromEntries(names.map((name) => [name, make(name, parts[name]!)]));
  const proxy = await startTestProxy({
    upstreams: {},
    config: {
      providers: perName((name, { connector = "openai.llm.v1", provider }) => ({
        connector,
        base_url: upstreams[name]!.url,
        api_key: `key-of-${name}-0123456789`,
        ...provider,
      })),
      models: perName((name, { model = { model: "gpt-6.1-sol" } }) => ({
        provider: name,
        capabilities: ["chat-completion"],
        ...model,
      })),
      pools: {
        chat: { models: names, strategy: "priority", model_priority: names, retry: { max_attempts: 0 }, ...pool },
      },
    },
  });
  const post = async (path: string, body: object) => {
    const response = await fetch(`${proxy.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const { status, headers } = response;
    return new Response(await response.text(), { status, headers });
  };
  return {
    proxy,
    upstreams,
    post,
    /** Posts a chat request with a tool. */
    async chat(body: object = {}): Promise<Response> {
      const messages = [{ role: "user", content: "What is there?" }];
      return await post("/v1/chat/completions", { model: "chat", messages, tools: toolsIn.chat, ...body });
    },
    /** One turn of a client of a dialect. */
    async turn(client: string, turns: readonly Turn[], isStream: boolean) {
      const said = saidIn[client]!;
      const stream = client === "gemini" ? {} : { stream: isStream };
      const response = await post(said.path(isStream), { ...said.ask(turns), tools: toolsIn[client], ...stream });
      const text = await response.text();
      assertEquals(response.status, 200, text);
      const whole = isStream ? said.gather(dataIn(text)) : JSON.parse(text);
      return {
        said: said.read({ ...whole, usage: whole.usage ?? noUsage }),
        kept: said.keep(whole),
      };
    },
    get routing(): RoutingRecord {
      return proxy.records.filter((record): record is RoutingRecord => record.type === "routing").at(-1)!;
    },
    paths: (name: string) => upstreams[name]!.requests.map(({ path }: ReceivedRequest) => path),
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await Promise.all(Object.values(upstreams).map((upstream) => upstream.close()));
    },
  };
}

const noUsage = { prompt_tokens: 0, completion_tokens: 0, input_tokens: 0, output_tokens: 0 };
const question: Turn = { user: ["What is there?"] };
const results = (calls: readonly { id: string; name: string; input: Json }[]): Turn => ({
  results: calls.map((call) => ({ call, text: "blue" })),
});

/** Items without what is not sent back. */
function summarize(input: readonly Any[]): readonly string[] {
  return input.map(({ type, role, content, encrypted_content, call_id }) =>
    type === "message"
      ? `${role}: ${typeof content === "string" ? content : content.map(({ text }: Any) => text).join("")}`
      : encrypted_content ?? `${type} ${call_id}`
  );
}

/** The conversation of a tool loop, as the model has created it. */
const loop = (ids: readonly string[]) => [
  "user: What is there?",
  ...["sealed-rs_1", "assistant: Let me look. ", "sealed-rs_2", `function_call ${ids[0]}`],
  ...["sealed-rs_3", `function_call ${ids[1]}`],
  ...ids.map((id) => `function_call_output ${id}`),
];

describe("a request with tools to a model that supports them in Responses alone", () => {
  for (const client of Object.keys(saidIn)) {
    for (const isStream of [false, true]) {
      it(`is served to clients of ${client}, ${isStream ? "streamed" : "complete"}, with its reasoning in order`, async () => {
        await using scene = await stage({ gpt: { script: reasoner() } });
        const { said, kept } = await scene.turn(client, [question], isStream);
        assertEquals([said.text, said.finish], ["Let me look. ", client === "gemini" ? said.finish : "tool_calls"]);
        assertEquals(said.calls.map(({ name, input }) => [name, input]), [
          ["look", { at: "sky" }],
          ["look", { at: "sky" }],
        ]);
        const sent = scene.upstreams.gpt!.requests[0]!.json();
        assertEquals([sent.store, sent.include], [false, ["reasoning.encrypted_content"]]);
        const last = await scene.turn(client, [question, { kept }, results(said.calls)], isStream);
        assertEquals(last.said.text, "It is blue");
        const { input } = scene.upstreams.gpt!.requests[1]!.json();
        assertEquals(summarize(input), loop(["call_a", "call_b"]));
        assertEquals(scene.paths("gpt"), ["/v1/responses", "/v1/responses"]);
      });
    }
  }

  it("stays in chat without tools, with an effort of none, and where the configuration says so", async () => {
    const terra = { model: "gpt-6.1-terra" };
    await using scene = await stage({ gpt: { script: reasoner(), model: terra } });
    await scene.chat({ tools: undefined, reasoning_effort: "high" });
    await scene.chat({ reasoning_effort: "none" });
    assertEquals(scene.routing.api, "chat");
    assertEquals(scene.paths("gpt"), ["/v1/chat/completions", "/v1/chat/completions"]);
    await using forced = await stage({
      a: { script: respond({ text: "a" }), model: { ...terra, api: "chat" } },
    });
    await forced.chat();
    await forced.chat({ tools: undefined });
    assertEquals(forced.paths("a"), ["/v1/chat/completions", "/v1/chat/completions"]);
    await using other = await stage({
      b: { script: reasoner(), connector: "openai.compatible.v1", model: { model: "any", api: "responses" } },
    });
    assertEquals((await (await other.chat({ tools: undefined })).json()).choices[0].message.content, "Let me look. ");
    assertEquals([other.paths("b"), other.routing.api], [["/v1/responses"], "responses"]);
  });

  it("reports which API was used, and explains which would be", async () => {
    await using scene = await stage({ gpt: { script: reasoner() } });
    await scene.chat();
    assertEquals([scene.routing.api, scene.routing.fallback_chain[0]!.api], ["responses", "responses"]);
    const messages = [{ role: "user" as const, content: "Hello" }];
    const explained = await scene.proxy.mesh.explain({ model: "chat", messages, tools: toolsIn.chat as never });
    assertEquals(explained.order.map(({ api }) => api), ["responses"]);
    assertEquals((await scene.proxy.mesh.explain({ model: "chat", messages })).order[0]!.api, "chat");
  });

  it("reaches models without chat completions", async () => {
    for (const model of ["gpt-5.5-pro", "gpt-5.3-codex", "gpt-7-pro", "o1-pro", "codex-mini-latest"]) {
      await using scene = await stage({ gpt: { script: respondWithResponse({ text: "Hi" }), model: { model } } });
      const response = await scene.chat({ tools: undefined });
      assertEquals((await response.json()).choices[0].message.content, "Hi");
      assertEquals(scene.paths("gpt"), ["/v1/responses"], model);
    }
  });

  it("leaves requests of the Responses API as they came", async () => {
    for (const model of [{ model: "gpt-5.5-pro" }, { model: "x", api: "responses" }, { model: "gpt-6.1-sol" }]) {
      const provider = model.model === "gpt-6.1-sol" ? { config: { responses: true } } : {};
      await using scene = await stage({ gpt: { script: respondWithResponse({ text: "Hi" }), model, provider } });
      const own = { input: "Hello", tools: [{ type: "web_search" }], odd: 1 };
      const response = await scene.post("/v1/responses", { model: "chat", ...own });
      assertEquals((await response.json()).odd, 12);
      assertEquals(scene.upstreams.gpt!.requests[0]!.json(), { model: model.model, ...own });
    }
  });
});

describe("a tool loop over several vendors", () => {
  const claude = (): Part => ({
    connector: "anthropic.claude.v1",
    model: { model: "claude-haiku-4-5" },
    script: (request) =>
      speaking.anthropic.respond(
        JSON.stringify(request.json()).includes("tool_result")
          ? { pieces: ["Blue"] }
          : { calls: [{ id: "toolu_1", name: "look", input: { at: "sky" }, state: "of-claude" }] },
      ),
  });

  for (const client of Object.keys(saidIn)) {
    it(`goes from Claude to a model of Responses and back, for clients of ${client}`, async () => {
      await using scene = await stage({ claude: claude(), gpt: { script: reasoner() } });
      const { mesh } = scene.proxy;
      const first = await scene.turn(client, [question], false);
      const turns: Turn[] = [question, { kept: first.kept }, results(first.said.calls)];
      await mesh.deactivate("claude");
      const second = await scene.turn(client, turns, true);
      assertEquals(second.said.text, "It is blue");
      const sent = scene.upstreams.gpt!.requests[0]!;
      assertEquals(summarize(sent.json().input), [
        ...["user: What is there?", "function_call toolu_1", "function_call_output toolu_1"],
      ]);
      assert(!sent.body.includes("of-claude"), "what another vendor has sealed stays away");
      turns.push({ kept: second.kept }, { user: ["Again"] });
      await mesh.activate("claude");
      await scene.turn(client, turns, false);
      assertEquals(scene.paths("claude").length, 2);
    });
  }

  it("does not carry the reasoning of Responses to another vendor, nor to chat", async () => {
    const script = respond({ text: "b" });
    const other = { connector: "openai.compatible.v1", model: { model: "m" }, script };
    await using scene = await stage({ gpt: { script: reasoner() }, other });
    const first = await scene.turn("chat", [question], false);
    const turns: Turn[] = [question, { kept: first.kept }, results(first.said.calls)];
    await scene.proxy.mesh.deactivate("gpt");
    await scene.turn("chat", turns, false);
    await scene.proxy.mesh.activate("gpt");
    const messages = saidIn.chat!.ask(turns).messages;
    await scene.post("/v1/chat/completions", { model: "gpt", messages, reasoning_effort: "low" });
    assertEquals(scene.paths("gpt"), ["/v1/responses", "/v1/chat/completions"]);
    for (const { body } of [scene.upstreams.other!.requests[0]!, scene.upstreams.gpt!.requests[1]!]) {
      assert(body.includes("call_a") && !body.includes("sealed") && !body.includes("extra_content"), body);
    }
  });

  it("sends the conversation once more without reasoning that the vendor cannot decrypt", async () => {
    const code = "invalid_encrypted_content";
    const refused = status(400, { json: { error: { message: "Cannot be verified", code, type: "x", param: null } } });
    const script: Script = (request) => /"type":"reasoning"/.test(request.body) ? refused : reasoner()(request);
    await using scene = await stage({ gpt: { script } });
    const forged = { openai: { items: [{ type: "reasoning", encrypted_content: "forged" }, 7, { type: "message" }] } };
    const tool_calls = [{
      id: "c",
      type: "function",
      function: { name: "look", arguments: "{}" },
      extra_content: forged,
    }];
    const messages = [
      { role: "user", content: "Hello" },
      { role: "assistant", content: null, tool_calls },
      { role: "tool", tool_call_id: "c", content: "blue" },
    ];
    const response = await scene.chat({ messages });
    assertEquals((await response.json()).choices[0].message.content, "It is blue");
    assertEquals(scene.upstreams.gpt!.requests.map(({ body }) => body.includes("forged")), [true, false]);
    assertEquals(scene.routing.fallback_chain.map(({ outcome }) => outcome), ["ok"]);
  });
});

describe("what the Responses API does not support", () => {
  const rows: readonly (readonly [name: string, body: object])[] = [
    ["n", { n: 2 }],
    ["logit_bias", { logit_bias: { 5: 1 } }],
    ["stop", { stop: ["."] }],
    ["audio", { modalities: ["text", "audio"], audio: { voice: "alloy", format: "mp3" } }],
    ["audio_input", {
      messages: [{ role: "user", content: [{ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }] }],
    }],
    ["functions", { tools: undefined, functions: [{ name: "look", parameters: {} }] }],
    ["web_search_options", { web_search_options: {} }],
  ];
  const model = { model: "gpt-6.1-sol", features: { audio_input: true, grounding: true } };
  for (const [name, body] of rows) {
    it(`${name} skips such a model, and is an error without another`, async () => {
      await using scene = await stage({ gpt: { script: reasoner(), model } });
      const response = await scene.chat(body);
      const { error } = await response.json();
      assertEquals([response.status, error.code, scene.paths("gpt")], [400, "unsupported_by_pool", []]);
      assertMatch(error.message, new RegExp(`"gpt" has no ${name} in the Responses API`));
      const other = { connector: "openai.compatible.v1", model: { model: "m" }, script: respond({ text: "b" }) };
      await using both = await stage({ gpt: { script: reasoner(), model }, other });
      assertEquals((await both.chat(body)).status, 200);
      assertEquals([both.paths("gpt").length, both.paths("other").length], [0, 1]);
    });
  }

  it("neutral values skip no model, and best-effort parameters are left out and named", async () => {
    await using scene = await stage({ gpt: { script: reasoner() } });
    const neutral = { n: 1, stop: null, logit_bias: null, modalities: ["text"], functions: [] };
    const response = await scene.chat({
      ...neutral,
      seed: 7,
      store: true,
      prediction: { type: "content", content: "" },
    });
    assertEquals(response.status, 200);
    assertEquals(response.headers.get("x-mesh-dropped-params"), "seed, store, prediction");
    const { store, ...sent } = scene.upstreams.gpt!.requests[0]!.json();
    assertEquals(store, false);
    const names = [...Object.keys(neutral), "seed", "prediction"];
    assertEquals(names.filter((name) => name in sent), []);
  });

  it("a provider without that API skips such a model", async () => {
    await using scene = await stage({ gpt: { script: reasoner(), provider: { config: { responses: false } } } });
    const response = await scene.chat();
    assertMatch((await response.json()).error.message, /"gpt" has no Responses API/);
    assertEquals((await scene.chat({ tools: undefined })).status, 200);
  });
});

describe("a response of the Responses API", () => {
  const usage = {
    ...{ input_tokens: 50, output_tokens: 30, total_tokens: 80 },
    ...{ input_tokens_details: { cached_tokens: 20 }, output_tokens_details: { reasoning_tokens: 10 } },
  };
  const url = "https://a.example";
  const cited: ResponseReply = {
    thoughts: "Hm",
    items: [
      message("One. "),
      message("", {
        content: [{
          ...{
            type: "output_text",
            text: "Two.",
            logprobs: [{ token: "Two", logprob: -1, bytes: [], top_logprobs: [] }],
          },
          annotations: [{ type: "url_citation", start_index: 0, end_index: 3, url, title: "A" }],
        }],
      }),
    ],
    more: { usage, service_tier: "priority" },
  };

  it("becomes a completion with usage, tier, reasoning, log probabilities and sources", async () => {
    await using scene = await stage({ gpt: { script: respondWithResponse(cited) } });
    const { choices: [choice], usage: read, service_tier } = await (await scene.chat()).json();
    assertEquals(choice.message.content, "One. Two.");
    assertEquals(choice.message.reasoning_content, "Hm");
    assertEquals(choice.message.refusal, null);
    assertEquals(choice.message.annotations, [
      { type: "url_citation", url_citation: { start_index: 5, end_index: 8, url, title: "A" } },
    ]);
    assertEquals(choice.logprobs.content.map(({ token }: Any) => token), ["Two"]);
    assertEquals(read, {
      ...{ prompt_tokens: 50, completion_tokens: 30, total_tokens: 80 },
      prompt_tokens_details: { cached_tokens: 20 },
      completion_tokens_details: { reasoning_tokens: 10 },
    });
    assertEquals([service_tier, choice.finish_reason], ["priority", "stop"]);
  });

  it("ends as a completion does", async () => {
    const rows: readonly (readonly [ResponseReply, string])[] = [
      [{ text: "cut", more: { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } } }, "length"],
      [
        { text: "cut", more: { status: "incomplete", incomplete_details: { reason: "content_filter" } } },
        "content_filter",
      ],
      [{ text: "all" }, "stop"],
      [{ calls: ["look"] }, "tool_calls"],
    ];
    for (const [reply, expected] of rows) {
      await using scene = await stage({ gpt: { script: respondWithResponse(reply) } });
      assertEquals((await (await scene.chat()).json()).choices[0].finish_reason, expected);
      const events = dataIn(await (await scene.chat({ stream: true })).text()) as Any[];
      assertEquals(events.flatMap(({ choices }) => choices).at(-1).finish_reason, expected);
    }
  });

  it("may refuse", async () => {
    const refused = message("", { content: [{ type: "refusal", refusal: "No" }] });
    await using scene = await stage({ gpt: { script: respondWithResponse({ items: [refused] }) } });
    const { message: read } = (await (await scene.chat()).json()).choices[0];
    assertEquals([read.content, read.refusal], [null, "No"]);
    const events = dataIn(await (await scene.chat({ stream: true })).text()) as Any[];
    assertEquals(events.map(({ choices }) => choices[0]?.delta?.refusal ?? "").join(""), "No");
  });

  it("streams usage only to clients that ask for it", async () => {
    await using scene = await stage({ gpt: { script: respondWithResponse({ text: "Hi", more: { usage } }) } });
    const plain = dataIn(await (await scene.chat({ stream: true })).text()) as Any[];
    assert(plain.every(({ usage }) => !usage));
    assertEquals(scene.routing.tokens_in, 50);
    const text = await (await scene.chat({ stream: true, stream_options: { include_usage: true } })).text();
    const last = dataIn(text).at(-1) as Any;
    assertEquals([last.choices, last.usage.prompt_tokens_details], [[], { cached_tokens: 20 }]);
    assert(text.endsWith("data: [DONE]\n\n"));
    assertEquals("stream_options" in scene.upstreams.gpt!.requests[1]!.json(), false);
  });

  it("is read however its bytes arrive", async () => {
    const bytes = new TextEncoder().encode(eventsText({ thoughts: "Hm 🌍", text: "Wörld", calls: ["look"] }));
    const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    const script: Script = {
      async play(exchange: Any) {
        await exchange.write(head);
        for (const byte of bytes) await exchange.write(Uint8Array.of(byte));
        exchange.close();
      },
    } as never;
    await using scene = await stage({ gpt: { script } });
    const { said } = await scene.turn("chat", [question], true);
    assertEquals([said.text, said.thoughts, said.calls.map(({ name, input }) => [name, input])], [
      ...["Wörld", "Hm 🌍"],
      [["look", { of: "look" }]],
    ]);
  });
});

describe("a response of the Responses API that fails", () => {
  const failed = (code: string, text = "Oops") => ({
    last: {
      type: "response.failed",
      response: {
        ...{ id: "resp_1", status: "failed", output: [], error: { code, message: text } },
      },
    },
  });
  const second = (): Part => ({ script: respondWithResponse({ text: "from b" }) });

  it("rotates before its content, and interrupts after it", async () => {
    const broken: readonly (readonly [string, ResponseReply])[] = [
      ["an end without response.completed", { breaksAfter: 1 }],
      ["response.failed", failed("server_error")],
      ["an error event", { last: { type: "error", code: "server_error", message: "Oops" } }],
      ["a rate limit", failed("rate_limit_exceeded")],
    ];
    for (const [what, reply] of broken) {
      await using scene = await stage({ gpt: { script: respondWithResponse(reply) }, b: second() });
      const { said } = await scene.turn("chat", [question], true);
      assertEquals([said.text, scene.routing.model], ["from b", "b"], what);
      const late = reply.breaksAfter === undefined ? { text: "Hi", ...reply } : { text: "Hi", breaksAfter: 4 };
      await using interrupted = await stage({ gpt: { script: respondWithResponse(late) }, b: second() });
      const text = await (await interrupted.chat({ stream: true })).text();
      const { error } = dataIn(text).at(-1) as Any;
      assertEquals([error.code, text.includes("[DONE]")], ["stream_interrupted", false], what);
      assertEquals(interrupted.routing.code, "stream_interrupted");
    }
  });

  it("has the kinds of failure that chat has", async () => {
    const rows: readonly (readonly [code: string, kind: string])[] = [
      ["server_error", "server"],
      ["rate_limit_exceeded", "rate_limited"],
      ["insufficient_quota", "quota_exhausted"],
      ["context_length_exceeded", "request"],
      ["content_filter", "content_filter"],
      ["invalid_prompt", "request"],
    ];
    for (const [code, kind] of rows) {
      for (const stream of [false, true]) {
        const whole = { more: { status: "failed", error: { code, message: "Oops" } } };
        await using scene = await stage({ gpt: { script: respondWithResponse(stream ? failed(code) : whole) } });
        const response = await scene.chat({ stream });
        await response.text();
        assertEquals(scene.routing.fallback_chain.map(({ outcome }) => outcome), [kind], `${code} ${stream}`);
        if (kind === "request" || kind === code) assertEquals([response.status, scene.routing.code], [400, code]);
      }
    }
  });

  it("survives one unreadable event, and what has no meaning", async () => {
    const [created, ...rest] = eventsText({ text: "Hi" }).split("\n\n").slice(0, -1).map((event) => `${event}\n\n`);
    const odd = [
      "data: {not json\n\n",
      'data: {"type":"response.output_text.delta","delta":7}\n\n',
      'data: {"type":"response.function_call_arguments.delta","output_index":9,"delta":"x"}\n\n',
      'data: {"type":"response.output_item.done","item":null}\n\n',
      'data: {"type":"response.future.event","response":[]}\n\n',
      "data: {}\n\n",
    ];
    const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    await using scene = await stage({ gpt: { script: raw(head + [created, ...odd, ...rest].join("")) } });
    assertEquals((await scene.turn("chat", [question], true)).said.text, "Hi");
  });

  it("may send its output in the last event only, or as a complete response", async () => {
    const text = eventsText(firstTurn);
    const last = text.split("\n\n").at(-2)!;
    const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    for (
      const script of [raw(`${head}${last}\n\n`), {
        play: (exchange: Any) => whole.play({ ...exchange, request: { json: () => ({}) } }),
      }]
    ) {
      await using scene = await stage({ gpt: { script } });
      const { said } = await scene.turn("chat", [question], true);
      assertEquals([said.text, said.calls.map(({ id }) => id)], ["Let me look. ", ["call_a", "call_b"]]);
    }
  });
  const whole = respondWithResponse(firstTurn);
});

describe("Azure", () => {
  it("has the same for its deployments, in its v1 API", async () => {
    const part = (config: object): Part => ({
      connector: "azure.openai.v1",
      model: { model: "gpt-6.1-sol" },
      script: reasoner(),
      provider: { config },
    });
    await using scene = await stage({ gpt: part({}) });
    const { said, kept } = await scene.turn("messages", [question], true);
    await scene.turn("messages", [question, { kept }, results(said.calls)], true);
    const [first, last] = scene.upstreams.gpt!.requests;
    assertEquals([first!.path, first!.headers["api-key"]], ["/v1/responses", "key-of-gpt-0123456789"]);
    assertEquals(summarize(last!.json().input), loop(["call_a", "call_b"]));
    await using dated = await stage({ gpt: part({ api_version: "2024-10-21" }) });
    assertMatch((await (await dated.chat()).json()).error.message, /"gpt" has no Responses API/);
  });

  it("does not accept the reasoning of another vendor", async () => {
    const azure: Part = { connector: "azure.openai.v1", model: { model: "gpt-6.1-sol" }, script: reasoner() };
    await using scene = await stage({ gpt: { script: reasoner() }, azure });
    const { said, kept } = await scene.turn("chat", [question], false);
    await scene.proxy.mesh.deactivate("gpt");
    await scene.turn("chat", [question, { kept }, results(said.calls)], false);
    const { body } = scene.upstreams.azure!.requests[0]!;
    assert(body.includes("call_a") && !body.includes("sealed"));
  });
});

describe("custom tools of a chat request", () => {
  const format = { type: "grammar", grammar: { syntax: "lark", definition: "start: /a/" } };
  const tools = [{ type: "custom", custom: { name: "patch", description: "Patches", format } }];
  const made = { id: "ctc_1", type: "custom_tool_call", call_id: "call_p", name: "patch", input: "*** a" };

  it("are flat in Responses, and their calls come back as calls of custom tools", async () => {
    for (const stream of [false, true]) {
      const script = respondWithResponse({ items: [sealed("rs_1"), made] });
      await using scene = await stage({ gpt: { script } });
      const text =
        await (await scene.chat({ tools, stream, tool_choice: { type: "custom", custom: { name: "patch" } } }))
          .text();
      const sent = scene.upstreams.gpt!.requests[0]!.json();
      const { grammar, ...rest } = format;
      assertEquals(sent.tools, [{ ...tools[0]!.custom, type: "custom", format: { ...rest, ...grammar } }]);
      assertEquals(sent.tool_choice, { type: "custom", name: "patch" });
      const calls: Any[] = stream
        ? (dataIn(text) as Any[]).flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])
        : JSON.parse(text).choices[0].message.tool_calls;
      assertEquals([calls[0].id, calls[0].type, calls[0].custom.name], ["call_p", "custom", "patch"]);
      assertEquals(calls.map(({ custom }) => custom.input).join(""), "*** a");
      const { index: _, ...first } = calls[0];
      const call = { ...first, custom: { name: "patch", input: "*** a" } };
      const messages = [{ role: "user", content: "Go" }, { role: "assistant", content: null, tool_calls: [call] }, {
        role: "tool",
        tool_call_id: "call_p",
        content: "done",
      }];
      await scene.chat({ messages, tools });
      assertEquals(scene.upstreams.gpt!.requests[1]!.json().input.slice(1), [
        { ...sealed("rs_1"), type: "reasoning" },
        { type: "custom_tool_call", call_id: "call_p", name: "patch", input: "*** a" },
        { type: "custom_tool_call_output", call_id: "call_p", output: "done" },
      ]);
    }
  });
});

describe("the translated request", () => {
  it("has the members of chat under their names in Responses", async () => {
    await using scene = await stage({ gpt: { script: reasoner(), model: { model: "x", api: "responses" } } });
    const schema = { type: "object", properties: {} };
    await scene.chat({
      messages: [
        { role: "system", content: "Be kind" },
        { role: "developer", content: [{ type: "text", text: "Be brief" }] },
        {
          role: "user",
          content: [
            { type: "text", text: "See" },
            { type: "image_url", image_url: { url: "https://a.example/a.png", detail: "low" } },
            { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
            { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" } },
          ],
        },
        { role: "assistant", content: "First" },
        { role: "assistant", content: null, refusal: "No" },
        { role: "user", content: "Well" },
      ],
      tool_choice: { type: "function", function: { name: "look" } },
      ...{ parallel_tool_calls: false, reasoning_effort: "high", verbosity: "low", max_completion_tokens: 500 },
      response_format: { type: "json_schema", json_schema: { name: "s", schema, strict: true } },
      ...{ service_tier: "flex", prompt_cache_key: "k", user: "u", safety_identifier: "s", metadata: { a: "b" } },
      ...{ logprobs: true, top_logprobs: 3, custom_member: 1 },
    });
    assertEquals(scene.upstreams.gpt!.requests[0]!.json(), {
      model: "x",
      input: [
        { type: "message", role: "system", content: "Be kind" },
        { type: "message", role: "developer", content: [{ type: "input_text", text: "Be brief" }] },
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "See" },
            { type: "input_image", image_url: "https://a.example/a.png", detail: "low" },
            { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "auto" },
            { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" },
          ],
        },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "First", annotations: [] }] },
        { type: "message", role: "assistant", content: [{ type: "refusal", refusal: "No" }] },
        { type: "message", role: "user", content: "Well" },
      ],
      tools: [{
        ...{ type: "function", name: "look", description: "Looks", strict: false },
        parameters: { type: "object", properties: { at: { type: "string" } } },
      }],
      tool_choice: { type: "function", name: "look" },
      parallel_tool_calls: false,
      reasoning: { effort: "high" },
      text: { verbosity: "low", format: { type: "json_schema", name: "s", schema, strict: true } },
      max_output_tokens: 500,
      ...{ service_tier: "flex", prompt_cache_key: "k", user: "u", safety_identifier: "s", metadata: { a: "b" } },
      top_logprobs: 3,
      custom_member: 1,
      store: false,
      include: ["reasoning.encrypted_content", "message.output_text.logprobs"],
    });
  });
});

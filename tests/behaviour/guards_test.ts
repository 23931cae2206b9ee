/** Guards: what they see of requests and responses in every dialect, and what becomes of what they find. */
import { assert, assertEquals, assertMatch, assertNotMatch, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Guard, GuardedText, GuardVerdict } from "../../src/contracts/guard.ts";
import { ModelMesh } from "../../mod.ts";
import { createHandler, listen } from "../../proxy.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { askForCalls, clientDialects } from "../support/_dialect_calls.ts";
import type { Json } from "../support/_dialects.ts";
import { testConfig, type TestProxyOptions } from "../support/proxy.ts";
import {
  type Behaviour,
  formatHead,
  Gate,
  raw,
  respond,
  startUpstream,
  type StreamOptions,
} from "../support/upstream.ts";

const card = "4111 1111 1111 1111";
const cardPattern = /4111 ?1|1111 1/; // ids may contain a group of it
const streaming = [false, true];

interface Stage extends AsyncDisposable {
  readonly url: string;
  readonly records: readonly Json[];
  readonly traces: readonly string[];
  /** Bodies that the provider has received. */
  sent(): string[];
  /** The same, as they were sent. */
  received(): string[];
}

/** A proxy with guards over one provider. */
async function open(
  guards: Readonly<Record<string, Json | Guard>>,
  behaviour: Behaviour = respond(),
  options: Omit<TestProxyOptions, "upstreams"> = {},
): Promise<Stage> {
  const upstream = await startUpstream(behaviour);
  const records: Json[] = [];
  const traces: string[] = [];
  const clock = options.clock ?? fakeClock({ skipSleeps: true });
  const mesh = new ModelMesh({ clock, random: () => 0.5, on: (record) => records.push({ ...record }) });
  const sections = Object.entries(guards).map(([name, guard]) => {
    if (!("check" in guard)) return [name, guard];
    const id = `test.${name}.v1`;
    mesh.registerConnector(id, { id, kind: "guard", create: () => guard as Guard });
    return [name, { connector: id }];
  });
  const config = testConfig({
    upstreams: { a: upstream.url },
    pool: { guards: Object.keys(guards), ...options.pool },
    config: { guards: Object.fromEntries(sections), ...options.config },
  });
  await mesh.initialize(config);
  mesh.addSink({ emit: () => {}, trace: ({ message }) => void traces.push(message), flush: () => Promise.resolve() });
  const server = await listen(createHandler(mesh, options.tokens && { tokens: options.tokens }), { port: 0 });
  return {
    url: `http://127.0.0.1:${server.port}`,
    records,
    traces,
    sent: () => upstream.requests.map((request) => JSON.stringify(request.json())),
    received: () => upstream.requests.map(({ body }) => body),
    async [Symbol.asyncDispose]() {
      await server.stop(0);
      await mesh.close();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

/** Remembers what it sees. */
function watching(verdict: (texts: readonly GuardedText[]) => GuardVerdict = () => ({ action: "allow" })) {
  const seen: { stage: string; texts: readonly GuardedText[] }[] = [];
  const guard: Guard = {
    reach: 32,
    check: (texts, { stage }) => {
      seen.push({ stage, texts });
      return verdict(texts);
    },
  };
  return { guard, seen };
}

const pii = (settings: Json = {}): Json => ({ connector: "mesh.guard.pii.v1", ...settings });

/** Requests with a card number in each place that has a text. */
const requests: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
  chat: {
    "the system message": { messages: [{ role: "system", content: card }, { role: "user", content: "Hi" }] },
    "a message": { messages: [{ role: "user", content: `My card is ${card}.` }] },
    "a part of a message": { messages: [{ role: "user", content: [{ type: "text", text: card }] }] },
    "two parts of a message": {
      messages: [{
        role: "user",
        content: [{ type: "text", text: "4111 1111 1" }, { type: "text", text: "111 1111" }],
      }],
    },
    "digits with marks": { messages: [{ role: "user", content: [...card].join("\ufe0f\u20e3") }] },
    "the JSON of a tool's result": {
      messages: [
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c", type: "function", function: { name: "find", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: "c", content: `{"card":"${card.replaceAll("4", "\\u0664")}"}` },
      ],
    },
    "digits of another script": { messages: [{ role: "user", content: "٤١١١ ١١١١ ١١١١ ١١١١" }] },
    "the arguments of an earlier call": {
      messages: [
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c", type: "function", function: { name: "pay", arguments: `{"card":"${card}"}` } }],
        },
        { role: "tool", tool_call_id: "c", content: "Paid" },
      ],
    },
    "the result of a tool": {
      messages: [
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c", type: "function", function: { name: "find", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: "c", content: card },
      ],
    },
    "the description of a tool": {
      tools: [{ type: "function", function: { name: "pay", description: card, parameters: { type: "object" } } }],
    },
    "the description of a parameter": {
      tools: [{
        type: "function",
        function: {
          name: "pay",
          parameters: { type: "object", properties: { type: { type: "string", description: card } } },
        },
      }],
    },
    "a file that is text": {
      messages: [{ role: "user", content: [{ type: "file", file: { file_data: `data:text/plain,${card}` } }] }],
    },
    "an address": {
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: `https://example.com/${card}` } }] }],
    },
    "a member that is a control value elsewhere": { vendor_extension: { data: card } },
    "a member that nobody knows": { vendor_extension: { notes: [card] } },
  },
  messages: {
    "the system prompt": { system: card },
    "a block of the system prompt": { system: [{ type: "text", text: card }] },
    "a message": { messages: [{ role: "user", content: card }] },
    "the description of a tool": { tools: [{ name: "pay", description: card, input_schema: { type: "object" } }] },
    "the result of a tool": {
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: [{ type: "tool_use", id: "c", name: "find", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: card }] },
      ],
    },
    "the input of an earlier call": {
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: [{ type: "tool_use", id: "c", name: "find", input: { card } }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: "ok" }] },
      ],
    },
  },
  responses: {
    "the instructions": { instructions: card },
    "the input": { input: card },
    "a part of the input": { input: [{ role: "user", content: [{ type: "input_text", text: card }] }] },
    "the output of a function": {
      input: [
        { role: "user", content: "Hi" },
        { type: "function_call", call_id: "c", name: "find", arguments: "{}" },
        { type: "function_call_output", call_id: "c", output: card },
      ],
    },
  },
  gemini: {
    "the system instruction": { systemInstruction: { parts: [{ text: card }] } },
    "a part": { contents: [{ role: "user", parts: [{ text: card }] }] },
    "a function's response": {
      contents: [
        { role: "user", parts: [{ text: "Hi" }] },
        { role: "model", parts: [{ functionCall: { name: "find", args: {} } }] },
        { role: "user", parts: [{ functionResponse: { name: "find", response: { card } } }] },
      ],
    },
  },
};

describe("A guard of personal data", () => {
  for (const [dialect, places] of Object.entries(requests)) {
    for (const [place, body] of Object.entries(places)) {
      it(`finds a card number in ${place}, in ${dialect}`, async () => {
        await using stage = await open({ pii: pii({ action: "block", types: ["card", "iban"] }) });
        const refused = await askForCalls(stage.url, { dialect, stream: false, body });
        assertEquals(refused.status, 400, refused.body);
        assertMatch(refused.body, /pii/);
        assertNotMatch(refused.body, cardPattern);
        assertEquals(stage.sent(), []);
        const [event] = stage.records;
        assertEquals([event?.event, event?.reason], ["guard", "block"]);
        assertNotMatch(JSON.stringify(stage.records), cardPattern);
      });
    }
  }

  it("reports no more than 100 replacements of a request", async () => {
    await using stage = await open({ pii: pii() });
    const messages = Array.from({ length: 150 }, () => ({ role: "user", content: card }));
    await askForCalls(stage.url, { dialect: "chat", stream: false, body: { messages } });
    assertNotMatch(stage.sent()[0]!, cardPattern);
    assertEquals(stage.records.filter(({ event }) => event === "guard").length, 100);
    const routing = stage.records.find(({ type }) => type === "routing") as Json;
    assertEquals((routing.guards as readonly unknown[]).length, 100);
  });

  for (
    const [what, text, sent] of [
      ["keeps a request as it came in which it finds nothing", '{"role": "user", "content": "Hi"}', undefined],
      [
        "sees what is sent of two members with one name",
        `{"role":"user","content":"${card}","content":"Hi"}`,
        '{"role":"user","content":"Hi"}',
      ],
      [
        "sees what is sent of two members with one name, which is escaped",
        `{"role":"user","content":"${card}","c\\u006fntent":"Hi"}`,
        '{"role":"user","content":"Hi"}',
      ],
    ] as const
  ) {
    it(what, async () => {
      await using stage = await open({ pii: pii() });
      const body = `{"model":"chat", "seed":12345678901234567890,"messages":[${text}]}`;
      const headers = { "content-type": "application/json" };
      const response = await fetch(`${stage.url}/v1/chat/completions`, { method: "POST", headers, body });
      assertEquals(response.status, 200, await response.text());
      const [received] = stage.received();
      assertNotMatch(received!, cardPattern);
      if (sent === undefined) assertMatch(received!, /"seed":12345678901234567890,"messages":\[\{"role": "user"/);
      else assert(received!.includes(sent), received);
    });
  }

  it("masks it, also where it goes on in the next part", async () => {
    await using stage = await open({ pii: pii() });
    const parts = [{ type: "text", text: "Card 4111 1111 1" }, { type: "text", text: "111 1111, thanks" }];
    const body = { messages: [{ role: "user", content: parts }, { role: "user", content: "Mail a.b@example.com" }] };
    await askForCalls(stage.url, { dialect: "chat", stream: false, body });
    const { messages } = JSON.parse(stage.sent()[0]!);
    assertEquals(messages[0].content.map(({ text }: { text: string }) => text), ["Card [CARD]", ", thanks"]);
    assertEquals(messages[1].content, "Mail [EMAIL]");
  });

  for (const dialect of Object.keys(clientDialects)) {
    for (const stream of streaming) {
      it(`restores it in text and tool arguments, in any order (${dialect}, ${stream ? "stream" : "whole"})`, async () => {
        const text = "Paid [CARD_1] for [EMAIL_1]: [CARD_2].";
        const call = { name: "read_file", arguments: '{"path":"[CARD_1] [CARD_9]"}' };
        const upstream = respond({ text, toolCalls: [call], pieces: [...text] });
        await using stage = await open({ pii: pii({ action: "restore" }) }, upstream);
        const words = `From a@example.com with 5555 5555 5555 4444 and ${card}, twice: 5555 5555 5555 4444`;
        const body = bodyOf(dialect, words);
        const got = await askForCalls(stage.url, { dialect, stream, body });
        assertEquals(got.text, `Paid 5555 5555 5555 4444 for a@example.com: ${card}.`, got.body);
        assertEquals(got.calls[0]?.input, { path: "5555 5555 5555 4444 [CARD_9]" });
        assertNotMatch(stage.sent()[0]!, /4111|5555|example\.com/);
        assertMatch(stage.sent()[0]!, /From \[EMAIL_1\] with \[CARD_1\] and \[CARD_2\], twice: \[CARD_1\]/);
      });
    }
  }
});

/** The raw response to a request in a dialect. */
async function post(url: string, { dialect, stream }: { dialect: string; stream: boolean }) {
  const { path, body } = clientDialects[dialect]!;
  const response = await fetch(url + path(stream), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...body, ...(stream && dialect !== "gemini" && { stream }) }),
  });
  return { status: response.status, body: await response.text() };
}

/** A request with these words. */
function bodyOf(dialect: string, words: string): Json {
  if (dialect === "responses") return { input: words };
  if (dialect === "gemini") return { contents: [{ role: "user", parts: [{ text: words }] }] };
  return { messages: [{ role: "user", content: words }] };
}

const leaks: Readonly<Record<string, StreamOptions>> = {
  "in one piece": { text: `It is ${card}, I think` },
  "over three deltas": { text: `It is ${card}.`, pieces: ["It is 4111 1", "111 111", "1 1111", "."] },
  "one character at a time": { text: `It is ${card}.`, pieces: [..."It is ", ...card, ..." as far as I know"] },
  "in fullwidth digits": {
    text: "４１１１ １１１１ １１１１ １１１１",
    pieces: [..."４１１１ １１１１ １１１１ １１１１"],
  },
  "in the reasoning": { reasoning: `The card is ${card}`, text: "No" },
  "in tool arguments": { toolCalls: [{ name: "read_file", arguments: `{"path":"${card}"}` }] },
  "in tool arguments, escaped": {
    toolCalls: [{ name: "read_file", arguments: `{"path":"${card.replaceAll("4", "\\u0664")}"}` }],
  },
};

describe("A response", () => {
  for (const [how, options] of Object.entries(leaks)) {
    for (const stream of streaming) {
      it(`with a card number ${how} does not leave (${stream ? "stream" : "whole"})`, async () => {
        await using stage = await open({ pii: pii({ types: ["card"], action: "block" }) }, respond(options));
        const { status, body } = await post(stage.url, { dialect: "chat", stream });
        // the name of a tool is sent before its arguments
        assertEquals(status, stream && options.toolCalls !== undefined ? 200 : 400, body);
        assertMatch(body, /content_blocked/);
        assertNotMatch(joinDeltas(body), /4111|１１１１|0664/);
        const routing = stage.records.find(({ type }) => type === "routing") as Json | undefined;
        assertEquals([routing?.status, routing?.code], [400, "content_blocked"]);
        assertMatch(JSON.stringify(routing?.guards), /"rule":"card"/);
        assertNotMatch(JSON.stringify(stage.records), cardPattern);
      });

      it(`with a card number ${how} is masked (${stream ? "stream" : "whole"})`, async () => {
        await using stage = await open({ pii: pii({ types: ["card"] }) }, respond(options));
        const { status, body } = await askForCalls(stage.url, { dialect: "chat", stream });
        assertEquals(status, 200, body);
        assertMatch(stream ? joinDeltas(body) : body, /\[CARD\]/);
        assertNotMatch(joinDeltas(body), /4111|1111|１１１１/);
      });
    }
  }

  for (const dialect of Object.keys(clientDialects)) {
    it(`that is blocked in mid-stream ends with the error of ${dialect}, and its provider's call`, async () => {
      const pieces = [..."word ".repeat(600).match(/.{5}/g)!, card, ..." and more".repeat(200).match(/.{9}/g)!];
      await using stage = await open({ pii: pii({ types: ["card"], action: "block" }) }, respond({ pieces }));
      const { status, body } = await post(stage.url, { dialect, stream: true });
      assertEquals(status, 200);
      assert(body.match(/word /g)!.length > 400, body);
      assertMatch(body, /The guard \\?"pii\\?" has blocked the response/);
      assertNotMatch(body, /4111|and more|\[DONE\]/);
      const routing = stage.records.find(({ type }) => type === "routing") as Json;
      assertEquals([routing.status, routing.code], [400, "content_blocked"]);
    });
  }

  it("passes whole, delta by delta, when nothing is found, and holds back no more than the longest match", async () => {
    const { guard, seen } = watching();
    const text = "One two three four five six seven eight nine ten, and so on to the end of the line";
    await using stage = await open({ guard }, respond({ text }));
    const got = await askForCalls(stage.url, { dialect: "chat", stream: true });
    assertEquals(got.text, text);
    assertEquals(got.end, "stop");
    const inResponse = seen.filter(({ stage }) => stage === "response");
    assert(inResponse.length > 3, "it is checked as it arrives");
    assert(inResponse.every(({ texts }) => texts.every(({ text }) => text.length <= 32 + 64 + 12)));
  });

  const beside: Readonly<Record<string, readonly [choice: Json, event: Json]>> = {
    "a repetition of what its deltas say": [{ message: { role: "assistant", content: card } }, {}],
    "a text of its choice": [{ text: card }, {}],
    "its sources": [{}, { search_results: [{ title: card, url: "https://example.com" }] }],
  };
  for (const [what, [choice, event]] of Object.entries(beside)) {
    it(`is checked beside its deltas: ${what}`, async () => {
      const chunk = (delta: Json, finish: string | null) => {
        const choices = [{ index: 0, delta, finish_reason: finish, ...choice }];
        const head = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
        return `data: ${JSON.stringify({ ...head, choices, ...event })}\n\n`;
      };
      const events = chunk({ role: "assistant", content: "Hi" }, null) + chunk({ content: "!" }, "stop");
      const upstream = raw(`${formatHead(200, { "content-type": "text/event-stream" })}${events}data: [DONE]\n\n`);
      await using stage = await open({ pii: pii({ types: ["card"] }) }, upstream);
      const { text, body } = await askForCalls(stage.url, { dialect: "chat", stream: true });
      assertEquals(text, "Hi!");
      assertNotMatch(body, cardPattern);
    });
  }

  it("keeps the order of its members", async () => {
    const { guard } = watching();
    const options = { reasoning: "Let me think", text: "Reading", toolCalls: [{ name: "read_file", arguments: "{}" }] };
    await using stage = await open({ guard }, respond(options));
    const { body } = await askForCalls(stage.url, { dialect: "chat", stream: true });
    const order = ["Let me think", "Reading", '"read_file"'].map((part) => joinEvents(body).indexOf(part));
    assertEquals(order, [...order].sort((a, b) => a - b));
    assert(!order.includes(-1), body);
  });
});

/** The texts of all deltas, joined per member. */
function joinDeltas(body: string): string {
  const parts: Record<string, string> = {};
  for (const line of body.split("\n")) {
    if (!line.startsWith("data: {")) continue;
    for (const { delta = {} } of JSON.parse(line.slice(6)).choices ?? []) {
      const { content = "", reasoning_content = "", tool_calls = [] } = delta;
      parts.content = (parts.content ?? "") + (content ?? "");
      parts.reasoning = (parts.reasoning ?? "") + (reasoning_content ?? "");
      for (const { function: { arguments: text = "" } = {} } of tool_calls) parts.call = (parts.call ?? "") + text;
    }
  }
  return Object.values(parts).join("\n") || body;
}

/** All deltas, one after the other. */
function joinEvents(body: string): string {
  return body.split("\n").filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.stringify(JSON.parse(line.slice(6)).choices?.[0]?.delta ?? {}))
    .join("").replaceAll('"}{"content":"', "").replaceAll('"}{"reasoning_content":"', "");
}

describe("A guard", () => {
  const failing: Readonly<Record<string, Guard["check"]>> = {
    "that throws": () => {
      throw new Error("broken with sk-secret-0123456789abcdef");
    },
    "that rejects": () => Promise.reject(new Error("broken")),
    "that hangs": () => new Promise(() => {}),
    "that returns nothing": () => undefined as unknown as GuardVerdict,
    "that replaces a path that is not there": () => ({ action: "replace", texts: [{ path: "nowhere", text: "" }] }),
    "that replaces a path twice": ([first]) => ({
      action: "replace",
      texts: [{ path: first!.path, text: "a" }, { path: first!.path, text: "b" }],
    }),
    "that replaces with no text": ([first]) => ({
      action: "replace",
      texts: [{ path: first!.path, text: 1 as unknown as string }],
    }),
    "that blocks without a code": () => ({ action: "block" }) as unknown as GuardVerdict,
  };
  for (const [how, check] of Object.entries(failing)) {
    it(`${how} blocks, unless it may not`, async () => {
      const guards = { strict: { connector: "test.strict.v1" }, lax: { connector: "test.lax.v1", on_error: "allow" } };
      for (const [name, expected] of [["strict", 400], ["lax", 200]] as const) {
        const upstream = await startUpstream(respond());
        const clock = fakeClock({ skipSleeps: true });
        const mesh = new ModelMesh({ clock });
        for (const id of ["test.strict.v1", "test.lax.v1"]) {
          mesh.registerConnector(id, { id, kind: "guard", create: () => ({ check }) });
        }
        await mesh.initialize(testConfig({
          upstreams: { a: upstream.url },
          pool: { guards: [name] },
          config: { guards: { [name]: guards[name] } },
        }));
        const server = await listen(createHandler(mesh), { port: 0 });
        const asking = askForCalls(`http://127.0.0.1:${server.port}`, { dialect: "chat", stream: false });
        for (let turn = 0; how === "that hangs" && turn < 200; turn++) {
          await new Promise((resolve) => setTimeout(resolve, 1));
          await clock.advance(100);
        }
        const { status, body } = await asking;
        assertEquals(status, expected, body);
        assertNotMatch(body, /sk-secret/);
        await server.stop(0);
        await mesh.close();
        await upstream[Symbol.asyncDispose]();
      }
    });
  }

  it("of the proxy, of a client and of a pool act one after the other, each on what the one before has left", async () => {
    const adding = (word: string): Guard => ({
      check: (texts, { stage }) =>
        stage === "response" ? { action: "allow" } : {
          action: "replace",
          texts: texts.map(({ path, text }) => ({ path, text: `${text} ${word}` })),
        },
    });
    const upstream = await startUpstream(respond());
    const mesh = new ModelMesh({ clock: fakeClock() });
    for (const name of ["first", "second", "third"]) {
      mesh.registerConnector(`test.${name}.v1`, { id: `test.${name}.v1`, kind: "guard", create: () => adding(name) });
    }
    await mesh.initialize(testConfig({
      upstreams: { a: upstream.url },
      pool: { guards: ["third", "first"] },
      config: {
        guards: Object.fromEntries(
          ["first", "second", "third"].map((name) => [name, { connector: `test.${name}.v1` }]),
        ),
        proxy: {
          guards: ["first"],
          auth: { tokens: [{ token: "token-of-someone-0123456789", name: "someone", guards: ["second"] }] },
        },
      },
    }));
    const server = await listen(createHandler(mesh), { port: 0 });
    const response = await fetch(`http://127.0.0.1:${server.port}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer token-of-someone-0123456789" },
      body: JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Hi" }] }),
    });
    await response.text();
    assertEquals(upstream.requests[0]!.json().messages[0].content, "Hi first second third");
    await server.stop(0);
    await mesh.close();
    await upstream[Symbol.asyncDispose]();
  });

  it("that may fail is not asked about the rest of a stream, and its error is not quoted", async () => {
    let checks = 0;
    const guard: Guard = {
      reach: 4,
      check: (texts, { stage }) => {
        if (stage === "request") return { action: "allow" };
        checks++;
        throw new Error(`cannot read ${JSON.stringify(texts)}`);
      },
    };
    const text = "The quick brown fox jumps over the lazy dog";
    const config = { guards: { guard: { connector: "test.guard.v1", on_error: "allow" } } };
    await using stage = await open({ guard }, respond({ text, pieces: [...text] }), { config });
    const got = await askForCalls(stage.url, { dialect: "chat", stream: true });
    assertEquals([got.text, checks], [text, 1]);
    assertEquals(stage.traces, ['The guard "guard" could not check the response, which passes: Error was thrown']);
  });

  it("that hangs takes no longer than its request may", async () => {
    const clock = fakeClock();
    const gate = new Gate();
    const guard: Guard = {
      check: () => {
        gate.open();
        return new Promise(() => {});
      },
    };
    await using stage = await open({ guard }, respond(), { clock });
    const responding = fetch(`${stage.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-mesh-route": "deadline=2s" },
      body: JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Hi" }] }),
    });
    await gate.pass();
    await clock.advance(2_000);
    const response = await responding;
    assertEquals(response.status, 504, await response.text());
    assertEquals(stage.sent(), []);
  });

  it("can change the texts that it receives without an effect", async () => {
    const careless: Guard = {
      check: (texts) => {
        const own = texts as { path: string; text: string }[];
        own[0]!.text = "changed";
        own.length = 0;
        return { action: "allow" };
      },
    };
    await using stage = await open({ careless, pii: pii({ action: "block", types: ["card"] }) });
    const body = { messages: [{ role: "user", content: card }] };
    const { status } = await askForCalls(stage.url, { dialect: "chat", stream: false, body });
    assertEquals([status, stage.sent()], [400, []]);
  });

  it("that blocks ends the request, whatever other names it has", async () => {
    const config = { pools: { chat: { models: ["a"], guards: ["pii"] }, other: { models: ["a"] } } };
    await using stage = await open({ pii: pii({ action: "block", types: ["card"] }) }, respond(), { config });
    const body = { models: ["other"], messages: [{ role: "user", content: card }] };
    const { status } = await askForCalls(stage.url, { dialect: "chat", stream: false, body });
    assertEquals([status, stage.sent()], [400, []]);
  });

  it("does not act on a request to a pool without it", async () => {
    const { guard, seen } = watching();
    await using stage = await open({ guard }, respond(), { pool: { guards: undefined }, config: { proxy: {} } });
    const { status } = await askForCalls(stage.url, { dialect: "chat", stream: false });
    assertEquals([status, seen.length], [200, 0]);
  });
});

describe("The configuration of guards", () => {
  const check = (config: Json) =>
    new ModelMesh().initialize(testConfig({ upstreams: { a: "http://127.0.0.1:9" }, config }));
  const regex = (pattern: string) => ({
    guards: { x: { connector: "mesh.guard.regex.v1", patterns: { x: pattern } } },
  });
  const problems: Readonly<Record<string, readonly [Json, RegExp]>> = {
    "a name that does not exist": [{ proxy: { guards: ["nobody"] } }, /proxy\.guards\[0\]: no guard "nobody"/],
    "an unknown connector": [{ guards: { x: { connector: "mesh.guard.rgx.v1" } } }, /no guard connector/],
    "a lookahead": [regex("a(?=b)"), /guards\.x\.patterns\.x: is not a pattern that takes linear time/],
    "a lookbehind": [regex("(?<=b)a"), /linear time/],
    "a backreference": [regex("(a)\\1"), /linear time/],
    "an invalid pattern": [regex("a("), /linear time/],
    "a pattern of the empty text": [regex("a*"), /matches the empty text/],
    "no pattern": [{ guards: { x: { connector: "mesh.guard.regex.v1", patterns: {} } } }, /has no pattern/],
    "a missing attribute": [{ guards: { x: { connector: "mesh.guard.moderation.v1" } } }, /guards\.x\.pool: missing/],
    "an unknown attribute": [{ guards: { x: pii({ kinds: ["card"] }) } }, /unknown key/],
    "an unknown kind": [{ guards: { x: pii({ types: ["cards"] }) } }, /guards\.x\.types/],
  };
  for (const [what, [config, message]] of Object.entries(problems)) {
    it(`with ${what} is refused`, async () => {
      const error = await assertRejects(() => check(config), Error);
      assertMatch(error.message, message);
    });
  }
});

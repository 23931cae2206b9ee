/**
 * Servers write OpenAI's chat responses in many ways: members that are null, arguments as objects, calls without ids,
 * names that come late. Whatever they write, each dialect's client reads the same calls, non-streaming and streaming.
 */
import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { askForCalls, clientDialects, type DialectResponse } from "../../support/_dialect_calls.ts";
import type { Json } from "../../support/_dialects.ts";
import { startTestProxy } from "../../support/proxy.ts";
import { type Behaviour, completeResponse, json, ok, startUpstream } from "../../support/upstream.ts";

const head = { id: "chatcmpl-1", object: "chat.completion", created: 1, model: "a" };
const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };

function answer(message: unknown, more: Json = {}, top: Json = {}): Json {
  const choices = [{ index: 0, message, finish_reason: "tool_calls", logprobs: null, ...more }];
  return { ...head, choices, usage, ...top };
}

const args = '{"path":"a"}';
const fn = { name: "read_file", arguments: args };
const call = { id: "call_1", type: "function", function: fn };
const calling = (tool_call: unknown) => ({ role: "assistant", content: null, tool_calls: [tool_call] });

/** Deltas of one stream, and its finish reason. */
function events(deltas: readonly Json[], finish_reason = "tool_calls"): Behaviour {
  const chunks = [...deltas.map((delta) => [delta, null] as const), [{}, finish_reason] as const]
    .map(([delta, reason]) => ({
      ...head,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, finish_reason: reason }],
    }));
  const text = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
  return completeResponse(200, `${text}data: [DONE]\n\n`, "text/event-stream");
}

const deltas = (...calls: Json[]) => calls.map((one) => ({ tool_calls: [one] }));

async function readAll(behaviour: Behaviour, check: (answer: DialectResponse, name: string) => void, pool: Json = {}) {
  for (const dialect of Object.keys(clientDialects)) {
    for (const stream of [false, true]) {
      await using upstream = await startUpstream(behaviour);
      await using proxy = await startTestProxy({ upstreams: { a: upstream.url }, pool });
      check(await askForCalls(proxy.url, { dialect, stream }), `${dialect}${stream ? ", streamed" : ""}`);
    }
  }
}

const ends: Readonly<Record<string, readonly [calls: string, length: string]>> = {
  chat: ["tool_calls", "length"],
  messages: ["tool_use", "max_tokens"],
  gemini: ["STOP", "MAX_TOKENS"],
  responses: ["completed", "max_output_tokens"],
};

function assertCall(read: DialectResponse, name: string, input: unknown = { path: "a" }): void {
  assertEquals(read.status, 200, `${name}: ${read.body}`);
  assertEquals(read.calls.map(({ name, input }) => [name, input]), [["read_file", input]], `${name}: ${read.body}`);
  assertMatch(read.calls[0]!.id, /./, name);
  assertEquals(read.end, ends[name.split(",")[0]!]![0], name);
  assert(!read.body.includes("[object Object]"), name);
}

const sameCall: Readonly<Record<string, Json>> = {
  "another role": answer({ ...calling(call), role: "model" }),
  "a time with fractions": answer(calling(call), {}, { created: 1.5 }),
  "an index that begins at 1": answer(calling(call), { index: 1 }),
  "an object of arguments": answer(calling({ ...call, function: { ...fn, arguments: { path: "a" } } })),
  "no id": answer(calling({ type: "function", function: fn })),
  "an id of null, and an index": answer(calling({ ...call, index: 0, id: null })),
  "an empty id": answer(calling({ ...call, id: "" })),
  "no type": answer(calling({ id: "call_1", function: fn })),
  "the older function_call": answer({ role: "assistant", content: null, function_call: fn }, {
    finish_reason: "function_call",
  }),
  "the finish reason stop": answer(calling(call), { finish_reason: "stop" }),
  "no finish reason": answer(calling(call), { finish_reason: undefined }),
  "an empty finish reason": answer(calling(call), { finish_reason: "" }),
  "one call in place of the list": answer({ role: "assistant", content: null, tool_calls: call }),
  "the finish reason tool_use": answer(calling(call), { finish_reason: "tool_use" }),
  "null in the usage": answer(calling(call), {}, {
    usage: { ...usage, prompt_tokens_details: { cached_tokens: null }, completion_tokens_details: null },
  }),
  "a usage of null": answer(calling(call), {}, { usage: null }),
  "neither id, object, time nor model": answer(calling(call), {}, {
    id: undefined,
    object: undefined,
    created: undefined,
    model: undefined,
  }),
  "no role, no content and no index": answer({ tool_calls: [call] }, { index: undefined }),
};

const oddUsages: Readonly<Record<string, unknown>> = {
  "usage in text": { prompt_tokens: "3", completion_tokens: "4", total_tokens: "7" },
  "negative usage": { prompt_tokens: -3, completion_tokens: -4, total_tokens: -7 },
  "usage with fractions": { prompt_tokens: 3.5, completion_tokens: 1e300, total_tokens: 7 },
  "usage in part": { prompt_tokens: 3, total_tokens: 7, prompt_tokens_details: { cached_tokens: -1 } },
  "usage with null beside its counts": { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7, cached_tokens: null },
  "empty usage": {},
};

describe("A non-streaming response with", () => {
  for (const [what, body] of Object.entries(sameCall)) {
    it(`${what} is a tool call in every dialect`, () => readAll(json(body), assertCall));
  }

  for (
    const [what, given] of Object.entries({
      "no arguments": undefined,
      "arguments of null": null,
      "arguments that are the JSON of null": "null",
      "empty ones": "",
      "blank ones": " \n",
    })
  ) {
    it(`${what} is a tool call with an empty object`, async () => {
      const body = answer(calling({ ...call, function: { name: "read_file", arguments: given } }));
      await readAll(json(body), (read, name) => {
        assertCall(read, name, {});
        if (/chat|responses/.test(name)) assert(read.body.includes('"arguments":"{}"'), `${name}: ${read.body}`);
      });
    });
  }

  for (const [what, given] of Object.entries(oddUsages)) {
    it(`${what} has natural numbers in every dialect`, async () => {
      const body = answer({ role: "assistant", content: "Hi" }, { finish_reason: "stop" }, { usage: given });
      await readAll(json(body), ({ status, body }, name) => {
        assertEquals(status, 200, `${name}: ${body}`);
        const counts = [...body.matchAll(/okens?(?:Count)?":([^,}{]+)/g)].map(([, count]) => count);
        assertEquals(counts.filter((count) => !/^\d+$/.test(count!) && count !== "null"), [], `${name}: ${body}`);
        assert(!/"usage":\{\}|"(total|cached)_tokens":null/.test(body), `${name}: ${body}`);
      });
    });
  }

  it("a total that has one part has the other, too", async () => {
    const given = { prompt_tokens: 3, total_tokens: 7 };
    const body = answer({ role: "assistant", content: "Hi" }, { finish_reason: "stop" }, { usage: given });
    await using upstream = await startUpstream(json(body));
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url } });
    assertEquals((await (await proxy.chat()).json()).usage, usage);
  });

  it("the finish reason tool_calls and no call ends like text", async () => {
    const body = answer({ role: "assistant", content: "Hi" });
    const stops: Json = { chat: "stop", messages: "end_turn", gemini: "STOP", responses: "completed" };
    await readAll(
      json(body),
      ({ end, body }, name) => assertEquals(end, stops[name.split(",")[0]!], `${name}: ${body}`),
    );
  });

  it("thoughts under two names, one of which is null, has them", async () => {
    const body = answer({ role: "assistant", content: "Hi", reasoning: "Hm", reasoning_content: null });
    await readAll(json(body), ({ body }, name) => assertEquals(body.includes("Hm"), !/gemini/.test(name), body));
  });

  for (const [what, calls] of Object.entries({ null: null, "an empty list": [], "an object": {} })) {
    it(`tool_calls that are ${what} is its text`, async () => {
      const body = answer({ role: "assistant", content: "Hi", tool_calls: calls }, { finish_reason: "stop" });
      await readAll(json(body), ({ status, calls, text, body }, name) => {
        assertEquals([status, calls, text], [200, [], "Hi"], `${name}: ${body}`);
      });
    });
  }

  for (const reason of ["model_length", "max_tokens", "MAX_TOKENS", "max_output_tokens"]) {
    it(`the finish reason ${reason} was cut for its length`, async () => {
      const body = answer({ role: "assistant", content: "Hi" }, { finish_reason: reason });
      await readAll(json(body), ({ end }, name) => assertEquals(end, ends[name.split(",")[0]!]![1], name));
    });
  }

  const invalid: Readonly<Record<string, unknown>> = {
    "no message": answer(undefined),
    "a message of null": answer(null),
    "a message that is text": answer("Hi"),
    "a choice of null": { ...head, choices: [null] },
    "a call without a function": answer(calling({ id: "call_1", type: "function" })),
    "a call without a name": answer(calling({ ...call, function: { arguments: args } })),
    "a call of null": answer(calling(null)),
    "a generation that broke off": answer({ role: "assistant", content: "H" }, { finish_reason: "error" }),
  };
  for (const [what, body] of Object.entries(invalid)) {
    it(`${what} goes on to the next model`, async () => {
      for (const dialect of Object.keys(clientDialects)) {
        for (const stream of [false, true]) {
          await using broken = await startUpstream(json(body));
          await using sound = await startUpstream(ok({ text: "Hello" }));
          const upstreams = { a: broken.url, b: sound.url };
          await using proxy = await startTestProxy({ upstreams, pool: { retry: { max_attempts: 0 } } });
          const { status, text, body: answered } = await askForCalls(proxy.url, { dialect, stream });
          assertEquals([status, text], [200, "Hello"], `${dialect} ${stream}: ${answered}`);
        }
      }
    });
  }

  const odd: readonly (readonly [what: string, content: unknown, text: string])[] = [
    ["a part", { type: "text", text: "Hi" }, "Hi"],
    ["a number", 5, "5"],
    ["parsed JSON", { city: "Rome" }, '{"city":"Rome"}'],
  ];
  for (const [what, content, text] of odd) {
    it(`content that is ${what} is text in every dialect`, async () => {
      const body = answer({ role: "assistant", content, refusal: {} }, { finish_reason: "stop" });
      await readAll(json(body), (read, name) => {
        assertEquals([read.status, read.text], [200, text], `${name}: ${read.body}`);
      });
    });
  }

  it("one index for two calls has both in every dialect", async () => {
    for (const index of [0, null]) {
      const tool_calls = [{ ...call, index }, { ...call, index, id: "call_2", function: second }];
      await readAll(json(answer({ role: "assistant", content: null, tool_calls })), ({ calls, body }, name) => {
        const read = calls.map(({ name, input }) => [name, input]);
        assertEquals(read, [["read_file", { path: "a" }], ["write_file", { path: "b" }]], `${name}: ${body}`);
      });
    }
  });

  it("one id for two calls has two in every dialect", async () => {
    const body = answer({ role: "assistant", content: null, tool_calls: [call, { ...call, function: second }] });
    await readAll(json(body), ({ calls }, name) => assertEquals(new Set(calls.map(({ id }) => id)).size, 2, name));
  });

  it("the older function_call has its arguments as text for a client that sends functions", async () => {
    const sent = { role: "assistant", content: null, function_call: { ...fn, arguments: { path: "a" } } };
    await using upstream = await startUpstream(json(answer(sent, { finish_reason: "function_call" })));
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url } });
    const { choices: [choice] } = await (await proxy.chat({ functions: [{ name: "read_file" }] })).json();
    assertEquals(choice.message.function_call, fn);
  });

  it("the older function_call keeps it for a client that sends functions", async () => {
    await using upstream = await startUpstream(json(sameCall["the older function_call"]!));
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url } });
    const { choices: [choice] } = await (await proxy.chat({ functions: [{ name: "read_file" }] })).json();
    assertEquals([choice.message.function_call, choice.finish_reason], [fn, "function_call"]);
  });
});

const pieces = ['{"pa', 'th":"a"}'];

const streamedCall: Readonly<Record<string, readonly Json[]>> = {
  "its arguments in pieces": deltas(
    { index: 0, ...call, function: { ...fn, arguments: pieces[0] } },
    { index: 0, function: { arguments: pieces[1] } },
  ),
  "no id": deltas({ index: 0, function: fn }),
  "no index": deltas(
    { ...call, function: { ...fn, arguments: pieces[0] } },
    { function: { arguments: pieces[1] } },
  ),
  "the name in a later delta": deltas(
    { index: 0, id: "call_1", type: "function", function: { arguments: pieces[0] } },
    { index: 0, function: { name: "read_file", arguments: pieces[1] } },
  ),
  "id and name in every delta": deltas(
    { index: 0, ...call, function: { ...fn, arguments: pieces[0] } },
    { index: 0, id: "call_1", function: { ...fn, arguments: pieces[1] } },
  ),
  "an object of arguments": deltas({ index: 0, ...call, function: { ...fn, arguments: { path: "a" } } }),
  "arguments of null first": deltas(
    { index: 0, ...call, function: { ...fn, arguments: null } },
    { index: 0, id: null, function: { name: null, arguments: args } },
  ),
  "reasoning and text in between": [
    { tool_calls: [{ index: 0, ...call, function: { ...fn, arguments: pieces[0] } }] },
    { reasoning_content: "Hm" },
    { content: "Well" },
    { tool_calls: [{ index: 0, function: { arguments: pieces[1] } }] },
  ],
  "the older function_call": [
    { role: "assistant", function_call: { name: "read_file", arguments: pieces[0] } },
    { function_call: { arguments: pieces[1] } },
  ],
  "one call in place of a list": [{ tool_calls: call }],
  "tool_calls of null around it": [
    { content: null, tool_calls: null },
    ...deltas({ index: 0, ...call }),
    { tool_calls: [] },
  ],
};

const second = { name: "write_file", arguments: '{"path":"b"}' };
const twoCalls: Readonly<Record<string, readonly Json[]>> = {
  "an index of 0 for both": deltas({ index: 0, ...call }, { index: 0, ...call, id: "call_2", function: second }),
  "an index of 0 for both, and no ids": deltas({ index: 0, function: fn }, { index: 0, function: second }),
  "neither index nor id": deltas({ function: fn }, { function: second }),
  "ids but no index": deltas(call, { ...call, id: "call_2", function: second }),
  "both in one delta": [{ tool_calls: [call, { ...call, id: "call_2", function: second }] }],
  "pieces that alternate": deltas(
    { index: 0, ...call, function: { ...fn, arguments: pieces[0] } },
    { index: 1, ...call, id: "call_2", function: { ...second, arguments: '{"path"' } },
    { index: 0, function: { arguments: pieces[1] } },
    { index: 1, function: { arguments: ':"b"}' } },
  ),
  "indexes that are text": deltas(
    { index: "0", ...call, function: { ...fn, arguments: pieces[0] } },
    { index: "1", ...call, id: "call_2", function: { ...second, arguments: '{"path"' } },
    { index: "0", function: { arguments: pieces[1] } },
    { index: "1", function: { arguments: ':"b"}' } },
  ),
  "one id for both": deltas({ index: 0, ...call }, { index: 1, ...call, function: second }),
  "indexes that begin at 1": deltas({ index: 1, ...call }, { index: 2, ...call, id: "call_2", function: second }),
};

async function readStreams(
  behaviour: Behaviour,
  check: (answer: DialectResponse, name: string) => void,
): Promise<void> {
  for (const dialect of Object.keys(clientDialects)) {
    await using upstream = await startUpstream(behaviour);
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url } });
    check(await askForCalls(proxy.url, { dialect, stream: true }), dialect);
  }
}

describe("A stream with", () => {
  for (const [what, list] of Object.entries(streamedCall)) {
    it(`${what} is a tool call in every dialect`, () => readStreams(events(list), assertCall));
    it(`${what} and the finish reason stop is one, too`, () => readStreams(events(list, "stop"), assertCall));
  }

  for (const [what, list] of Object.entries(twoCalls)) {
    it(`${what} is two tool calls in every dialect`, () =>
      readStreams(events(list), ({ calls, body }, name) => {
        const read = calls.map(({ name, input }) => [name, input]);
        assertEquals(read, [["read_file", { path: "a" }], ["write_file", { path: "b" }]], `${name}: ${body}`);
        assertNotEquals(calls[0]!.id, calls[1]!.id, name);
      }));
  }

  const text = (content: string, choice: Json = {}) =>
    `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta: { content }, ...choice }] })}\n\n`;

  it("an empty finish reason in every event ends with its last one", async () => {
    for (const none of ["", "null"]) {
      const events = [text("a", { finish_reason: none }), text("b", { finish_reason: none })];
      const stream = (last: string) => completeResponse(200, `${events.join("")}${last}`, "text/event-stream");
      await readStreams(stream(text("", { finish_reason: "length" })), (read, name) => {
        assertEquals([read.text, read.end], ["ab", ends[name]![1]], `${name}: ${read.body}`);
      });
      await using upstream = await startUpstream(stream(""));
      await using proxy = await startTestProxy({ upstreams: { a: upstream.url } });
      const cut = await (await proxy.chat({ stream: true })).text();
      assert(cut.includes('"error"') && !cut.includes('"finish_reason":"stop"'), cut);
    }
  });

  it("a message in place of deltas is its text in every dialect", async () => {
    const choices = [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }];
    const stream = completeResponse(
      200,
      `data: ${JSON.stringify({ ...head, choices })}\n\ndata: [DONE]\n\n`,
      "text/event-stream",
    );
    await readStreams(stream, ({ text, body }, name) => assertEquals(text, "Hi", `${name}: ${body}`));
  });

  it("one unreadable event is read without it, and two in a row end it", async () => {
    const chunk = (content: string) =>
      `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;
    const end = `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}\n\n`;
    const broken = 'data: {"choi\n\n';
    const once = completeResponse(
      200,
      `${chunk("a")}${broken}${chunk("b")}${end}data: [DONE]\n\n`,
      "text/event-stream",
    );
    await readStreams(once, ({ text, body }, name) => assertEquals(text, "ab", `${name}: ${body}`));
    await using upstream = await startUpstream(
      completeResponse(200, `${chunk("a")}${broken}${broken}${chunk("b")}${end}data: [DONE]\n\n`, "text/event-stream"),
    );
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url } });
    const text = await (await proxy.chat({ stream: true })).text();
    assert(text.includes('"error"') && !text.includes("[DONE]"), text);
  });
});

/**
 * Servers write streams with small deviations: without the blank line after the last event, without a finish reason or
 * arguments, under the media type of something else. Each dialect's client reads them as complete responses.
 */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { askForCalls, clientDialects, type DialectResponse } from "../../support/_dialect_calls.ts";
import { dataIn } from "../../support/_dialect_responses.ts";
import { type Dialect, type Json, speaking } from "../../support/_dialects.ts";
import { startDialectProxy } from "../../support/_dialect_proxy.ts";
import { seeded } from "../../support/_mutations.ts";
import { createDeviatingStream } from "../../support/_stream_deviations.ts";
import { startTestProxy } from "../../support/proxy.ts";
import { type Behaviour, completeResponse, startUpstream } from "../../support/upstream.ts";

const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "a" };
const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };

function event(delta: Json, finish_reason: string | null = null, more: Json = {}): string {
  return `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason }], ...more })}\n\n`;
}

const calling = (fn: Json, more: Json = {}) =>
  event({ tool_calls: [{ index: 0, id: "call_1", type: "function", function: fn, ...more }] });
const done = "data: [DONE]\n\n";
const sse = (text: string, type = "text/event-stream") => completeResponse(200, text, type);

/** Asks in every dialect, streaming. */
async function readAll(behaviour: Behaviour, check: (answer: DialectResponse, dialect: string) => void): Promise<void> {
  for (const dialect of Object.keys(clientDialects)) {
    await using upstream = await startUpstream(behaviour);
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url } });
    check(await askForCalls(proxy.url, { dialect, stream: true }), dialect);
  }
}

const ends: Readonly<Record<string, readonly [text: string, calls: string]>> = {
  chat: ["stop", "tool_calls"],
  messages: ["end_turn", "tool_use"],
  gemini: ["STOP", "STOP"],
  responses: ["completed", "completed"],
};

const completion = { ...head, object: "chat.completion" };
const message = { role: "assistant", content: "Hi" };
const complete = JSON.stringify({ ...completion, choices: [{ index: 0, message, finish_reason: "stop" }], usage });
const sameText: Readonly<Record<string, Behaviour>> = {
  "no blank line after its last event": sse((event({ content: "Hi" }) + event({}, "stop")).trimEnd()),
  "the finish reason tool_calls and no call": sse(event({ content: "Hi" }) + event({}, "tool_calls") + done),
  "text in plain strings": sse(event({ content: ["H", "i"] }) + event({}, "stop") + done),
  "text in parts of Responses": sse(event({ content: [{ type: "output_text", text: "Hi" }] }, "stop") + done),
  "text in parts without a type": sse(event({ content: [{ text: "Hi" }] }, "stop") + done),
  "the media type of a page": sse(event({ content: "Hi" }) + event({}, "stop") + done, "text/html"),
  "the media type of JSON": sse(event({ content: "Hi" }) + event({}, "stop") + done, "application/json"),
  "a complete response under its media type": sse(complete),
  "a complete response as plain text": sse(`\n${complete}`, "text/plain"),
};

describe("A stream with", () => {
  for (const [what, behaviour] of Object.entries(sameText)) {
    it(`${what} is its text in every dialect`, () =>
      readAll(behaviour, ({ status, text, end, body }, dialect) => {
        assertEquals([status, text, end], [200, "Hi", ends[dialect]![0]], `${dialect}: ${body}`);
      }));
  }

  const blank: Readonly<Record<string, string>> = {
    "no arguments": calling({ name: "read_file" }),
    "arguments of null": calling({ name: "read_file", arguments: null }),
    "arguments that are the JSON of null": calling({ name: "read_file", arguments: "null" }),
    "blank arguments": calling({ name: "read_file", arguments: "" }) + calling({ arguments: " " }),
  };
  for (const [what, text] of Object.entries(blank)) {
    it(`a call with ${what} has the JSON of an empty object in every dialect`, async () => {
      for (const end of [event({}, "tool_calls") + done, done]) {
        await readAll(sse(text + end), ({ calls, end, body }, dialect) => {
          assertEquals([calls.map(({ input }) => input), end], [[{}], ends[dialect]![1]], `${dialect}: ${body}`);
          // what clients join and parse
          if (dialect === "chat") assertEquals(joinArguments(body), "{}", body);
          if (dialect === "responses") assert(body.includes('"arguments":"{}"'), body);
        });
      }
    });
  }

  it("complete arguments that are repeated at the end has them once", async () => {
    const call = { name: "read_file", arguments: '{"path":"a"}' };
    const last = event({ tool_calls: [{ index: 0, id: "call_1", type: "function", function: call }] }, "tool_calls");
    await readAll(sse(calling(call) + last + done), ({ calls, body }, dialect) => {
      assertEquals(calls.map(({ input }) => input), [{ path: "a" }], `${dialect}: ${body}`);
    });
  });

  it("pieces of arguments that are the text null has them", async () => {
    const pieces = ['{"path":', "null", "}"];
    const text = pieces.map((piece, at) => calling({ ...(at === 0 ? { name: "read_file" } : {}), arguments: piece }));
    await readAll(sse(text.join("") + event({}, "tool_calls") + done), ({ calls, body }, dialect) => {
      assertEquals(calls.map(({ input }) => input), [{ path: null }], `${dialect}: ${body}`);
    });
  });

  it("an event that breaks off is cut short, with what came before", async () => {
    await using upstream = await startUpstream(sse(event({ content: "Hi" }) + event({ content: "Ho" }).slice(0, 90)));
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url } });
    const [first, last, ...others] = dataIn(await (await proxy.chat({ stream: true })).text());
    assertEquals([Object(first?.choices)[0].delta.content, Object(last?.error).code], ["Hi", "stream_interrupted"]);
    assertEquals(others, []);
  });

  it("thoughts under two names, one of which is null, has them", async () => {
    const text = event({ reasoning: "Hm", reasoning_content: null }) + event({ content: "Hi" }, "stop") + done;
    await readAll(sse(text), ({ body }, dialect) => {
      assertEquals(body.includes("Hm"), dialect !== "gemini", `${dialect}: ${body}`); // which has not asked for them
    });
  });
});

function joinArguments(body: string): string {
  const deltas = dataIn(body).flatMap(({ choices }) => choices as { delta: { tool_calls?: Json[] } }[]);
  return deltas.flatMap(({ delta }) => delta.tool_calls ?? []).map(({ function: fn }) => Object(fn).arguments ?? "")
    .join("");
}

it("A block of a Messages stream that has no end has the input of its start, in every other dialect", async () => {
  const block = { type: "tool_use", id: "toolu_1", name: "read_file", input: { path: "a" } };
  const list: readonly Json[] = [
    { type: "message_start", message: { id: "m1", usage: { input_tokens: 1 } } },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 2 } },
    { type: "message_stop" },
  ];
  const behaviour = sse(list.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join(""));
  for (const client of ["chat", "responses", "gemini"]) {
    await using upstream = await startUpstream(behaviour);
    await using proxy = await startDialectProxy({ a: { dialect: "anthropic", url: upstream.url } });
    const { calls, body } = await askForCalls(proxy.url, { dialect: client, stream: true });
    assertEquals(calls.map(({ input }) => input), [{ path: "a" }], `${client}: ${body}`);
  }
});

describe("A stream with several deviations at once", () => {
  it("is the same text, calls and end in every dialect", async () => {
    const random = seeded(39);
    let stream = "";
    await using upstream = await startUpstream(() => sse(stream));
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url } });
    for (let run = 0; run < 150; run++) {
      const created = createDeviatingStream(random);
      const { text, calls, hasReason } = created.meant;
      stream = created.stream;
      for (const dialect of Object.keys(clientDialects)) {
        const read = await askForCalls(proxy.url, { dialect, stream: true });
        assertEquals([read.status, read.text], [200, text], `${run} ${dialect}: ${stream}`);
        assertEquals(
          read.calls.map(({ name, input }) => ({ name, input })),
          [...calls],
          `${run} ${dialect}: ${stream}`,
        );
        assertEquals(new Set(read.calls.map(({ id }) => id)).size, calls.length, `${run} ${dialect}: ${stream}`);
        const end = calls.length > 0 ? ends[dialect]![1] : dialect === "chat" && !hasReason ? null : ends[dialect]![0];
        assertEquals(read.end, end, `${run} ${dialect}: ${stream}`);
      }
    }
  });
});

/** A complete response of a provider, under the media type of a stream. */
async function answerAsStream(dialect: Dialect): Promise<Behaviour> {
  await using upstream = await startUpstream(speaking[dialect].respond({ pieces: ["Hi"] }));
  const body = await (await fetch(upstream.url, { method: "POST", body: "{}" })).text();
  return sse(body);
}

describe("A complete response under the media type of a stream", () => {
  for (const dialect of ["anthropic", "gemini"] as const) {
    it(`is a stream in every dialect, from ${dialect}`, async () => {
      const behaviour = await answerAsStream(dialect);
      for (const client of Object.keys(clientDialects)) {
        await using upstream = await startUpstream(behaviour);
        await using proxy = await startDialectProxy({ a: { dialect, url: upstream.url } });
        const { status, text, body } = await askForCalls(proxy.url, { dialect: client, stream: true });
        assertEquals([status, text], [200, "Hi"], `${client}: ${body}`);
      }
    });
  }
});

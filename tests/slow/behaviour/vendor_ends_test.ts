/**
 * A stream whose provider has named the reason of its end is complete, whatever becomes of the connection; and members
 * of unexpected types in answers of other APIs never become text such as "[object Object]".
 */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { askForCalls, clientDialects } from "../../support/_dialect_calls.ts";
import { startDialectProxy } from "../../support/_dialect_proxy.ts";
import type { Dialect, Json } from "../../support/_dialects.ts";
import {
  type Behaviour,
  completeResponse,
  type Ending,
  finish,
  formatHead,
  json,
  startUpstream,
} from "../../support/upstream.ts";

const event = (type: string, members: Json = {}) => `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;

const claude = [
  event("message_start", {
    message: { id: "msg_1", type: "message", role: "assistant", model: "c", content: [], usage: { input_tokens: 1 } },
  }),
  event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
  event("content_block_delta", { index: 0, delta: { type: "text_delta", text: "Hi" } }),
  event("content_block_stop", { index: 0 }),
];
const named = event("message_delta", { delta: { stop_reason: "max_tokens" }, usage: { output_tokens: 2 } });
const candidate = (members: Json) => `data: ${JSON.stringify({ candidates: [{ index: 0, ...members }] })}\n\n`;
const said = { content: { role: "model", parts: [{ text: "Hi" }] } };

/** Sends events, and ends the connection in the middle of the response. */
function cut(events: readonly string[], how: Ending): Behaviour {
  return {
    async play(exchange) {
      await exchange.write(formatHead(200, { "content-type": "text/event-stream", "transfer-encoding": "chunked" }));
      for (const text of events) await exchange.write(`${text.length.toString(16)}\r\n${text}\r\n`);
      if (how === "end") await exchange.write("0\r\n\r\n");
      finish(exchange, how);
    },
  };
}

const ends: Readonly<Record<string, unknown>> = {
  chat: "length",
  messages: "max_tokens",
  gemini: "MAX_TOKENS",
  responses: "max_output_tokens",
};

async function readAll(
  dialect: Dialect,
  behaviour: Behaviour,
  check: (text: string, end: unknown, name: string) => void,
) {
  for (const name of Object.keys(clientDialects)) {
    await using upstream = await startUpstream(behaviour);
    await using proxy = await startDialectProxy({ a: { dialect, url: upstream.url } });
    const { text, end, body } = await askForCalls(proxy.url, { dialect: name, stream: true });
    check(text, end, `${name}: ${body}`);
    assert(!/"error":\{|event: error/.test(body), `${name}: ${body}`);
  }
}

describe("A stream that has named the reason of its end is complete", () => {
  const cases: readonly (readonly [what: string, dialect: Dialect, behaviour: Behaviour])[] = [
    ["without Claude's last event", "anthropic", cut([...claude, named], "end")],
    ["with an unreadable last event of Claude", "anthropic", cut([...claude, named, 'data: {"ty\n\n'], "end")],
    ["when Claude's connection breaks", "anthropic", cut([...claude, named], "reset")],
    ["when Gemini's connection breaks", "gemini", cut([candidate({ ...said, finishReason: "MAX_TOKENS" })], "reset")],
  ];
  for (const [what, dialect, behaviour] of cases) {
    it(`${what}, in every dialect`, () =>
      readAll(
        dialect,
        behaviour,
        (text, end, name) => assertEquals([text, end], ["Hi", ends[name.split(":")[0]!]], name),
      ));
  }

  it("and one that has not is cut short", async () => {
    for (const [dialect, events] of [["anthropic", claude], ["gemini", [candidate(said)]]] as const) {
      await using upstream = await startUpstream(completeResponse(200, events.join(""), "text/event-stream"));
      await using proxy = await startDialectProxy({ a: { dialect, url: upstream.url } });
      const text = await (await proxy.chat({ stream: true })).text();
      assert(text.includes("cut short"), text);
    }
  });
});

describe("Members of unexpected types", () => {
  const odd = { odd: true };
  const message = (content: readonly Json[]) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    content,
    stop_reason: "tool_use",
    usage: { input_tokens: 1, output_tokens: 1 },
  });
  const call = { type: "tool_use", id: "toolu_1", name: "read_file", input: { path: "a" } };

  it("in Claude's blocks never become text", async () => {
    const citation = { type: "web_search_result_location", url: odd, title: odd };
    const contents = [
      [{ type: "text", text: odd }, call],
      [{ type: "thinking", thinking: odd }, call],
      [{ type: "text", text: "Hi", citations: [citation] }, call],
      [{ ...call, id: odd }],
    ];
    for (const content of contents) {
      for (const dialect of ["chat", "gemini", "responses"]) {
        await using upstream = await startUpstream(json(message(content)));
        await using proxy = await startDialectProxy({ a: { dialect: "anthropic", url: upstream.url } });
        const { status, calls, body } = await askForCalls(proxy.url, { dialect, stream: false });
        assertEquals([status, calls.map(({ input }) => input)], [200, [{ path: "a" }]], body);
        assert(!body.includes("[object"), body);
      }
    }
  });

  it("that are not names of a tool make a response invalid", async () => {
    for (const name of [odd, null, ""]) {
      await using upstream = await startUpstream(json(message([{ ...call, name }])));
      await using proxy = await startDialectProxy({ a: { dialect: "anthropic", url: upstream.url } });
      const response = await proxy.chat();
      assertEquals([response.status, (await response.json()).error.code], [502, "all_attempts_failed"]);
    }
  });

  it("such as arguments that Gemini writes as text are the arguments", async () => {
    const functionCall = { name: "read_file", args: '{"path":"a"}' };
    const answer = { candidates: [{ content: { parts: [{ functionCall }] }, finishReason: "STOP" }] };
    for (const dialect of ["chat", "messages", "responses"]) {
      await using upstream = await startUpstream(json(answer));
      await using proxy = await startDialectProxy({ a: { dialect: "gemini", url: upstream.url } });
      const { calls, body } = await askForCalls(proxy.url, { dialect, stream: false });
      assertEquals(calls.map(({ input }) => input), [{ path: "a" }], body);
    }
  });
});

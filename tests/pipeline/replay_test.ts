/** A recorded response in the other form: events of a complete response, and the complete response of events. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { ChatCompletion, ChatCompletionChunk } from "../../src/contracts/openai.ts";
import {
  type RecordedEvent,
  ReplayedStream,
  toCompletion,
  toEvents,
  toRecordedEvents,
} from "../../src/pipeline/cache/replay.ts";

const head = { id: "1", created: 7, model: "m", system_fingerprint: "fp" };
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const logprob = (token: string) => ({ token, logprob: -0.1, bytes: null, top_logprobs: [] });

type Choice = ChatCompletionChunk["choices"][number];

function record(choices: readonly Partial<Choice>[], more: object = {}) {
  const chunk = (
    members: object,
  ): ChatCompletionChunk => ({ ...head, object: "chat.completion.chunk", ...members } as never);
  const events = choices.map((choice) => chunk({ choices: [{ index: 0, delta: {}, finish_reason: null, ...choice }] }));
  return [...events, chunk({ choices: [], usage, ...more })].flatMap((value) => toRecordedEvents({ value }));
}

const finish = { finish_reason: "stop" as const };

/** Deltas, and the members of the message that they amount to. */
const messages: Readonly<Record<string, readonly [readonly Partial<Choice>[], object, object?]>> = {
  text: [
    [
      { delta: { role: "assistant", content: "" } },
      { delta: { content: "Hel" } },
      { delta: { content: "lo" } },
      finish,
    ],
    { content: "Hello" },
  ],
  "nothing but a refusal": [[{ delta: { refusal: "I can" } }, { delta: { refusal: "not" } }, finish], {
    refusal: "I cannot",
  }],
  reasoning: [
    [
      { delta: { reasoning_content: "Hm" } },
      { delta: { reasoning_content: "m" } },
      { delta: { content: "4" } },
      finish,
    ],
    { reasoning_content: "Hmm", content: "4" },
  ],
  "reasoning details": [
    [
      { delta: { reasoning_details: [{ type: "reasoning.text", index: 0, text: "a" }] } },
      { delta: { reasoning_details: [{ type: "reasoning.text", index: 0, text: "b" }] } },
      { delta: { reasoning_details: [{ type: "reasoning.encrypted", index: 1, data: "xyz" }] } },
      finish,
    ],
    {
      reasoning_details: [{ type: "reasoning.text", index: 0, text: "ab" }, {
        type: "reasoning.encrypted",
        index: 1,
        data: "xyz",
      }],
    },
  ],
  "log probabilities": [
    [
      { delta: { content: "a" }, logprobs: { content: [logprob("a")], refusal: null } },
      { delta: { content: "b" }, logprobs: { content: [logprob("b")], refusal: null } },
      finish,
    ],
    { content: "ab" },
    { logprobs: { content: [logprob("a"), logprob("b")], refusal: null } },
  ],
  "images and sources": [
    [
      { delta: { images: [{ type: "image_url", image_url: { url: "data:a" } }] } },
      { delta: { images: [{ type: "image_url", image_url: { url: "data:b" } }] } },
      { delta: { annotations: [{ type: "url_citation" }] as never } },
      finish,
    ],
    {
      images: [{ type: "image_url", image_url: { url: "data:a" } }, {
        type: "image_url",
        image_url: { url: "data:b" },
      }],
      annotations: [{ type: "url_citation" }],
    },
  ],
  audio: [
    [
      { delta: { audio: { id: "au", transcript: "He" } } },
      { delta: { audio: { data: "AAAA", transcript: "llo" } } },
      { delta: { audio: { data: "BBBB", expires_at: 9 } } },
      finish,
    ],
    { audio: { id: "au", transcript: "Hello", data: "AAAABBBB", expires_at: 9 } },
  ],
  "calls of tools, which a shared call has": [
    [
      { delta: { tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } }] } },
      { delta: { tool_calls: [{ index: 0, function: { arguments: '{"x":' } }] } },
      { delta: { tool_calls: [{ index: 1, id: "b", type: "function", function: { name: "g", arguments: "{}" } }] } },
      { delta: { tool_calls: [{ index: 0, function: { arguments: "1}" } }] } },
      { finish_reason: "tool_calls" },
    ],
    {
      tool_calls: [
        { id: "a", type: "function", function: { name: "f", arguments: '{"x":1}' } },
        { id: "b", type: "function", function: { name: "g", arguments: "{}" } },
      ],
    },
    { finish_reason: "tool_calls" },
  ],
  "members of choices that some vendors add": [
    [{ delta: { content: "a" }, stop_reason: null }, { finish_reason: "length", stop_reason: "limit" }],
    { content: "a" },
    { finish_reason: "length", stop_reason: "limit" },
  ],
};

function complete(choices: readonly object[], more: object = {}): ChatCompletion {
  return { ...head, object: "chat.completion", choices, usage, ...more } as unknown as ChatCompletion;
}

const assemble = (events: readonly RecordedEvent[]) => toCompletion(events.map(({ text }) => text));

const message = { role: "assistant", content: null, refusal: null };

describe("a recorded response", () => {
  for (const [title, [deltas, members, others]] of Object.entries(messages)) {
    const choice = { index: 0, message: { ...message, ...members }, finish_reason: "stop", logprobs: null, ...others };

    it(`of events is a complete one: ${title}`, () => {
      assertEquals(assemble(record(deltas)), complete([choice]));
    });

    it(`that is complete is one of events: ${title}`, () => {
      const events = toEvents(complete([choice]));
      assertEquals(assemble(events), complete([choice]));
      const last = events.map(({ text }) => JSON.parse(text) as ChatCompletionChunk);
      assertEquals(last.at(-1)?.choices, []);
      const reasons = last.flatMap(({ choices }) => choices.map(({ finish_reason }) => finish_reason));
      assertEquals(reasons.filter((reason) => reason !== null), [choice.finish_reason], "each choice ends once");
      assertEquals(last[0]?.choices[0]?.delta.role, "assistant");
    });
  }

  it("may have several choices, in any order", () => {
    const events = record([
      { index: 1, delta: { content: "B" } },
      { index: 0, delta: { content: "A" } },
      { index: 1, ...finish },
      { index: 0, finish_reason: "length" },
    ]);
    const choices = [["A", "length"], ["B", "stop"]].map(([content, finish_reason], index) => ({
      index,
      message: { ...message, content },
      finish_reason,
      logprobs: null,
    }));
    assertEquals(assemble(events), complete(choices));
    assertEquals(assemble(toEvents(complete(choices))), complete(choices));
  });

  it("keeps what its last event says about it: its tier, and its sources", () => {
    const events = record([{ delta: { content: "a" } }, finish], { service_tier: "flex", citations: ["x"] });
    const completion = assemble(events);
    assertEquals([completion.service_tier, completion.citations], ["flex", ["x"]]);
  });

  it("may have no usage", () => {
    const { usage: _, ...expected } = complete([{
      index: 0,
      message: { ...message, content: "a" },
      ...finish,
      logprobs: null,
    }]);
    assertEquals(assemble(toEvents(expected as ChatCompletion)), expected);
  });

  it("is streamed with its usage only if that was requested, and once", async () => {
    for (const wantsUsage of [true, false]) {
      const causes: unknown[] = [];
      const events = record([{ delta: { content: "a" } }, finish]);
      const stream = new ReplayedStream(events, { wantsUsage, onEnd: (cause) => causes.push(cause) });
      const texts = [];
      for (let chunk = await stream.read(); chunk !== undefined; chunk = await stream.read()) {
        assertEquals(JSON.parse(chunk.wire!), chunk.value);
        texts.push(chunk.value.usage?.total_tokens ?? chunk.value.choices[0]?.delta.content ?? "");
      }
      assertEquals(texts, wantsUsage ? ["a", "", 3] : ["a", ""]);
      stream.cancel();
      assertEquals(causes, [undefined]);
    }
  });

  it("that is left ends, and says why", async () => {
    const causes: unknown[] = [];
    const open = () => {
      const events = record([{ delta: { content: "a" } }, finish]);
      return new ReplayedStream(events, { wantsUsage: false, onEnd: (cause) => causes.push(cause) });
    };
    const cancelled = open();
    await cancelled.read();
    cancelled.cancel("left");
    assertEquals(await cancelled.read(), undefined);
    const stopped = open();
    stopped.onStop = (reason) => causes.push(`stopped: ${reason}`);
    stopped.stop("aborted");
    assertEquals(await stopped.read().catch((error) => error), "aborted");
    assertEquals(causes, ["left", "aborted", "stopped: aborted"]);
  });
});

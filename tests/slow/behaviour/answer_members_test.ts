/**
 * Members of responses with unexpected values: images, citations and reasoning state. The text arrives, whatever
 * they are.
 */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { dataIn, saidIn } from "../../support/_dialect_responses.ts";
import { type Dialect, type Json, speaking } from "../../support/_dialects.ts";
import { type Behaviour, json, startUpstream, status } from "../../support/upstream.ts";
import { startDialectProxy } from "../../support/_dialect_proxy.ts";

const junk: readonly unknown[] = [null, 1, "x", {}, [], [null, 1, "x"], [[]], [{}], [{ type: null }]];

const members: Readonly<Record<string, readonly unknown[]>> = {
  images: [[{ image_url: null }], [{ image_url: { url: 5 } }], [{ image_url: { url: "data:" }, extra_content: 1 }]],
  annotations: [[{ type: "url_citation", url_citation: null }], [{ type: "url_citation", url_citation: { url: {} } }]],
  reasoning_details: [[{ type: "reasoning.text", text: 5, index: {} }], [{ summary: null }, { data: [] }]],
  search_results: [[{ url: null }], [{ url: "https://a.example/", title: {} }]],
  citations: [[{ url: 1 }], ["", null]],
};

const grounding: readonly unknown[] = [
  {
    groundingChunks: [null, { web: null }, {}],
    groundingSupports: [null, { segment: 1, groundingChunkIndices: [0, 9] }],
  },
  { groundingChunks: [{ web: { uri: 1 } }], groundingSupports: [{ segment: { startIndex: -1, endIndex: "x" } }] },
  { groundingChunks: [{ web: { uri: "u" } }], groundingSupports: [{ groundingChunkIndices: [null, "0", {}, -1, 0] }] },
];

const head = { id: "c1", created: 1, model: "m" };

/** Answers in OpenAI's shape, in which a member has a value. */
function openAiAnswer(name: string, value: unknown, stream: boolean): Behaviour {
  const isBeside = name === "citations" || name === "search_results";
  const message = { role: "assistant", content: "Hi [1]", ...(isBeside ? {} : { [name]: value }) };
  const beside = isBeside ? { [name]: value } : {};
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  if (!stream) {
    const choices = [{ index: 0, message: { refusal: null, ...message }, finish_reason: "stop", logprobs: null }];
    return json({ ...head, ...beside, object: "chat.completion", choices, usage });
  }
  return createEvents([
    { ...head, ...beside, object: "chat.completion.chunk", choices: [{ index: 0, delta: message }] },
    { ...head, ...beside, choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage },
  ]);
}

/** Answers of Gemini, with a part beside the text, and metadata. */
function geminiAnswer(part: unknown, groundingMetadata: unknown, stream: boolean): Behaviour {
  const candidate = { content: { role: "model", parts: [part, { text: "Hi [1]" }] }, finishReason: "STOP", index: 0 };
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
  const answer = {
    candidates: [{ ...candidate, groundingMetadata, citationMetadata: groundingMetadata }],
    usageMetadata,
  };
  return stream ? createEvents([answer]) : json(answer);
}

/** Answers of Claude, whose text has citations. */
function claudeAnswer(citations: unknown, stream: boolean): Behaviour {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: "m1", type: "message", role: "assistant", model: "m", stop_reason: "end_turn", usage };
  if (!stream) return json({ ...message, content: [{ type: "text", text: "Hi [1]", citations }] });
  const deltas = Array.isArray(citations) ? citations : [citations];
  return createEvents([
    { type: "message_start", message: { ...message, content: [] } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "", citations } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi [1]" } },
    ...deltas.map((citation) => ({
      ...{ type: "content_block_delta", index: 0, delta: { type: "citations_delta", citation } },
    })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
    { type: "message_stop" },
  ]);
}

function createEvents(list: readonly unknown[]): Behaviour {
  return status(200, {
    text: list.map((data) => `data: ${JSON.stringify(data)}\n\n`).join(""),
    headers: { "content-type": "text/event-stream" },
  });
}

/** Asks in every dialect but the provider's own, non-streaming and streaming; the text is there. */
async function check(dialect: Dialect, replies: readonly ((stream: boolean) => Behaviour)[]): Promise<void> {
  let reply: Behaviour = speaking.openai.respond();
  await using upstream = await startUpstream(() => reply);
  await using proxy = await startDialectProxy({ only: { dialect, url: upstream.url } });
  for (const make of replies) {
    for (const [client, { path, ask, gather, read }] of Object.entries(saidIn)) {
      if (client === dialect || client === "messages" && dialect === "anthropic") continue; // as it came
      for (const stream of [false, true]) {
        reply = make(stream);
        const options = client === "chat" && stream ? { stream_options: { include_usage: true } } : {};
        const response = await fetch(proxy.url + path(stream), {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ ...ask([{ user: ["Hi"] }]), ...(client === "gemini" ? {} : { stream }), ...options }),
        });
        const text = await response.text();
        assertEquals(response.status, 200, text);
        const answer: Json = stream ? gather(dataIn(text)) : JSON.parse(text);
        if (client !== "chat") assertEquals(read(answer).text, "Hi [1]", text);
        else assertEquals(JSON.stringify(answer).includes("Hi [1]"), true, text);
      }
    }
  }
}

describe("A response whose members have unexpected values", () => {
  for (const [name, more] of Object.entries(members)) {
    it(`in ${name}, of a provider in OpenAI's shape`, async () => {
      await check("openai", [...junk, ...more].map((value) => (stream) => openAiAnswer(name, value, stream)));
    });
  }

  it("in parts and metadata of Gemini", async () => {
    const parts = [{ inlineData: null }, { inlineData: { mimeType: 1, data: 2 } }, { inlineData: { data: "AAAA" } }];
    await check("gemini", [
      ...[...junk, ...grounding].map((value) => (stream: boolean) => geminiAnswer({ text: "" }, value, stream)),
      ...[...junk, ...parts].map((part) => (stream: boolean) => geminiAnswer(part, undefined, stream)),
    ]);
  });

  it("in citations of Claude", async () => {
    await check("anthropic", junk.map((value) => (stream) => claudeAnswer(value, stream)));
  });
});

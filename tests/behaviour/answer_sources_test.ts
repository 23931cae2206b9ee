/**
 * Citations: what vendors say about the sources of a text, in the format of each client.
 */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { dataIn, saidIn } from "../support/_dialect_responses.ts";
import { type Json, speaking } from "../support/_dialects.ts";
import { startDialectProxy } from "../support/_dialect_proxy.ts";
import { assertMatchesSchema } from "../support/schema.ts";
import { startTestProxy } from "../support/proxy.ts";
import { type Behaviour, json, startUpstream, status } from "../support/upstream.ts";

const sources = [
  { url: "https://a.example/", title: "A" },
  { url: "https://b.example/", title: "B" },
];

function events(list: readonly unknown[]): Behaviour {
  return status(200, {
    text: list.map((data) => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`).join(""),
    headers: { "content-type": "text/event-stream" },
  });
}

/** A non-streaming response in OpenAI's shape. */
function completion(message: Json, more: Json = {}): Behaviour {
  const choice = { index: 0, message: { role: "assistant", refusal: null, ...message }, finish_reason: "stop" };
  return json({
    ...{ id: "c1", object: "chat.completion", created: 1, model: "m", ...more },
    choices: [{ ...choice, logprobs: null }],
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  });
}

/** A provider of a connector, and a proxy before it; the response as a client of each dialect reads it. */
async function answerTo(
  client: string,
  { connector, model = "m", reply, stream }: { connector: string; model?: string; reply: Behaviour; stream: boolean },
): Promise<Json> {
  await using upstream = await startUpstream(reply);
  await using proxy = await startTestProxy({
    upstreams: {},
    config: {
      providers: { only: { connector, base_url: upstream.url, api_key: "key-of-only-0123456789" } },
      models: { only: { provider: "only", model, capabilities: ["chat-completion"] } },
      pools: { chat: { models: ["only"] } },
    },
  });
  const { path, ask, gather } = saidIn[client]!;
  const usage = client === "chat" && stream ? { stream_options: { include_usage: true } } : {};
  const response = await fetch(proxy.url + path(stream), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...ask([{ user: ["Hi"] }]), ...(client === "gemini" ? {} : { stream }), ...usage }),
  });
  const text = await response.text();
  assertEquals(response.status, 200, text);
  if (client === "chat" && !stream) assertMatchesSchema("CreateChatCompletionResponse", JSON.parse(text));
  return stream ? gather(dataIn(text)) : JSON.parse(text);
}

describe("A search model lists its sources beside the text, which refers to them by number", () => {
  const head = { id: "s1", created: 1, model: "sonar" };
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
  const text = "It rains[2] in Zürich [1][2].";
  const lists: Readonly<Record<string, Json>> = {
    "search_results": { search_results: sources, citations: sources.map(({ url }) => url) },
    "citations": { citations: sources.map(({ url }) => url), search_results: [] },
  };
  for (const [what, list] of Object.entries(lists)) {
    for (const stream of [false, true]) {
      const reply = stream
        ? events([
          { ...head, ...list, choices: [{ index: 0, delta: { role: "assistant", content: text.slice(0, 9) } }] },
          { ...head, ...list, choices: [{ index: 0, delta: { content: text.slice(9) } }] },
          { ...head, ...list, choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage },
          "[DONE]",
        ])
        : completion({ content: text }, list);
      for (const [client, { read }] of Object.entries(saidIn)) {
        it(`${what} come to ${client}, ${stream ? "streamed" : "whole"}`, async () => {
          const said = read(
            await answerTo(client, { connector: "openai.compatible.v1", model: "sonar", reply, stream }),
          );
          const title = (index: number) => what === "citations" ? sources[index]!.url : sources[index]!.title;
          assertEquals(said.text, text);
          assertEquals(said.citations, [
            { url: sources[1]!.url, title: title(1), text: "[2]" },
            { url: sources[0]!.url, title: title(0), text: "[1]" },
            { url: sources[1]!.url, title: title(1), text: "[2]" },
          ]);
        });
      }
    }
  }

  it("a source without a reference has no position", async () => {
    const reply = completion({ content: "It rains" }, lists.search_results);
    const { choices: [choice] } = await answerTo("chat", {
      ...{ connector: "openai.compatible.v1", model: "sonar", reply, stream: false },
    }) as { choices: [{ message: { annotations: Json[] } }] };
    assertEquals<unknown>(
      choice.message.annotations,
      sources.map((source) => ({ type: "url_citation", url_citation: { start_index: 0, end_index: 0, ...source } })),
    );
  });
});

describe("Citations of documents, which have no URL", () => {
  const citation = {
    ...{ type: "char_location", cited_text: "Rain all day", document_index: 0, document_title: "Report" },
    ...{ start_char_index: 5, end_char_index: 17 },
  };
  const message = {
    ...{ id: "msg_1", type: "message", role: "assistant", model: "claude-haiku-4-5", stop_reason: "end_turn" },
    content: [
      { type: "text", text: "As reported, " },
      { type: "text", text: "it rains", citations: [citation] },
    ],
    usage: { input_tokens: 1, output_tokens: 2 },
  };

  it("are annotations in chat, with the original", async () => {
    const { choices: [choice] } = await answerTo("chat", {
      ...{ connector: "anthropic.claude.v1", model: "claude-haiku-4-5", reply: json(message), stream: false },
    }) as { choices: [{ message: { annotations: Json[] } }] };
    const url_citation = { start_index: 13, end_index: 21, url: "", title: "Report" };
    assertEquals<unknown>(choice.message.annotations, [
      { type: "url_citation", url_citation, extra_content: { anthropic: citation } },
    ]);
  });
});

describe("Citations that another API's model made", () => {
  it("stay out of the history that Claude gets from its own clients", async () => {
    const text = "It rains";
    const annotation = { type: "url_citation", url_citation: { start_index: 3, end_index: 8, ...sources[0] } };
    const { content } = await answerTo("messages", {
      connector: "openai.compatible.v1",
      reply: completion({ content: text, annotations: [annotation] }),
      stream: false,
    });
    assertEquals(content, [
      { type: "text", text: "It " },
      {
        ...{ type: "text", text: "rains" },
        citations: [
          { type: "web_search_result_location", cited_text: "rains", encrypted_index: "", ...sources[0] },
        ],
      },
    ]);
    const own = { type: "web_search_result_location", cited_text: "x", encrypted_index: "RQ==", ...sources[1] };
    await using claude = await startUpstream(speaking.anthropic.respond());
    await using proxy = await startDialectProxy({ only: { dialect: "anthropic", url: claude.url } });
    const { encrypted_index: _, ...unsealed } = own;
    const unplaced = { type: "search_result_location", cited_text: "x", source: sources[1]!.url, title: "B" };
    const blocks = [...content as Json[], { type: "text", text: "Own", citations: [own, unsealed, unplaced] }];
    const messages = [{ role: "user", content: "Hi" }, { role: "assistant", content: blocks }, {
      ...{ role: "user", content: "So?" },
    }];
    const response = await fetch(`${proxy.url}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "chat", max_tokens: 9, messages }),
    });
    assertEquals(response.status, 200, await response.text());
    assertEquals(claude.requests[0]!.json().messages[1].content, [
      { type: "text", text: "It " },
      { type: "text", text: "rains" },
      { type: "text", text: "Own", citations: [own] },
    ]);
  });

  it("that are nonsense are skipped", async () => {
    const annotations = [
      null,
      1,
      { type: "url_citation" },
      { type: "file_citation", file_citation: {} },
      { type: "url_citation", url_citation: { start_index: -5, end_index: 1e99, url: 7, title: null } },
      { type: "url_citation", url_citation: { start_index: "x", end_index: 3, url: null } },
    ];
    for (const client of ["messages", "responses", "gemini"]) {
      const reply = completion({ content: "Hi", annotations });
      const answer = await answerTo(client, { connector: "openai.compatible.v1", reply, stream: false });
      assertEquals(saidIn[client]!.read(answer).text, "Hi");
    }
  });
});

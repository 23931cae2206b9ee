/**
 * Dialects: requests to chat, and completions and chunks back.
 * @module
 */
import { readLabels, readRoutingConstraints } from "../../src/pipeline/routing_constraints.ts";
import { measureRequest } from "../../src/pipeline/request_size.ts";
import { normalizeChatResponse } from "../../src/pipeline/read_response.ts";
import { readInputUsage } from "../../src/pipeline/operations/_input_usage.ts";
import { readUsage } from "../../src/pipeline/read_usage.ts";
import { OutputEstimate } from "../../src/pipeline/estimate.ts";
import { chat } from "../../src/pipeline/operations/chat.ts";
import type { JsonObject } from "../../src/contracts/openai.ts";
import { TextEvents } from "../../src/dialects/completions/_response.ts";
import { translateCompletion } from "../../src/dialects/completions/completions.ts";
import type { Dialect, EventTranslator } from "../../src/dialects/dialect.ts";
import { ContentEvents } from "../../src/dialects/gemini/_events.ts";
import { toGrounding } from "../../src/dialects/gemini/_grounding.ts";
import { geminiEmbedding } from "../../src/dialects/gemini/embedding.ts";
import { gemini } from "../../src/dialects/gemini/gemini.ts";
import { toTextBlocks } from "../../src/dialects/messages/_citations.ts";
import { MessageEvents } from "../../src/dialects/messages/_events.ts";
import { CitedSources } from "../../src/dialects/cited_sources.ts";
import { messages } from "../../src/dialects/messages/messages.ts";
import { RoundReader } from "../../src/proxy/web_search/_round_reader.ts";
import type { Searches } from "../../src/proxy/web_search/searches.ts";
import { ResponseEvents } from "../../src/dialects/responses/responses.ts";
import { responses } from "../../src/dialects/responses/responses.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { ChunkNormalizer } from "../../src/util/normalize_chunk.ts";
import { readCitations } from "../../src/util/annotations.ts";
import { normalizeCompletion } from "../../src/util/normalize_completion.ts";
import {
  normalizeFinishReason,
  normalizeLists,
  normalizeText,
  normalizeUsage,
  readSources,
  toSourceAnnotations,
} from "../../src/util/normalize_message.ts";
import { StreamedCalls } from "../../src/util/streamed_calls.ts";
import { type GrowthCase, prepared, refusable, times } from "./_case.ts";
import { chatRequests, chatStreams, completion } from "./_chat_shapes.ts";

const text = (at: number) => ({ type: "text", text: `t${at}` });
const blocks = (type: string, size: number) => times(size, (at) => ({ type, text: `t${at}` }));

/** Requests of each dialect, by what there is much of. */
const requests: Readonly<Record<string, readonly ((size: number) => JsonObject)[]>> = {
  messages: [
    (size) => ({ messages: times(size, () => ({ role: "user", content: "Hi" })) }),
    (size) => ({ messages: [{ role: "user", content: times(size, text) }], system: times(size, text) }),
    (size) => ({
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: times(size, (at) => ({ type: "tool_use", id: `c${at}`, name: "f", input: {} })) },
        { role: "user", content: times(size, (at) => ({ type: "tool_result", tool_use_id: `c${at}`, content: "1" })) },
      ],
      tools: times(size, (at) => ({ name: `f${at}`, input_schema: {} })),
    }),
    (size) => ({
      messages: [
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: times(size, (at) =>
            [
              { type: "server_tool_use", id: `srvtoolu_mesh_${at}`, name: "web_search", input: { query: "q" } },
              {
                type: "web_search_tool_result",
                tool_use_id: `srvtoolu_mesh_${at - 1}`,
                content: [{
                  type: "web_search_result",
                  url: "https://a.example/",
                  title: "A",
                  encrypted_content: "mesh:e30=",
                }],
              },
              { type: "code_execution_tool_result", tool_use_id: "s", content: { content: [{ stdout: "1" }] } },
            ][at % 3]),
        },
        { role: "user", content: "Go on" },
      ],
      tools: times(size, (at) => ({ type: ["web_search_20250305", "bash_20250124"][at % 2], name: `t${at}` })),
    }),
    (size) => ({
      messages: [
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: [{ type: "mcp_tool_result", tool_use_id: "m", content: times(size, (at) => ({ text: `t${at}` })) }],
        },
        { role: "user", content: "Go on" },
      ],
    }),
  ],
  responses: [
    (size) => ({ input: times(size, () => ({ role: "user", content: "Hi" })) }),
    (size) => ({ input: [{ role: "user", content: blocks("input_text", size) }] }),
    (size) => ({ input: times(size, () => ({ role: "assistant", content: blocks("output_text", 1) })) }),
    (size) => ({
      input: [
        ...times(size, (at) => ({ type: "function_call", call_id: `c${at}`, name: "f", arguments: "{}" })),
        ...times(size, (at) => ({ type: "function_call_output", call_id: `c${at}`, output: "1" })),
      ],
      tools: times(size, (at) => ({ type: "function", name: `f${at}` })),
      tool_choice: { type: "allowed_tools", mode: "auto", tools: times(size, (at) => ({ name: `f${at}` })) },
    }),
    (size) => ({
      input: times(size, () => [
        { type: "function_call", call_id: "same", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "same", output: "1" },
      ]).flat(),
    }),
    (size) => ({
      input: times(size, (at) => [
        { type: "web_search_call", id: `ws_mesh_${at}`, action: { type: "search", query: "q" } },
        { type: "local_shell_call", id: `l${at}`, call_id: `c${at}`, action: { command: ["ls"] } },
        { type: "local_shell_call_output", id: `l${at}`, output: "1" },
        { type: "tool_search_output", call_id: null, tools: [{ type: "function", name: `found${at}` }] },
      ]).flat(),
      tools: times(size, (at) => ({ type: "web_search", at })),
    }),
    (size) => ({
      input: "Hi",
      tools: times(size, (at) => ({
        type: "namespace",
        name: "x__".repeat(at % 10) + "x",
        tools: [{ type: "function", name: "x__".repeat(9 - at % 10) + (at - at % 10) }],
      })),
      tool_choice: {
        type: "allowed_tools",
        mode: "auto",
        tools: times(size, (at) => ({ type: "namespace", name: `x${at}` })),
      },
    }),
  ],
  generateContent: [
    (size) => ({ contents: times(size, () => ({ role: "user", parts: [{ text: "Hi" }] })) }),
    (size) => ({ contents: times(size, (at) => ({ role: at % 2 === 0 ? "user" : "model", parts: [{ text: "Hi" }] })) }),
    (size) => ({ contents: [{ role: "user", parts: times(size, text) }] }),
    (size) => ({
      contents: [
        { role: "user", parts: [{ text: "Hi" }] },
        { role: "model", parts: times(size, (at) => ({ functionCall: { id: `c${at}`, name: `f${at}`, args: {} } })) },
        {
          role: "user",
          parts: times(size, (at) => ({ functionResponse: { id: `c${size - at - 1}`, name: "x", response: {} } })),
        },
      ],
      tools: [{ functionDeclarations: times(size, (at) => ({ name: `f${at}` })) }],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: times(size, (at) => `f${at}`) } },
    }),
    (size) => ({
      contents: [
        { role: "user", parts: [{ text: "Hi" }] },
        { role: "model", parts: times(size, () => ({ functionCall: { name: "f", args: {} } })) },
        { role: "user", parts: times(size, () => ({ functionResponse: { name: "f", response: {} } })) },
      ],
    }),
    (size) => ({
      contents: [
        { role: "user", parts: [{ text: "Hi" }] },
        { role: "model", parts: times(size, () => ({ executableCode: { code: "1" } })) },
        { role: "user", parts: [{ text: "Hi" }] },
      ],
      tools: [{ functionDeclarations: [{ name: "f" }] }, ...times(size, () => ({ googleSearch: {} }))],
    }),
  ],
};

const url = "http://localhost/v1beta/models/m:generateContent";
const about = { headers: { get: () => null, has: () => false }, url } as never;

/** Dialects by name, and where they are. */
const dialects: Readonly<Record<string, readonly [path: string, dialect: Dialect]>> = {
  messages: ["src/dialects/messages/messages.ts#messages", messages],
  responses: ["src/dialects/responses/responses.ts#responses", responses],
  generateContent: ["src/dialects/gemini/gemini.ts#gemini", gemini],
};

/** What reads parts of requests, by dialect. */
const partsOfDialects: Readonly<Record<string, readonly string[]>> = {
  messages: [
    "src/dialects/messages/_foreign_blocks.ts#describeBlock",
    "src/dialects/messages/_search_blocks.ts#readResultSources",
  ],
  responses: [
    "src/dialects/responses/_foreign_items.ts#describeItem",
    "src/dialects/responses/_results.ts#readCallResult",
    "src/dialects/responses/_tools.ts#readResponsesTools",
    "src/dialects/web_search_results.ts#readSources",
  ],
  generateContent: [
    "src/dialects/gemini/_foreign_parts.ts#describePart",
    "src/dialects/gemini/_open_calls.ts#OpenCalls",
  ],
};

const translators: Readonly<Record<string, () => EventTranslator>> = {
  "src/dialects/messages/_events.ts#MessageEvents": () => new MessageEvents(["stop"]),
  "src/dialects/responses/responses.ts#ResponseEvents": () => new ResponseEvents({ body: { model: "m" } }),
  "src/dialects/gemini/_events.ts#ContentEvents": () => new ContentEvents({ includesThoughts: true, isArray: false }),
  "src/dialects/completions/_response.ts#TextEvents": () =>
    new TextEvents({ echo: undefined, hasUsage: true, firstIndex: 0 }),
};

/** Searches of a model that calls none. */
const searches = { isSearch: () => false } as unknown as Searches;
const pages = times(50, (at) => ({ url: `https://a.example/${at}`, title: `${at}`, snippet: "" }));

/** The citations of a text that arrives in pieces. */
function cite(pieces: readonly string[]): number {
  const cited = new CitedSources();
  cited.addSources(pages);
  return pieces.reduce((sum, piece) => sum + cited.add(piece).length, 0) + cited.end().length;
}

const defaults = { model: "m", keepsFunctionCall: false, random: () => 0, now: () => 0 };

/** Rows of dialects, and of what all chat requests and responses go through. */
export const dialectCases: readonly GrowthCase[] = [
  ...Object.entries(dialects).flatMap(([name, [path, dialect]]) => [
    ...requests[name]!.map((body, at) =>
      prepared({
        covers: [
          path,
          ...partsOfDialects[name]!,
        ],
        what: `request ${at}`,
        size: 2_400,
        input: (size) => ({ model: "m", max_tokens: 9, ...body(size) }),
        work: (request) => {
          const { chat, native } = dialect.translate(request, about);
          return [chat, native?.edits("m", {})];
        },
      })
    ),
    prepared({
      covers: [path],
      what: "a completion",
      size: 2_000,
      input: completion,
      work: (whole) =>
        dialect.translate({ model: "m", max_tokens: 9, ...requests[name]![0]!(1) }, about).toResponse(whole),
    }),
  ]),
  ...Object.entries(translators).flatMap(([name, create]) =>
    Object.entries(chatStreams).map(([what, input]) =>
      prepared({
        covers: [name],
        what,
        size: 1_500,
        input,
        work(chunks) {
          const events = create();
          let length = 0;
          for (const chunk of chunks) length += events.push(chunk).length;
          return length + events.end().length;
        },
      })
    )
  ),
  ...Object.entries(chatStreams).map(([what, input]) =>
    prepared({
      covers: ["src/proxy/web_search/_round_reader.ts#RoundReader"],
      what,
      size: 1_500,
      input,
      work(chunks) {
        const reader = new RoundReader({ searches, cited: new CitedSources(), offset: 1, isFirst: true });
        return [chunks.map((chunk) => reader.take(chunk)), reader.end(undefined), reader.message];
      },
    })
  ),
  ...Object.entries({
    links: (at: number) => `[page](https://a.example/${at % 100}) `,
    "addresses without an end": () => "http",
    "words": () => "word [ ",
  }).map(([what, piece]) =>
    prepared({
      covers: ["src/dialects/cited_sources.ts#CitedSources"],
      what,
      size: 1_000,
      input: (size) => times(size, piece),
      work: (pieces) => [cite(pieces), cite([pieces.join("")])],
    })
  ),
  prepared({
    covers: [
      "src/util/annotations.ts#readCitations",
      "src/util/normalize_message.ts#readSources",
      "src/util/normalize_message.ts#toSourceAnnotations",
      "src/dialects/messages/_citations.ts#toTextBlocks",
      "src/dialects/gemini/_grounding.ts#toGrounding",
    ],
    what: "citations of all of a text",
    size: 2_000,
    input: (size) => completion(size).choices[0]!.message.annotations!,
    work: (annotations) => {
      const text = "[1]".repeat(annotations.length);
      const sources = readSources({ citations: annotations.map(({ url_citation: { url } }) => url) });
      return [
        readCitations(annotations),
        toSourceAnnotations(sources, text),
        JSON.stringify([toTextBlocks(text, annotations), toGrounding(text, annotations)]).length,
      ];
    },
  }),
  prepared({
    covers: ["src/util/normalize_message.ts#toSourceAnnotations"],
    what: "references to a source with a long URL",
    size: 5_000,
    input: (size) => [`https://a.example/${"a".repeat(size)}`],
    work: ([url]) =>
      JSON.stringify(toSourceAnnotations([{ url: url!, title: url! }], "[1]".repeat(url!.length))).length,
  }),
  prepared({
    covers: ["src/dialects/gemini/embedding.ts#geminiEmbedding"],
    what: "requests",
    size: 2_000,
    input: (size) => ({ model: "m", requests: times(size, () => ({ content: { parts: [{ text: "a" }] } })) }),
    work: (body) =>
      geminiEmbedding.translate(
        body,
        { ...about as object, url: url.replace("generateContent", "batchEmbedContents") } as never,
      ),
  }),
  prepared({
    covers: ["src/dialects/completions/completions.ts#translateCompletion"],
    what: "a prompt",
    size: 20_000,
    input: (size) => ({ model: "m", prompt: "x".repeat(size), stop: times(size, () => "a") }),
    work: (body) => translateCompletion(body).join([completion(1)] as never),
  }),
  ...Object.entries(chatRequests).map(([what, input]) =>
    prepared({
      covers: ["src/pipeline/operations/chat.ts#checkChatRequest"],
      what,
      size: 1_500,
      input,
      work: (body) => {
        const { findLack: lackOf } = chat.measureNeeds(chat.check(body, []), []);
        return [lackOf({ id: "m" }), measureRequest(body), chat.reword(body, model as never)];
      },
    })
  ),
  prepared({
    covers: ["src/pipeline/operations/chat.ts#checkChatRequest"],
    what: "members",
    size: 2_400,
    input: (size) =>
      Object.fromEntries([["model", "m"], ["messages", [{ role: "user" }]], ...times(size, (at) => [`m${at}`, at])]),
    work: (body) => chat.check(body, []),
  }),
  ...Object.entries(chatStreams).map(([what, input]) => ({
    covers: ["src/util/normalize_chunk.ts#ChunkNormalizer", "src/util/streamed_calls.ts#StreamedCalls"],
    what,
    size: 1_500,
    work: (size: number) => {
      const normalizer = new ChunkNormalizer(defaults);
      const estimate = new OutputEstimate();
      const calls = new StreamedCalls(() => 0);
      for (const chunk of input(size)) {
        normalizer.normalize(chunk);
        estimate.add(chunk.choices);
        for (const { delta } of chunk.choices) calls.normalize({}, (delta.tool_calls ?? []) as never);
      }
      return [normalizer.isFinished, estimate.tokens, calls.isNameMissing];
    },
  })),
  {
    covers: [
      "src/util/normalize_completion.ts#normalizeCompletion",
      "src/util/normalize_message.ts#normalizeLists",
      "src/util/normalize_message.ts#normalizeText",
      "src/util/normalize_message.ts#normalizeUsage",
      "src/util/normalize_message.ts#normalizeFinishReason",
      "src/pipeline/read_response.ts#normalizeChatResponse",
    ],
    what: "a completion",
    size: 2_000,
    work: (size) => {
      const whole = completion(size);
      const usage = {
        usage: { prompt_tokens_details: Object.fromEntries(times(size, (at) => [`a${at}_tokens`, at])) },
      };
      normalizeText({ content: times(size, text) });
      normalizeLists({ images: times(size, () => null) });
      normalizeUsage(usage);
      normalizeFinishReason({ finish_reason: "S".repeat(size) }, { hasCalls: false, keepsFunctionCall: false });
      normalizeChatResponse(
        { body: whole },
        { model: { id: "m" }, body: {} } as never,
        { random: () => 0, clock: fakeClock() } as never,
      );
      return normalizeCompletion(whole, defaults);
    },
  },
  prepared({
    covers: ["src/pipeline/read_usage.ts#readUsage", "src/pipeline/operations/_input_usage.ts#readInputUsage"],
    what: "members",
    size: 2_000,
    input: (size) => Object.fromEntries(times(size, (at) => [`c${at}`, at])),
    work: (usage) =>
      times(
        200,
        () => [readUsage(usage, 1), readInputUsage({ usage, written: () => 0 }, { load: { input: 0 } } as never)],
      ),
  }),
  prepared({
    covers: ["src/pipeline/routing_constraints.ts#readRoutingConstraints"],
    what: "a header",
    size: 900,
    input: (size) => `only=${",".repeat(size)}a`,
    work: (header) => times(20, () => refusable(() => readRoutingConstraints(header, {}))),
  }),
  prepared({
    covers: ["src/pipeline/routing_constraints.ts#readLabels"],
    what: "tags of metadata",
    size: 5_000,
    input: (size) => ({ metadata: { tags: times(size, (at) => `tag ${at}`).join() } }),
    work: (body) => times(20, () => readLabels(body, {})),
  }),
];

const model = { info: { id: "m", parameters: { drop: ["seed"] } }, instance: { vendor: "v", connector: {} } };

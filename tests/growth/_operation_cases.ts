/**
 * Provider connectors: operations other than chat, and streams in OpenAI's dialects.
 * @module
 */
import { documentsIn } from "../../connectors/providers/_retrieval.ts";
import { embeddingsIn, normalized } from "../../connectors/providers/_embeddings.ts";
import { EventBatches } from "../../connectors/providers/_event_batches.ts";
import {
  toSpeech,
  toSpeechContent,
  toTranscript,
  toTranscriptionContent,
} from "../../connectors/providers/_gemini_audio.ts";
import { fromGeminiEmbeddings, toBatchEmbedContents } from "../../connectors/providers/_gemini_embeddings.ts";
import { toImageContent, toImages } from "../../connectors/providers/_gemini_images.ts";
import { parseChunk } from "../../connectors/providers/_http.ts";
import {
  readComplete as readCompletion,
  readEvents as readCompletionEvents,
} from "../../connectors/providers/_openai_completions.ts";
import { embeddingsBy } from "../../connectors/providers/_openai_text.ts";
import { imagesIn } from "../../connectors/providers/_openai_media.ts";
import { moderationBy } from "../../connectors/providers/_openai_text.ts";
import {
  readComplete as readResponse,
  readEvents as readResponseEvents,
} from "../../connectors/providers/_openai_responses.ts";
import { speechBy } from "../../connectors/providers/_openai_media.ts";
import { ChunkStream } from "../../connectors/providers/_openai_stream.ts";
import { audioTranslationBy, transcriptionBy } from "../../connectors/providers/_openai_media.ts";
import { rerankIn } from "../../connectors/providers/_retrieval.ts";
import { searchIn } from "../../connectors/providers/_retrieval.ts";
import { formatSubtitles, groupSegments } from "../../connectors/providers/_subtitles.ts";
import { fromPredict, toPredict } from "../../connectors/providers/_vertex_provider.ts";
import type { JsonObject } from "../../src/contracts/openai.ts";
import { createFakeResponse, fakeClock } from "../../src/runtime/test.ts";
import { drained, type GrowthCase, prepared, times } from "./_case.ts";

const defaults = { model: "m", keepsFunctionCall: false, random: () => 0, now: () => 0 };
const facts = { model: "m", id: "x", created: 0 };
const model = { id: "m" };
const vector = [0.5, 0.5];

/** Performs an operation whose provider answers this. */
const performed = (
  operation: (post: never) => (request: never, options: never) => Promise<unknown>,
  body: JsonObject,
  answer: JsonObject | string,
) =>
  operation((() => Promise.resolve(createFakeResponse({ body: answer }))) as never)(
    { model, body } as never,
    {} as never,
  );

const chunkText = (more: JsonObject = {}) =>
  JSON.stringify({
    id: "x",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta: { content: "a" }, finish_reason: null }],
    ...more,
  });
const streamOf = (lines: readonly string[]) =>
  createFakeResponse({ headers: { "content-type": "text/event-stream" }, body: [lines.join("")] });
const dataOf = (value: string) => `data: ${value}\n\n`;
const finished = chunkText({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
const embedding = { path: "embed", write: () => ({}), purposes: {}, purposeName: "task", own: [] } as const;

/** Rows of the other operations, and of streams in OpenAI's dialects. */
export const operationCases: readonly GrowthCase[] = [
  ...[true, false].map((joins) =>
    prepared({
      covers: ["connectors/providers/_event_batches.ts#EventBatches", "connectors/providers/_http.ts#parseChunk"],
      what: "events that arrive together",
      size: 2_000,
      input: (size) => times(size, () => ({ event: "", data: chunkText() })),
      work(events) {
        const batches = new EventBatches({
          parse: parseChunk,
          accept: (value, data) => ({ value, wire: data }),
          joins,
        });
        batches.read(events.slice(0, 1));
        return batches.read(events).chunks.map(({ wire }) => wire!.charCodeAt(0));
      },
    })
  ),
  {
    covers: ["connectors/providers/_openai_stream.ts#ChunkStream"],
    what: "events",
    size: 500,
    work: async (size) => {
      const response = Promise.resolve(
        streamOf([...times(size, () => dataOf(chunkText())), dataOf(finished), dataOf("[DONE]")]),
      );
      await drained(
        new ChunkStream(response, { readComplete: (body) => body as never, parse: parseChunk, defaults, joins: true }),
      );
    },
  },
  {
    covers: [
      "connectors/providers/_openai_completions.ts#readEvents",
      "connectors/providers/_openai_completions.ts#readComplete",
    ],
    what: "events and choices",
    size: 500,
    work: async (size) => {
      const text = { id: "x", object: "text_completion", created: 1, model: "m" };
      const choices = times(size, (index) => ({ index, text: "a", finish_reason: "stop", logprobs: null }));
      const events = [
        ...times(size, () => dataOf(JSON.stringify({ ...text, choices: [choices[0]] }))),
        dataOf("[DONE]"),
      ];
      await drained(readCompletionEvents(Promise.resolve(streamOf(events)), defaults));
      await readCompletion(createFakeResponse({ body: { ...text, choices } }));
    },
  },
  {
    covers: [
      "connectors/providers/_openai_responses.ts#readEvents",
      "connectors/providers/_openai_responses.ts#readComplete",
      "connectors/providers/_responses_events.ts#OutputEvents",
      "connectors/providers/_responses_output.ts#toCompletion",
    ],
    what: "events and items",
    size: 500,
    work: async (size) => {
      const output = times(size, (at) => ({ type: "function_call", call_id: `c${at}`, name: "f", arguments: "{}" }));
      const response = { id: "r", model: "m", created_at: 0, status: "completed", output };
      const of = (name: string) =>
        output.map((item, output_index) => ({ type: `response.output_item.${name}`, output_index, item }));
      const events = [
        ...of("added"),
        ...times(size, (at) => ({ type: "response.output_text.delta", output_index: at, delta: "a" })),
        ...of("done"),
        { type: "response.completed", response },
      ];
      await drained(readResponseEvents(Promise.resolve(streamOf(events.map((one) => dataOf(JSON.stringify(one)))))));
      await readResponse(createFakeResponse({ body: response }));
    },
  },
  prepared({
    covers: [
      "connectors/providers/_embeddings.ts#embeddingsIn",
      "connectors/providers/_openai_text.ts#embeddingsBy",
      "connectors/providers/_gemini_embeddings.ts#toBatchEmbedContents",
      "connectors/providers/_gemini_embeddings.ts#fromGeminiEmbeddings",
      "connectors/providers/_vertex_provider.ts#toPredict",
      "connectors/providers/_vertex_provider.ts#fromPredict",
    ],
    what: "inputs and vectors",
    size: 1_000,
    input: (size) => ({
      body: { input: times(size, () => "a"), dimensions: 2 },
      data: times(size, (index) => ({ index, embedding: vector })),
    }),
    work: async ({ body, data }) => {
      await performed(embeddingsIn(embedding), body, { data });
      await performed(embeddingsBy, body, { data });
      toBatchEmbedContents({ model, body } as never);
      fromGeminiEmbeddings({ embeddings: data.map(() => ({ values: vector })) }, { model, body } as never);
      toPredict(body.input, 2);
      fromPredict({
        predictions: data.map(() => ({ embeddings: { values: vector, statistics: { token_count: 1 } } })),
      });
    },
  }),
  prepared({
    covers: ["connectors/providers/_embeddings.ts#normalized"],
    what: "a vector",
    size: 20_000,
    input: (size) => times(size, () => 0.5),
    work: normalized,
  }),
  prepared({
    covers: [
      "connectors/providers/_retrieval.ts#documentsIn",
      "connectors/providers/_retrieval.ts#rerankIn",
      "connectors/providers/_retrieval.ts#searchIn",
      "connectors/providers/_openai_text.ts#moderationBy",
      "connectors/providers/_openai_media.ts#imagesIn",
    ],
    what: "results",
    size: 300,
    input: (size) => size,
    work: async (size) => {
      await performed(documentsIn({ path: "p", pagesIn: ({ pages }) => pages }), {}, { pages: times(size, () => "a") });
      await performed(rerankIn({ path: "p" }), { documents: times(size, () => "a") }, {
        results: times(size, (index) => ({ index, relevance_score: 1 })),
      });
      const results = times(size, () => ({ url: "http://a", title: "t" }));
      await performed(
        searchIn({ path: "p", maxResults: 9, write: () => ({}), resultsIn: (body) => body.results, names: {} }),
        {},
        { results },
      );
      await performed(moderationBy, {}, {
        results: times(size, () => ({ categories: { a: true }, category_scores: { a: 1 } })),
      });
      imagesIn({ created: 0, data: times(size, () => ({ url: "u", b64_json: null })) }, { clock: fakeClock() });
    },
  }),
  prepared({
    covers: [
      "connectors/providers/_openai_media.ts#speechBy",
      "connectors/providers/_openai_media.ts#transcriptionBy",
      "connectors/providers/_openai_media.ts#audioTranslationBy",
      "connectors/providers/_gemini_audio.ts#toSpeech",
      "connectors/providers/_gemini_audio.ts#toSpeechContent",
      "connectors/providers/_gemini_audio.ts#toTranscript",
      "connectors/providers/_gemini_audio.ts#toTranscriptionContent",
      "connectors/providers/_gemini_images.ts#toImageContent",
      "connectors/providers/_gemini_images.ts#toImages",
    ],
    what: "sound and images",
    size: 2_000,
    input: (size) => size,
    work: async (size) => {
      const text = "a".repeat(size);
      const files = [{ field: "file", name: text, type: `audio/${text}`, bytes: new Uint8Array(size) }];
      const parts = times(size, () => ({ inlineData: { data: "AAAA", mimeType: "audio/L16;rate=24000" }, text: "a" }));
      const answer = { candidates: [{ content: { parts } }] };
      await performed(transcriptionBy, {}, { text });
      await performed(audioTranslationBy, { response_format: "verbose_json" }, { text });
      await performed(speechBy, {}, text);
      toSpeechContent({ model, body: { input: text } } as never);
      toSpeech(answer, { model, body: {} } as never);
      toTranscriptionContent({ model, body: { prompt: text }, files } as never);
      toTranscript(answer, { ...facts, request: { model, body: {} } as never });
      toImageContent({ model, body: { prompt: text, size: text }, files } as never);
      toImages(answer, 0);
    },
  }),
  ...["a", "", ".", " "].map((text) =>
    prepared({
      covers: [
        "connectors/providers/_subtitles.ts#groupSegments",
        "connectors/providers/_subtitles.ts#formatSubtitles",
      ],
      what: `words ${JSON.stringify(text)}`,
      size: 2_000,
      input: (size) => [{ text: "b", start: 0, end: 0 }, ...times(size, () => ({ text, start: 0, end: 0 }))],
      work: (words) => formatSubtitles(groupSegments(words) as never, "srt"),
    })
  ),
];

/**
 * Requests for operations other than chat, and what the vendors response to them.
 * @module
 */
import { completeResponse } from "../support/upstream.ts";
import type { OperationFacts } from "./_operation.ts";
import { found, page, parsed, searched, url } from "./_search_operations.ts";

const bytes = new TextEncoder().encode("of a kind");
const vectors = [[0.1, 0.2], [0.3, 0.4]];
const embedded = {
  object: "list",
  data: vectors.map((embedding, index) => ({ object: "embedding", index, embedding })),
  model: "small",
  usage: { prompt_tokens: 2, total_tokens: 2 },
};
const image = { created: 1_700_000_000, data: [{ b64_json: "AAAA" }] };

const embeddings: OperationFacts = {
  body: { input: ["red", "green"] },
  sends: { path: "/v1/embeddings", json: { model: "small", input: ["red", "green"] } },
  replies: embedded,
  becomes: embedded,
};
const sized = { input: ["red", "green"], dimensions: 2, input_type: "query", encoding_format: "base64" };
const moderation = {
  id: "modr-1",
  model: "small",
  results: [{ flagged: false, categories: { hate: false }, category_scores: { hate: 0.1 } }],
};
const ranked = [{ index: 1, relevance_score: 0.9 }, { index: 0, relevance_score: 0.1 }];
const rerank: OperationFacts = {
  body: { query: "red", documents: ["leaf", "rose"] },
  sends: { path: "/v1/rerank", json: { model: "small", query: "red", documents: ["leaf", "rose"] } },
  replies: { results: ranked, usage: { total_tokens: 3 } },
  becomes: { model: "small", results: ranked, usage: { total_tokens: 3 } },
};
const transcript: Omit<OperationFacts, "sends"> = {
  body: { prompt: "colors" },
  files: [{ field: "file", name: "a.mp3", type: "audio/mpeg", bytes }],
  replies: { text: "red" },
  becomes: { text: "red" },
};

/** In OpenAI's dialect, and in what others have agreed on. */
export const usual: Readonly<Record<string, OperationFacts>> = {
  embeddings,
  rerank,
  moderation: {
    body: { input: "red" },
    sends: { path: "/v1/moderations", json: { model: "small", input: "red" } },
    replies: moderation,
    becomes: moderation,
  },
  speech: {
    body: { input: "red", voice: "alloy" },
    sends: { path: "/v1/audio/speech", json: { model: "small", input: "red", voice: "alloy" } },
    replies: completeResponse(200, bytes, "audio/mpeg"),
    becomes: "of a kind",
  },
  transcription: { ...transcript, sends: { path: "/v1/audio/transcriptions" } },
  "audio-translation": { ...transcript, sends: { path: "/v1/audio/translations" } },
  image: {
    body: { prompt: "red" },
    sends: { path: "/v1/images/generations", json: { model: "small", prompt: "red" } },
    replies: image,
    becomes: image,
  },
  "image-edit": {
    body: { prompt: "red" },
    files: [{ field: "image", name: "a.png", type: "image/png", bytes }],
    sends: { path: "/v1/images/edits" },
    replies: image,
    becomes: image,
  },
  search: {
    body: searched,
    sends: { path: "/v1/search", json: { model: "small", ...searched } },
    replies: { results: [page], usage: { searches: 2 } },
    becomes: found({ searches: 2 }),
  },
  documents: {
    body: { url },
    sends: { path: "/v1/documents/parse", json: { model: "small", url } },
    replies: { pages: [{ page: 1, markdown: "# One" }] },
    becomes: parsed("small"),
  },
};

/** The time of the clock in tests, Unix seconds. */
const created = 1_767_225_600;
const drawn = { created, data: image.data };
const drawnByGemini = (
  parts: readonly object[],
): Pick<OperationFacts, "sends" | "replies" | "becomes" | "mayBeEmpty"> => ({
  sends: {
    path: "/v1/models/small:generateContent",
    json: { contents: [{ role: "user", parts }], generationConfig: { responseModalities: ["IMAGE"] } },
  },
  replies: { candidates: [{ content: { parts: [{ inlineData: { mimeType: "image/png", data: "AAAA" } }] } }] },
  becomes: drawn,
  mayBeEmpty: true,
});

const unitVectors = [[0.6, 0.8], [0, 1]].map((embedding, index) => ({ object: "embedding", index, embedding }));
const said = { role: "user", parts: [{ text: "gently: red" }] };
const heardByGemini = (text: string): OperationFacts => ({
  body: {},
  files: transcript.files!,
  sends: {
    path: "/v1/models/small:generateContent",
    json: {
      contents: [{
        role: "user",
        parts: [{ text }, { inlineData: { mimeType: "audio/mp3", data: btoa("of a kind") } }],
      }],
    },
  },
  replies: { candidates: [{ content: { parts: [{ text: "Red.\n" }] }, finishReason: "STOP" }] },
  becomes: { text: "Red." },
});

const soundOfGemini: Readonly<Record<string, OperationFacts>> = {
  speech: {
    body: { input: "red", voice: "Kore", instructions: "gently", response_format: "pcm" },
    sends: {
      path: "/v1/models/small:generateContent",
      json: {
        contents: [said],
        generationConfig: {
          responseModalities: ["AUDIO"],
          speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: "Kore" } } },
        },
      },
    },
    replies: {
      candidates: [{
        content: { parts: [{ inlineData: { mimeType: "audio/L16;rate=24000", data: btoa("of a kind") } }] },
      }],
    },
    becomes: "of a kind",
    isWhole: true,
  },
  transcription: heardByGemini(
    "Write down word for word what is said in this recording, in the language in which it is said. Answer with that " +
      "text alone. If there is no speech, answer with an empty text.",
  ),
  "audio-translation": heardByGemini(
    "Write down in English what is said in this recording. Answer with that text alone. If there is no speech, answer with " +
      "an empty text.",
  ),
};
const place = { project: "my-project", location: "europe-west1" };
const atVertex = ({ sends }: OperationFacts) => ({
  ...sends,
  path: "/v1beta1/projects/my-project/locations/europe-west1/publishers/google/models/small:generateContent",
});

/** What vendors have in their own format, by connector and operation. */
export const own: Readonly<Record<string, Readonly<Record<string, OperationFacts>>>> = {
  "google.gemini.v1": {
    ...soundOfGemini,
    image: { body: { prompt: "red" }, ...drawnByGemini([{ text: "red" }]) },
    "image-edit": {
      ...usual["image-edit"]!,
      ...drawnByGemini([{ text: "red" }, { inlineData: { mimeType: "image/png", data: btoa("of a kind") } }]),
    },
    embeddings: {
      body: { input: ["red", "green"] },
      sends: {
        path: "/v1/models/small:batchEmbedContents",
        json: {
          requests: ["red", "green"].map((text) => ({ model: "models/small", content: { parts: [{ text }] } })),
        },
      },
      replies: { embeddings: vectors.map((values) => ({ values })) },
      becomes: { object: "list", data: embedded.data, model: "small" },
    },
  },
  "fireworks.api.v1": {
    image: {
      model: "accounts/a/models/b",
      body: { prompt: "red", size: "1536x1024", quality: "high", seed: 7 },
      sends: {
        path: "/v1/workflows/accounts/a/models/b/text_to_image",
        json: { prompt: "red", seed: 7, aspect_ratio: "3:2" },
      },
      replies: { id: "1", base64: ["data:image/png;base64,AAAA"], finishReason: "SUCCESS", seed: 7 },
      becomes: { ...drawn, id: "1", base64: ["data:image/png;base64,AAAA"], finishReason: "SUCCESS", seed: 7 },
    },
  },
  "google.vertex.v1": {
    ...Object.fromEntries(
      Object.entries(soundOfGemini).map(([name, facts]) => [name, { ...facts, config: place, sends: atVertex(facts) }]),
    ),
    embeddings: {
      model: "text-embedding-005",
      body: { input: ["red", "green"], dimensions: 2 },
      config: place,
      sends: {
        path: "/v1/projects/my-project/locations/europe-west1/publishers/google/models/text-embedding-005:predict",
        json: { instances: [{ content: "red" }, { content: "green" }], parameters: { outputDimensionality: 2 } },
      },
      replies: {
        predictions: [[3, 4], [0, 9]].map((values) => ({ embeddings: { values, statistics: { token_count: 1 } } })),
      },
      becomes: { ...embedded, model: "text-embedding-005", data: unitVectors },
    },
  },
  "aws.bedrock.v1": {
    embeddings: {
      model: "eu.cohere.embed-v4:0",
      body: sized,
      config: { region: "eu-central-1" },
      sends: {
        path: "/v1/model/eu.cohere.embed-v4%3A0/invoke",
        json: { texts: sized.input, input_type: "search_query", output_dimension: 2 },
      },
      replies: { id: "1", embeddings: { float: [[3, 4], [0, 9]] }, response_type: "embeddings_by_type" },
      becomes: { object: "list", model: "eu.cohere.embed-v4:0", data: unitVectors },
    },
  },
  "cloudflare.workers-ai.v1": {
    image: {
      body: { prompt: "red" },
      sends: { path: "/run/small", json: { prompt: "red" } },
      replies: { result: { image: "AAAA" } },
      becomes: { ...drawn, result: { image: "AAAA" } },
    },
  },
  "cohere.nlp.v1": {
    embeddings: {
      body: sized,
      sends: {
        path: "/v2/embed",
        json: {
          ...{ model: "small", texts: sized.input, output_dimension: 2 },
          ...{ input_type: "search_query", embedding_types: ["float"] },
        },
      },
      replies: { id: "1", embeddings: { float: vectors }, meta: { billed_units: { input_tokens: 2 } } },
      becomes: embedded,
    },
    rerank: {
      ...rerank,
      sends: { ...rerank.sends, path: "/v2/rerank" },
      replies: { results: ranked, meta: { billed_units: { search_units: 1 } } },
      becomes: { model: "small", results: ranked, usage: { search_units: 1 } },
    },
  },
  "jina.ai.v1": {
    embeddings: {
      body: sized,
      sends: {
        path: "/v1/embeddings",
        json: { model: "small", input: sized.input, task: "retrieval.query", dimensions: 2 },
      },
      replies: { data: [{ index: 1, embedding: [3, 4] }, { index: 0, embedding: [0, 9] }], usage: { total_tokens: 2 } },
      becomes: {
        ...embedded,
        data: [[0, 1], [0.6, 0.8]].map((embedding, index) => ({ object: "embedding", index, embedding })),
      },
    },
    search: {
      body: searched,
      sends: { path: "/v1/search", json: { q: "tower", num: 3 } },
      replies: {
        code: 200,
        data: [{ title: page.title, url: page.url, description: page.snippet, content: "", date: "2026-01-31" }],
        meta: { usage: { tokens: 10_000 } },
      },
      becomes: { ...found({ searches: 1, total_tokens: 10_000 }), results: [{ ...page, published: "2026-01-31" }] },
    },
    documents: {
      body: { url },
      sends: { path: "/v1/reader", json: { url } },
      replies: { code: 200, data: { title: "One", url, content: "# One", usage: { tokens: 7 } } },
      becomes: { ...parsed("small"), usage: { total_tokens: 7 } },
    },
  },
  "voyage.embeddings.v1": {
    embeddings: {
      body: sized,
      sends: {
        path: "/v1/embeddings",
        json: { model: "small", input: sized.input, input_type: "query", output_dimension: 2 },
      },
      replies: { ...embedded, usage: { total_tokens: 2 } },
      becomes: embedded,
    },
    rerank: {
      body: { ...rerank.body, top_n: 1 },
      sends: { path: "/v1/rerank", json: { model: "small", ...rerank.body, top_k: 1 } },
      replies: { object: "list", data: ranked, model: "small", usage: { total_tokens: 3 } },
      becomes: rerank.becomes,
    },
  },
  "mistral.api.v1": {
    documents: {
      model: "mistral-ocr-latest",
      body: {},
      files: [{ field: "file", name: "one.pdf", type: "application/pdf", bytes }],
      sends: {
        path: "/v1/ocr",
        json: {
          model: "mistral-ocr-latest",
          document: { type: "document_url", document_url: `data:application/pdf;base64,${btoa("of a kind")}` },
        },
      },
      replies: { pages: [{ index: 0, markdown: "# One", images: [] }], usage_info: { pages_processed: 1 } },
      becomes: parsed("mistral-ocr-latest"),
    },
  },
};

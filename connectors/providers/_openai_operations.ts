/**
 * The operations other than chat of vendors that shape them as OpenAI does, for declarations: their code is imported with
 * the first request.
 * @module
 */
import type { DocumentDialect } from "./_documents.ts";
import type { EmbeddingDialect } from "./_embeddings.ts";
import type { ImageDialect } from "./_image_dialect.ts";
import type { VendorOperation } from "./_openai_vendor.ts";
import type { RerankDialect } from "./_rerank.ts";
import type { SearchDialect } from "./_search.ts";

/** Embeddings, by `POST /embeddings`. */
export const openAiEmbeddings: VendorOperation = /* @__PURE__ */ lazily(async () =>
  (await import("./_openai_embeddings.ts")).embeddingsBy
);

/**
 * Embeddings by a vendor with names of its own.
 *
 * @param dialect How the vendor embeds.
 */
export function embeddingsLazily(dialect: EmbeddingDialect): VendorOperation {
  return lazily(async () => (await import("./_embeddings.ts")).embeddingsIn(dialect));
}

/** Moderation, by `POST /moderations`. */
export const openAiModeration: VendorOperation = /* @__PURE__ */ lazily(async () =>
  (await import("./_openai_moderation.ts")).moderationBy
);

/** Reranking, by `POST /rerank` as Cohere's and Jina's dialects have it. */
export const plainRerank: VendorOperation = /* @__PURE__ */ rerankLazily({ path: "rerank" });

/**
 * The same in the vendor's own words.
 *
 * @param dialect How the vendor reranks.
 */
export function rerankLazily(dialect: RerankDialect): VendorOperation {
  return lazily(async () => (await import("./_rerank.ts")).rerankIn(dialect));
}

/** Images, by `POST /images/generations`. */
export const openAiImages: VendorOperation = /* @__PURE__ */ lazily(async () =>
  (await import("./_openai_images.ts")).imagesAt("images/generations")
);

/** Edits of images, by `POST /images/edits`. */
export const openAiImageEdits: VendorOperation = /* @__PURE__ */ lazily(async () =>
  (await import("./_openai_images.ts")).imagesAt("images/edits")
);

/**
 * Images by a vendor that takes other requests.
 *
 * @param load Imports how it takes them.
 */
export function imagesLazily(load: () => Promise<ImageDialect>): VendorOperation {
  return lazily(async () => (await import("./_image_dialect.ts")).imagesByDialect(await load()));
}

/** Text to speech, by `POST /audio/speech`. */
export const openAiSpeech: VendorOperation = /* @__PURE__ */ lazily(async () =>
  (await import("./_openai_speech.ts")).speechBy
);

/**
 * Web search.
 *
 * @param dialect How the vendor searches.
 */
export function searchLazily(dialect: SearchDialect): VendorOperation {
  return lazily(async () => (await import("./_search.ts")).searchIn(dialect));
}

/** Web search by `POST /search` in the words of our own proxy. */
export const plainSearch: VendorOperation = /* @__PURE__ */ searchLazily({
  path: "search",
  maxResults: 100,
  write: ({ query, count, model }) => ({ model, query, ...(count === undefined ? {} : { max_results: count }) }),
  resultsIn: ({ results }) => results,
  names: { published: "published", score: "score" },
  usageIn: ({ usage }) => Object(usage),
});

/**
 * Document parsing.
 *
 * @param load Imports how the vendor does it.
 */
export function documentsLazily(load: () => Promise<DocumentDialect>): VendorOperation {
  return lazily(async () => (await import("./_documents.ts")).documentsIn(await load()));
}

/** Document parsing by `POST /documents/parse` in the words of our own proxy. */
export const plainDocuments: VendorOperation = /* @__PURE__ */ documentsLazily(() =>
  Promise.resolve({
    path: "documents/parse",
    pagesIn: ({ pages }) => Array.isArray(pages) ? pages.map((page) => Object(page).markdown) : undefined,
    usageIn: ({ usage }) => Object(usage),
  })
);

/** Speech to text, by `POST /audio/transcriptions`. */
export const openAiTranscription: VendorOperation = /* @__PURE__ */ lazily(async () =>
  (await import("./_openai_transcription.ts")).transcriptionBy
);

/** Speech to English text, by `POST /audio/translations`. */
export const openAiAudioTranslation: VendorOperation = /* @__PURE__ */ lazily(async () =>
  (await import("./_openai_transcription.ts")).audioTranslationBy
);

/**
 * An operation whose code is imported with the first request.
 *
 * @param load Imports it.
 */
export function lazily(load: () => Promise<VendorOperation>): VendorOperation {
  return (post, runtime) => async (request, options) => (await load())(post, runtime)(request, options);
}

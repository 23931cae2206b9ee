/**
 * Operations other than chat, for vendor declarations. Their implementations are imported with the first request.
 * @module
 */
import type { Infrastructure } from "../../src/contracts/infrastructure.ts";
import type { OperationCall } from "../../src/contracts/provider.ts";
import type { EmbeddingWire } from "./_embeddings.ts";
import type { ImageDialectName } from "./_image_dialects.ts";
import type { InfrastructureParts } from "./_openai_infrastructure.ts";
import type { VendorOperation } from "./_openai_vendor.ts";
import type { DocumentDialect, RerankDialect, SearchDialect } from "./_retrieval.ts";

const loadText = () => import("./_openai_text.ts");
const loadMedia = () => import("./_openai_media.ts");
const loadRetrieval = () => import("./_retrieval.ts");

/** Embeddings through `POST /embeddings`. */
export const openAiEmbeddings: VendorOperation = /* @__PURE__ */ lazily(async () => (await loadText()).embeddingsBy);

/** Embeddings in a vendor's dialect. */
export function embeddingsLazily(dialect: EmbeddingWire): VendorOperation {
  return lazily(async () => (await import("./_embeddings.ts")).embeddingsIn(dialect));
}

/** Moderation through `POST /moderations`. */
export const openAiModeration: VendorOperation = /* @__PURE__ */ lazily(async () => (await loadText()).moderationBy);

/** Reranking through `POST /rerank`, in the dialect of Cohere and Jina. */
export const plainRerank: VendorOperation = /* @__PURE__ */ rerankLazily({ path: "rerank" });

/** Reranking in a vendor's dialect. */
export function rerankLazily(dialect: RerankDialect): VendorOperation {
  return lazily(async () => (await loadRetrieval()).rerankIn(dialect));
}

/** Image generation through `POST /images/generations`. */
export const openAiImages: VendorOperation = /* @__PURE__ */ lazily(async () =>
  (await loadMedia()).imagesAt("images/generations")
);

/** Image editing through `POST /images/edits`. */
export const openAiImageEdits: VendorOperation = /* @__PURE__ */ lazily(async () =>
  (await loadMedia()).imagesAt("images/edits")
);

/**
 * Image generation in a vendor's dialect.
 *
 * @param name The name of the dialect.
 */
export function imagesLazily(name: ImageDialectName): VendorOperation {
  return lazily(async () => (await import("./_image_dialects.ts")).imagesByDialect(name));
}

/** Text to speech through `POST /audio/speech`. */
export const openAiSpeech: VendorOperation = /* @__PURE__ */ lazily(async () => (await loadMedia()).speechBy);

/** Web search. */
export function searchLazily(dialect: SearchDialect): VendorOperation {
  return lazily(async () => (await loadRetrieval()).searchIn(dialect));
}

/** Web search through `POST /search`, in the dialect of ModelMesh's own proxy. */
export const plainSearch: VendorOperation = /* @__PURE__ */ searchLazily({
  path: "search",
  maxResults: 100,
  write: ({ query, count, model }) => ({ model, query, ...(count === undefined ? {} : { max_results: count }) }),
  resultsIn: ({ results }) => results,
  names: { published: "published", score: "score" },
  usageIn: ({ usage }) => Object(usage),
});

/** Document parsing. */
export function documentsLazily(dialect: DocumentDialect): VendorOperation {
  return lazily(async () => (await loadRetrieval()).documentsIn(dialect));
}

/** Document parsing through `POST /documents/parse`, in the dialect of ModelMesh's own proxy. */
export const plainDocuments: VendorOperation = /* @__PURE__ */ documentsLazily({
  path: "documents/parse",
  pagesIn: ({ pages }) => Array.isArray(pages) ? pages.map((page) => Object(page).markdown) : undefined,
  usageIn: ({ usage }) => Object(usage),
});

/** Speech to text through `POST /audio/transcriptions`. */
export const openAiTranscription: VendorOperation = /* @__PURE__ */ lazily(async () =>
  (await loadMedia()).transcriptionBy
);

/** Speech to English text through `POST /audio/translations`. */
export const openAiAudioTranslation: VendorOperation = /* @__PURE__ */ lazily(async () =>
  (await loadMedia()).audioTranslationBy
);

/**
 * An operation whose implementation is imported with the first request.
 *
 * @param load Imports the implementation.
 */
export function lazily(load: () => Promise<VendorOperation>): VendorOperation {
  return (post, runtime) => {
    let call: OperationCall | undefined;
    const start: OperationCall = async (request, options) => {
      call = (await load())(post, runtime);
      return await call(request, options);
    };
    return (request, options) => (call ?? start)(request, options);
  };
}

/** A lazy `openAiInfrastructure`. */
export function lazyInfrastructure(parts: InfrastructureParts): Infrastructure {
  let loading: Promise<Infrastructure> | undefined;
  const load = () =>
    loading ??= (async () => (await import("./_openai_infrastructure.ts")).openAiInfrastructure(parts))();
  type Call = (...args: unknown[]) => Promise<unknown>;
  return new Proxy(parts as unknown as Infrastructure, {
    get: (_, name) =>
      name === "facts"
        ? parts.facts
        : async (...args: unknown[]) => await (await load() as unknown as Record<PropertyKey, Call>)[name]!(...args),
  });
}

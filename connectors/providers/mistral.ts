/**
 * Mistral. It responds with 422 to unknown fields, and reports usage in streams by default.
 *
 * Source: docs.mistral.ai; mistralai/platform-docs-public#7, avante.nvim#2347 and eca#231 (rejected fields). Efforts,
 * of which the models in the catalogue support two: docs.mistral.ai/capabilities/reasoning/adjustable; reasoning as
 * content parts: litellm#16272.
 * @module
 */
import type { ChatMessage, JsonObject } from "../../src/contracts/openai.ts";
import type { UploadedFile } from "../../src/contracts/provider.ts";
import type { BilledUsage } from "../../src/contracts/usage.ts";
import { toBase64 } from "../../src/util/base64.ts";
import { toText } from "../../src/util/to_text.ts";
import { knownModels } from "./_catalogue.ts";
import { mistral as entries } from "./catalogue/page_vendors.ts";
import { documentsLazily, openAiEmbeddings, openAiModeration, openAiTranscription } from "./_openai_operations.ts";
import { mistralRules, type OpenAiCompatible } from "./_openai_vendor.ts";
import type { DocumentDialect } from "./_retrieval.ts";

/** Audio in a chat is billed by its duration. */
function readAudioSeconds({ usage }: JsonObject): BilledUsage {
  const { prompt_audio_seconds: seconds } = Object(usage);
  return typeof seconds === "number" ? { seconds } : {};
}

const imageEnding = /\.(png|jpe?g|webp|gif|avif|tiff?|bmp)$/i;
const unknownType = "application/octet-stream";

/**
 * Mistral's OCR: `POST /ocr`, which accepts URLs; files are sent as `data:` URLs.
 *
 * Sources: docs.mistral.ai, basic OCR (a request specifies documents or images); docs.litellm.ai/docs/ocr.
 */
const mistralDocuments: DocumentDialect = {
  path: "ocr",
  write({ model, url, file }) {
    const address = file === undefined ? url! : `data:${findDocumentType(file)};base64,${toBase64(file.bytes)}`;
    const isImage = file === undefined
      ? imageEnding.test(new URL(address).pathname)
      : /^image\//.test(findDocumentType(file));
    const document = isImage
      ? { type: "image_url", image_url: address }
      : { type: "document_url", document_url: address };
    return { model, document };
  },
  readBilled: ({ usage_info }) => ({ pages: Object(usage_info).pages_processed }),
  pagesIn: ({ pages }) => Array.isArray(pages) ? pages.map((page) => Object(page).markdown) : undefined,
};

/** An uploaded file without a media type is most often a PDF. */
function findDocumentType({ type, bytes }: UploadedFile): string {
  const isPdf = new TextDecoder().decode(bytes.subarray(0, 5)) === "%PDF-";
  return type === unknownType && isPdf ? "application/pdf" : type.split(/[;,\s]/, 1)[0]!;
}

/**
 * An assistant message needs content or calls. A last one has to be marked as the beginning of the response.
 *
 * Source: docs.mistral.ai/api, `AssistantMessage.prefix`; mistral-common, `MistralRequestValidator`.
 */
function withContinuation(messages: ChatMessage[]): ChatMessage[] {
  const last = messages.length - 1;
  const isSilent = (message: ChatMessage) =>
    message.role === "assistant" && !message.content?.length && !hasCalls(message);
  const isPrefix = (message: ChatMessage, index: number) =>
    index === last && message.role === "assistant" && !hasCalls(message) && message.prefix === undefined;
  if (!messages.some((message, index) => isSilent(message) || isPrefix(message, index))) return messages;
  return messages.map((message, index) => ({
    ...message,
    ...(isSilent(message) ? { content: toText(message.refusal) || "..." } : {}),
    ...(isPrefix(message, index) ? { prefix: true } : {}),
  }));
}

function hasCalls({ tool_calls: calls }: ChatMessage): boolean {
  return Array.isArray(calls) && calls.length > 0;
}

/** Mistral. */
export const mistral: OpenAiCompatible = {
  id: "mistral.api.v1",
  vendor: "mistral",
  telemetryName: "mistral_ai",
  promptCache: { keyApis: ["chat"] }, // docs.mistral.ai/inference/conversations/advanced/prompt-caching
  baseUrl: "https://api.mistral.ai/v1",
  detection: { keys: ["MISTRAL_API_KEY"], baseUrl: ["MISTRAL_BASE_URL"] },
  streamUsage: false,
  adaptMessages: withContinuation,
  parameters: {
    thoughts: "none",
    ...mistralRules,
    efforts: {
      minimal: { reasoning_effort: "none" },
      low: { reasoning_effort: "high" },
      medium: { reasoning_effort: "high" },
      xhigh: { reasoning_effort: "high" },
      max: { reasoning_effort: "high" },
    },
    rename: { max_completion_tokens: "max_tokens", seed: "random_seed" },
    max_stop_sequences: 4, // langchain#38047
    drop: ["top_k", "stream_options", "logit_bias", "user", "store", "service_tier"],
    refuse: ["logprobs", "top_logprobs"],
  },
  models: () => knownModels(entries),
  readBilled: readAudioSeconds,
  billsAudioByDuration: true,
  operations: {
    embeddings: openAiEmbeddings,
    moderation: openAiModeration,
    documents: documentsLazily(mistralDocuments),
    transcription: openAiTranscription,
  },
};

/**
 * A client that makes no network calls, for the tests of programs: a provider whose responses middleware supplies.
 * @module
 */
import type { Transcription } from "../contracts/audio.ts";
import type { GivenProvider } from "../contracts/browser_provider.ts";
import type { ImagesResponse } from "../contracts/images.ts";
import type {
  ChatCompletion,
  ChatCompletionRequest,
  DocumentResponse,
  EmbeddingResponse,
  ModerationResponse,
  RerankResponse,
  SearchResponse,
} from "../contracts/openai.ts";
import type { CompletionChunk, CompletionRequest, CompletionResponse, FailureKind } from "../contracts/provider.ts";
import type { MeshClient } from "./client.ts";
import { createClient, type CreateParts } from "./create.ts";
import type { Middleware } from "./options.ts";

/**
 * One scripted response: a string (the text of a chat completion), a complete response body, an error that the call
 * throws, or a function of the request that returns one of these.
 */
export type MockResponse =
  | string
  | MockBody
  | Error
  | ((request: ChatCompletionRequest) => string | MockBody | Error);

/** The complete response body of an operation; for speech, its bytes. */
export type MockBody =
  | ChatCompletion
  | EmbeddingResponse
  | ModerationResponse
  | RerankResponse
  | SearchResponse
  | DocumentResponse
  | ImagesResponse
  | Transcription
  | Uint8Array;

/** Options of `mockClient`. */
export interface MockOptions {
  /** Responses, used in order. The last one repeats. */
  readonly responses: readonly MockResponse[];
}

/** Key under which middleware passes the scripted response to the provider, within the request. */
const scripted = Symbol("scripted");

/**
 * Middleware that takes the next scripted response at each request.
 *
 * @throws {TypeError} From a request whose scripted response has the wrong shape for its operation.
 */
function createScript({ responses }: MockOptions): Middleware {
  let taken = 0;
  return {
    beforeRequest(request, { operation }) {
      const response = responses[Math.min(taken++, responses.length - 1)] ?? "";
      const next = typeof response === "function" ? response(request) : response;
      if (next instanceof Error) throw next;
      if (typeof next === "string" && operation !== "chat") {
        throw new TypeError(
          `The scripted response to a request for ${operation} has to be a complete response, not a string`,
        );
      }
      if (next instanceof Uint8Array !== (operation === "speech")) {
        throw new TypeError(`A scripted response has to be bytes for a request for speech, and only for that`);
      }
      return { ...request, [scripted]: typeof next === "string" ? createCompletion(next) : next };
    },
  };
}

const capabilities = [
  "generation.text-generation.chat-completion",
  "representation.embeddings.text-embeddings",
  "evaluation.content-moderation",
  "retrieval.reranking",
  "retrieval.search.web-search",
  "document-understanding.document-parsing",
  "generation.image.text-to-image",
  "generation.image.image-to-image",
  "generation.image.inpainting",
  "generation.audio.text-to-speech",
  "understanding.audio.speech-to-text",
];
/** Every operation except chat. */
const operations: GivenProvider["operations"] = [
  ...["embeddings", "moderation", "rerank", "search", "documents"] as const,
  ...["image", "image-edit", "speech", "transcription", "audio-translation"] as const,
];

/** The provider that returns scripted responses. */
const mockProvider: GivenProvider = {
  id: "mock",
  instanceSettings: { models: [{ id: "mock", capabilities }] },
  operations,
  complete: readScriptedResponse,
  async *stream(request) {
    yield* splitCompletion((await readScriptedResponse(request)).body);
  },
  getCapabilities: () => capabilities,
  supports: (_model, _capability, delivery) => delivery !== "batch",
  listModels: () => Promise.resolve([{ id: "mock" }]),
  getModelInfo: (id) => Promise.resolve({ id }),
  checkQuota: () => Promise.resolve(undefined),
  getRateLimits: () => undefined,
  getPricing: () => undefined,
  reportUsage: () => {},
  classifyError: (): FailureKind => "server",
  isRetryable: () => false,
};

async function readScriptedResponse({ body, operation }: CompletionRequest): Promise<CompletionResponse> {
  const scriptedResponse = Reflect.get(body, scripted) as ChatCompletion | Transcription | Uint8Array;
  if (scriptedResponse instanceof Uint8Array) {
    return { body: {} as ChatCompletion, content: { type: "audio/mpeg", bytes: scriptedResponse } };
  }
  if (operation === "chat") return { body: scriptedResponse as ChatCompletion };
  const { findTranscriptType } = await import("../util/audio_format.ts"); // few scripts have transcripts
  const type = findTranscriptType(String(body.response_format));
  if (type === undefined) return { body: scriptedResponse as ChatCompletion };
  const bytes = new TextEncoder().encode(String((scriptedResponse as Transcription).text));
  return { body: scriptedResponse as ChatCompletion, content: { type, bytes } };
}

/** Splits a completion into chunks of one word each, as a provider would stream it. */
function* splitCompletion({ id, created, model, choices, usage }: ChatCompletion): Generator<CompletionChunk> {
  const head = { id, object: "chat.completion.chunk", created, model } as const;
  for (const { index, message: { content, tool_calls, ...rest }, finish_reason } of choices) {
    const calls = tool_calls?.map((call, position) => ({ index: position, ...call }));
    yield {
      value: {
        ...head,
        choices: [{ index, delta: calls === undefined ? rest : { ...rest, tool_calls: calls }, finish_reason: null }],
      },
    };
    for (const word of content?.split(/(?<=\s)/) ?? []) {
      yield { value: { ...head, choices: [{ index, delta: { content: word }, finish_reason: null }] } };
    }
    yield { value: { ...head, choices: [{ index, delta: {}, finish_reason }] } };
  }
  if (usage !== undefined) yield { value: { ...head, choices: [], usage } };
}

function createCompletion(content: string): ChatCompletion {
  const message = { role: "assistant", content, refusal: null } as const;
  return {
    id: "chatcmpl-mock",
    object: "chat.completion",
    created: 0,
    model: "mock",
    choices: [{ index: 0, message, finish_reason: "stop", logprobs: null }],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  };
}

/**
 * Creates a client whose responses are scripted.
 *
 * @param parts What the shell supplies.
 */
export function createMockClient(parts: CreateParts, options: MockOptions): MeshClient {
  return createClient(parts, "chat-completion", { providers: [mockProvider], middleware: createScript(options) });
}

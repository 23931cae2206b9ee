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
  Delta,
  DocumentResponse,
  EmbeddingResponse,
  ModerationResponse,
  RerankResponse,
  SearchResponse,
} from "../contracts/openai.ts";
import { ConfigError } from "../errors.ts";
import { isObject } from "../util/is_object.ts";
import type {
  CompletionChunk,
  CompletionRequest,
  CompletionResponse,
  FailureKind,
  OperationName,
} from "../contracts/provider.ts";
import type { MeshClient } from "./client.ts";
import { createClient, type CreateParts } from "./create.ts";
import type { Middleware } from "./options.ts";

/**
 * One scripted response: a string (the text of a chat completion), a response body, an error that the call throws, or a
 * function of the request that returns one of these.
 */
export type MockResponse =
  | string
  | MockBody
  | Error
  | ((request: ChatCompletionRequest) => string | MockBody | Error);

/** The response body of an operation; for speech, its bytes. */
export type MockBody =
  | Scripted<ChatCompletion, "choices">
  | Scripted<EmbeddingResponse, "data">
  | Scripted<ModerationResponse, "results">
  | Scripted<RerankResponse, "results">
  | Scripted<SearchResponse, "results">
  | Scripted<DocumentResponse, "text" | "pages">
  | Scripted<ImagesResponse, "data">
  | Scripted<Transcription, "text">
  | Uint8Array;

/**
 * A response body, of which a script needs to contain only what matters: the members named here, and of these any part.
 * The others are filled in, such as the `finish_reason` of a choice whose message has tool calls alone.
 */
export type Scripted<Body, Name extends keyof Body> =
  & DeepPartial<Body>
  & { [Key in Name]: DeepPartial<Body[Key]> };

/** A value of which any member may be missing, at any depth. */
export type DeepPartial<Value> = Value extends readonly (infer Item)[] ? DeepPartial<Item>[]
  : Value extends object ? { [Key in keyof Value]?: DeepPartial<Value[Key]> }
  : Value;

/** Options of `mockClient`. */
export interface MockOptions {
  /** Responses, used in order; at least one. The last one repeats. */
  readonly responses: readonly MockResponse[];
}

/** Key under which middleware passes the scripted response to the provider, within the request. */
const scripted = Symbol("scripted");

/**
 * Checks options at run time, for programs in plain JavaScript.
 *
 * @throws {ConfigError} Lists every problem.
 */
function checkScript(options: MockOptions): void {
  const responses: unknown = Object(options).responses;
  if (!Array.isArray(responses) || responses.length === 0) {
    throw new ConfigError([{
      path: "responses",
      message: 'expected a list of at least one response, such as ["Hello"]',
    }]);
  }
  const problems = responses.flatMap((response, index) =>
    typeof response === "string" || typeof response === "function" || isBody(response) || response instanceof Error
      ? []
      : { path: `responses[${index}]`, message: "expected a text, a response body, an error, or a function" }
  );
  if (problems.length > 0) throw new ConfigError(problems);
}

function isBody(response: unknown): boolean {
  return response instanceof Uint8Array || isObject(response);
}

/**
 * Middleware that takes the next scripted response at each request.
 *
 * @throws {ConfigError} If there is no response, or one that is none.
 * @throws {TypeError} From a request whose scripted response has the wrong shape for its operation.
 */
function createScript(options: MockOptions): Middleware {
  checkScript(options);
  const { responses } = options;
  let taken = 0;
  return {
    beforeRequest(request, { operation }) {
      const response = responses[Math.min(taken++, responses.length - 1)]!;
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
    const { body } = await readScriptedResponse(request);
    const { splitIntoChunks } = await import("../util/split_completion.ts"); // mod.ts loads what is needed at once
    for (const chunk of splitIntoChunks(body)) yield* splitIntoWords(chunk);
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

async function readScriptedResponse({ body, operation = "chat" }: CompletionRequest): Promise<CompletionResponse> {
  const scriptedResponse = Reflect.get(body, scripted) as Exclude<MockBody, Uint8Array> | Uint8Array;
  if (scriptedResponse instanceof Uint8Array) {
    return { body: {} as ChatCompletion, content: { type: "audio/mpeg", bytes: scriptedResponse } };
  }
  // the engine completes the body further
  const completed = { ...heads[operation], ...scriptedResponse } as ChatCompletion;
  if (operation === "chat") return { body: await complete(structuredClone(completed)) };
  const { findTranscriptType } = await import("../util/audio_format.ts"); // few scripts have transcripts
  const type = findTranscriptType(String(body.response_format));
  if (type === undefined) return { body: completed };
  const bytes = new TextEncoder().encode(String((scriptedResponse as Transcription).text));
  return { body: completed, content: { type, bytes } };
}

/** What the bodies of operations have in common. */
const heads: Partial<Record<OperationName, object>> = {
  embeddings: { object: "list", model: "mock" },
  moderation: { id: "modr-mock", model: "mock" },
  rerank: { model: "mock" },
  search: { object: "search", model: "mock" },
  documents: { object: "document", model: "mock" },
  image: { created: 0 },
  "image-edit": { created: 0 },
};

/** Fills in what a completion lacks, so that it ends alike, streamed or not. */
async function complete(completion: ChatCompletion): Promise<ChatCompletion> {
  const { normalizeCompletion } = await import("../util/normalize_completion.ts");
  normalizeCompletion(completion, { model: "mock", keepsFunctionCall: true, random: () => 0, now: () => 0 });
  return completion;
}

/** Splits the text of a chunk into chunks of one word each, as a provider would stream it. */
function* splitIntoWords(chunk: CompletionChunk): Generator<CompletionChunk> {
  const [choice] = chunk.value.choices;
  const [first, ...others] = choice?.delta.content?.split(/(?<=\s)/) ?? [];
  if (first === undefined) return yield chunk;
  const { delta, ...rest } = choice!;
  const withDelta = (delta: Delta) => ({ value: { ...chunk.value, choices: [{ ...rest, delta }] } });
  yield withDelta({ ...delta, content: first });
  for (const content of others) yield withDelta({ content });
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

/**
 * What a dialect is: another API's words for a chat. To the engine its request is a chat request, so that routing, limits,
 * failover, records and headers are those of chat.
 * @module
 */
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionRequest,
  EmbeddingRequest,
  EmbeddingResponse,
  JsonObject,
  OpenAiError,
} from "../contracts/openai.ts";
import type { PlainRequest } from "../contracts/shell.ts";
import type { UnsupportedRequestError } from "../errors.ts";

/** What a dialect may read of a request beside its body. */
export type DialectRequest = Pick<PlainRequest, "headers" | "url">;

/** An error, and the HTTP status of its row in the error table. */
export interface DialectFault {
  readonly status: number;
  /** In OpenAI's words. */
  readonly error: OpenAiError;
}

/** What the proxy needs of a dialect before a request is read. */
export interface DialectWords {
  /** The token where clients of this dialect put it; a bearer token counts as well, and alone when left out. */
  tokenOf?(request: DialectRequest): string | undefined;
  /** How a client sends such a token, such as `x-api-key: <token>`. */
  readonly tokenHint?: string;
  /** The body of an error response. */
  errorBody(fault: DialectFault): JsonObject;
}

/** One dialect, without state. */
export interface Dialect extends DialectWords {
  /** What providers that speak it call it: its endpoint, such as `messages`. */
  readonly name: string;
  /**
   * Translates a request into one of chat.
   *
   * @param body Parsed, of any shape.
   * @param request Its headers and URL.
   * @throws {UnsupportedRequestError} For what is malformed, or has no words in chat. `message` names the dialect's own
   *   field, and what to do.
   */
  translate(body: unknown, request: DialectRequest): Translation;
  /** Counting the tokens of a request, where the dialect has an endpoint for that. */
  readonly counting?: {
    /** The request in chat's words. Throws as `translate` does. */
    chatOf(body: unknown, request: DialectRequest): ChatCompletionRequest;
    /** The answer. */
    bodyOf(tokens: number): JsonObject;
  };
}

/** A request in chat's words, and the way back for its answer. */
export interface Translation {
  /** Made of known members alone, all of the type that chat has. `mesh` and `models` are passed on. */
  readonly chat: ChatCompletionRequest;
  /** The session that the request names, where the dialect has one. */
  readonly session?: string | undefined;
  /** Members of the request without words in chat, which an answer can do without: named in `x-mesh-dropped-params`. */
  readonly dropped?: readonly string[];
  /**
   * The request for providers that speak the dialect (`Provider.dialects`): the client's own text, but for `edits`; their
   * answers are passed on as they come. Left out where they are to get chat's form like all others.
   */
  readonly native?: {
    /**
     * Members that differ for a model, by its id, and by what differs for it in chat's form; undefined removes one. Our own
     * members are removed anyway.
     */
    readonly edits: (modelId: string, inChat: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
    /** Headers that belong to the request; names in lower case. */
    readonly headers: Readonly<Record<string, string>>;
    /** The member that chat has no words for, and that no answer can do without: only such providers are asked. */
    readonly only?: string;
    /** The error where the request does not go to models of one such provider alone: what it asks for is with a provider. */
    readonly pinned?: UnsupportedRequestError | undefined;
  } | undefined;
  /** The body of a whole answer. */
  whole(completion: ChatCompletion): JsonObject;
  /** The way back for a streamed answer. */
  events(): EventTranslator;
}

/** Translates one streamed answer. Texts are complete events with their line ends; an empty text is no event yet. */
export interface EventTranslator {
  /** The media type; `text/event-stream` when left out. */
  readonly contentType?: string;
  /** The events that a chunk makes. The last one of an answer has the usage, where the provider reports it. */
  push(chunk: ChatCompletionChunk): string;
  /** The events after the last chunk of a complete answer. */
  end(): string;
  /** The event of an answer that breaks off; nothing comes after it. */
  fail(fault: DialectFault): string;
  /** A provider's own event has gone on in place of what this chunk makes; then `fail` is the only call that follows. */
  passed?(chunk: ChatCompletionChunk): void;
  /** How a provider's own events are written; as they come, when left out. */
  readonly native?: { event(text: string): string; end(): string } | undefined;
}

/** A dialect's words for embeddings, without state. */
export interface EmbeddingDialect {
  /** Whose tokens and errors they have. */
  readonly dialect: Dialect;
  /** What providers that speak it call it: its endpoint. */
  readonly name: string;
  /**
   * Translates a request.
   *
   * @param body Parsed, of any shape.
   * @param request Its headers and URL.
   * @throws {UnsupportedRequestError} For what is malformed.
   */
  translate(body: unknown, request: DialectRequest): EmbeddingTranslation;
}

/** A request for embeddings in OpenAI's words, and the way back for its answer. */
interface EmbeddingTranslation extends Pick<Translation, "dropped" | "native"> {
  /** To be checked. */
  readonly request: EmbeddingRequest;
  /** The body of the answer. */
  whole(response: EmbeddingResponse): JsonObject;
}

/**
 * The interface of API dialects. A dialect translates another API's requests to chat requests, and chat responses back.
 * The engine handles only chat requests, so routing, limits, failover, records and headers work the same for all
 * dialects.
 * @module
 */
import type { VendorFees } from "../pipeline/estimate.ts";
import type {
  AssistantMessage,
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
import type { WebSearchTool } from "./web_search.ts";
import type { WebSearch } from "./web_search_results.ts";

/** The parts of a request that a dialect may read in addition to the body. */
export type DialectRequest = Pick<PlainRequest, "headers" | "url">;

/** An error, and its HTTP status in the error table. */
export interface DialectFault {
  readonly status: number;
  /** The error, in OpenAI's shape. */
  readonly error: OpenAiError;
  /** Whether it ends a stream because the provider is overloaded. */
  readonly isOverload?: boolean;
}

/** The part of a dialect that the proxy needs before a request is read. */
export interface DialectConventions {
  /**
   * Extracts the token from where clients of this dialect send it. A bearer token is always accepted as well; when
   * omitted, only that.
   */
  findToken?(request: DialectRequest): string | undefined;
  /** How clients send the token, for error messages, such as `x-api-key: <token>`. */
  readonly tokenHint?: string;
  /** Formats the body of an error response. */
  errorBody(fault: DialectFault): JsonObject;
  /** Returns the HTTP status of an error response; by default that of OpenAI's dialect. */
  toStatus?(fault: DialectFault): number;
}

/** A dialect; stateless. */
export interface Dialect extends DialectConventions {
  /** The name of the dialect in `Provider.dialects`: its endpoint, such as `messages`. */
  readonly name: string;
  /**
   * Converts a request to a chat request.
   *
   * @param body The parsed body, unvalidated.
   * @param request Its headers and URL.
   * @param options How the proxy performs it; without searches by default.
   * @throws {UnsupportedRequestError} If the body is malformed, or cannot be expressed in chat. The message names the
   * dialect's own parameter, and how to fix it.
   */
  translate(body: unknown, request: DialectRequest, options?: {
    /** Whether it runs searches. */
    readonly searches: boolean;
    /**
     * Whether providers have to return reasoning in a form that the next request can contain.
     * @default false
     */
    readonly carriesReasoning?: boolean;
    /** The unique part of the ids of the response's items. */
    readonly itemsName?: string | undefined;
  }): Translation;
  /** Token counting, if the dialect has an endpoint for it. */
  readonly counting?: {
    /** Returns the request whose tokens a request asks to count, to be translated. */
    toCounted(body: unknown): unknown;
    /** Formats the response. */
    formatCount(tokens: number): JsonObject;
  };
}

/** A translated request, with the translator of its response. */
export interface Translation {
  /** The chat request. It contains only known members with chat's types; `mesh` and `models` are passed through. */
  readonly chat: ChatCompletionRequest;
  /** The session id of the request, if the dialect supports sessions. */
  readonly session?: string | undefined;
  /** Members that chat cannot express and that are not essential; reported in `x-mesh-dropped-params`. */
  readonly dropped?: readonly string[];
  /**
   * The request for providers that support the dialect natively (`Provider.dialects`): the client's own JSON with
   * `edits` applied. Their responses are passed through unchanged. When omitted, these providers receive the chat
   * request like all others.
   */
  readonly native?: {
    /**
     * Members to change for a model, given its id and the edits of the chat form; undefined removes a member.
     * ModelMesh's own members are always removed.
     */
    readonly edits: (modelId: string, inChat: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
    /** Members that `edits` adds, and that the request can do without. */
    readonly adds?: readonly string[] | undefined;
    /** Top-level members of the dialect for members of chat, where the names differ. */
    readonly names?: Readonly<Record<string, string>>;
    /** Members that `edits` removes because the API would reject them; reported in `x-mesh-dropped-params`. */
    readonly dropped?: readonly string[];
    /** Headers to forward; names in lower case. */
    readonly headers: Readonly<Record<string, string>>;
    /** The most calls of tools that it lets the provider run for a fee. */
    readonly fees?: VendorFees | undefined;
    /**
     * Set if chat cannot express an essential part of the request: only models whose provider supports the dialect are
     * eligible. The error applies if there are none.
     */
    readonly only?: UnsupportedRequestError | undefined;
    /** Whether models whose provider supports the dialect are preferred, because chat lacks a part of the request. */
    readonly isPreferred?: boolean | undefined;
    /**
     * The error if the request could be routed to models of several providers, although it refers to an object that one
     * provider stores.
     */
    readonly pinned?: UnsupportedRequestError | undefined;
  } | undefined;
  /** The search tool, if the proxy runs it. No provider then gets the client's own request. */
  readonly search?: WebSearchTool | undefined;
  /**
   * Converts a complete response.
   *
   * @param before What comes before it, if the model has searched.
   */
  toResponse(completion: ChatCompletion, before?: readonly ResponsePart[]): JsonObject;
  /** Creates a translator for a streaming response. */
  events(): EventTranslator;
}

/** A part of a response with searches: what the model has written before one, or the search. */
export type ResponsePart =
  | { readonly message: AssistantMessage; readonly search?: undefined }
  | { readonly search: WebSearch; readonly message?: undefined };

/**
 * Translates a streaming response. Returned strings are complete events including their line breaks; an empty string
 * means no event yet.
 */
export interface EventTranslator {
  /** The media type; `text/event-stream` by default. */
  readonly contentType?: string;
  /** An event without meaning, for a stream that waits; a comment by default, empty if there is none. */
  readonly heartbeat?: string;
  /** Converts a chunk to events. The last chunk of a response contains the usage, if the provider reports it. */
  push(chunk: ChatCompletionChunk): string;
  /** Converts a search that the proxy has run, after at least one chunk. */
  searched?(search: WebSearch): string;
  /** The events after the last chunk of a complete response. */
  end(): string;
  /** The event for a response that breaks off; nothing follows it. */
  fail(fault: DialectFault): string;
  /** Called when a native event was passed through in place of this chunk; afterwards only `fail` is called. */
  passed?(chunk: ChatCompletionChunk): void;
  /** How native events are written; unchanged by default. */
  readonly native?: { event(text: string): string; end(): string } | undefined;
}

/** The embeddings part of a dialect; stateless. */
export interface EmbeddingDialect {
  /** The dialect that provides tokens and errors. */
  readonly dialect: Dialect;
  /** The name of the dialect in `Provider.dialects`: its endpoint. */
  readonly name: string;
  /**
   * Converts a request.
   *
   * @param body The parsed body, unvalidated.
   * @param request Its headers and URL.
   * @throws {UnsupportedRequestError} If the body is malformed.
   */
  translate(body: unknown, request: DialectRequest): Pick<Translation, "dropped" | "native"> & {
    /** The request in OpenAI's shape, to be validated. */
    readonly request: EmbeddingRequest;
    /** Converts the response. */
    toResponse(response: EmbeddingResponse): JsonObject;
  };
}

/**
 * The endpoints of dialects: other APIs for chat.
 * @module
 */
import type { StopSignal } from "../contracts/runtime.ts";
import type { PlainResponse } from "../contracts/shell.ts";
import type { Dialect, EmbeddingDialect, Translation } from "../dialects/dialect.ts";
import type { ChatCompletion, ChatCompletionRequest, EmbeddingResponse, JsonObject } from "../contracts/openai.ts";
import type { Delivered } from "../pipeline/perform.ts";
import { chat } from "../pipeline/operations/chat.ts";
import { embeddings } from "../pipeline/operations/embeddings.ts";
import { missing } from "../pipeline/check_body.ts";
import { objectOrEmpty } from "../util/is_object.ts";
import { OriginalRequest } from "../pipeline/original.ts";
import type { Exchange, RouteEntry } from "./exchange.ts";
import { json } from "./json.ts";
import { readWork, type Work } from "./body.ts";
import { addStreamHeaders, respondWithStream } from "./heartbeat.ts";
import { performRequest } from "./perform_request.ts";
import { addRoutingHeaders } from "./routing_headers.ts";
import { EventBody, toStreamFormat } from "./sse.ts";
import { createWriter } from "./translated_events.ts";

/**
 * Creates the route of a dialect.
 *
 * @param dialect Translates requests, responses and errors.
 */
export function dialectRoute(dialect: Dialect): RouteEntry {
  return {
    methods: ["POST"],
    isWork: true,
    dialect,
    handle: async (exchange) => await respondInDialect(dialect, { work: await readWork(exchange), exchange }),
  };
}

/** Handles a request whose body was read. */
export async function respondInDialect(
  dialect: Dialect,
  { work, exchange, ...options }: {
    readonly work: Work;
    readonly exchange: Exchange;
    /** Whether providers have to return reasoning in a form that the next request can contain. */
    readonly carriesReasoning?: boolean;
    /** The unique part of the ids of the response's items. */
    readonly itemsName?: string | undefined;
  },
): Promise<PlainResponse> {
  const searches = exchange.proxy.tools.webSearch !== undefined;
  const translation = dialect.translate(work.value, exchange.request, { searches, ...options });
  return await respondToChat(translation, { dialect, work, exchange });
}

/** A request to perform. */
interface ChatPerformance {
  readonly dialect: Pick<Dialect, "name">;
  readonly work: Work;
  readonly exchange: Exchange;
  /** Aborts it; defaults to the request's own signal. */
  readonly signal?: StopSignal;
}

/** Performs a request as the chat request to which it was translated, and translates the response. */
export async function respondToChat(
  translation: Translation,
  performance: Omit<ChatPerformance, "signal">,
): Promise<PlainResponse> {
  const { dialect, work, exchange } = performance;
  const { startedAt } = work.time;
  if (translation.search !== undefined) {
    const { respondWithSearches } = await import("./web_search/searched_chat.ts");
    const perform = (body: ChatCompletionRequest, options: Pick<ChatPerformance, "work" | "signal">) =>
      performChat({ ...translation, chat: body }, { dialect, exchange, ...options });
    return await respondWithSearches({ translation, tool: translation.search, exchange, work, perform });
  }
  if (translation.chat.stream !== true) {
    return chatResponse(await performChat(translation, performance), translation, exchange);
  }
  const events = translation.events();
  return await respondWithStream(exchange, {
    startedAt,
    format: toStreamFormat(createWriter(events, exchange.requestId), events.contentType),
    perform: (signal) => performChat(translation, { ...performance, signal }),
    respond: (result) => chatResponse(result, translation, exchange),
  });
}

/** Performs a request as the chat request to which it was translated. */
export function performChat(
  { chat: translated, session, dropped = [], native }: Translation,
  { dialect, work: { value, text = "", time }, exchange, signal }: ChatPerformance,
): Promise<Delivered<ChatCompletion>> {
  const checked = chat.check(translated, []); // applies the limits of chat to the translation as well
  if (checked.model === undefined) throw missing("model");
  const body = checked.stream === true ? { ...checked, stream_options: { include_usage: true } } : checked;
  const original = new OriginalRequest({ dialect: dialect.name, dropped, native: native && { text, ...native } });
  return performRequest(exchange, {
    operation: chat,
    body,
    session,
    labeled: objectOrEmpty(value),
    original,
    time,
    signal,
  });
}

/**
 * Creates the embeddings route of a dialect.
 *
 * @param dialect Translates requests and responses.
 */
export function embeddingRoute(dialect: EmbeddingDialect): RouteEntry {
  return {
    methods: ["POST"],
    isWork: true,
    dialect: dialect.dialect,
    handle: async (exchange) => {
      const { value, text = "", time } = await readWork(exchange);
      const { request, dropped = [], native, toResponse } = dialect.translate(value, exchange.request);
      const body = embeddings.check(request, []);
      if (body.model === undefined) throw missing("model");
      const original = new OriginalRequest({ dialect: dialect.name, dropped, native: native && { text, ...native } });
      const result = await performRequest(exchange, {
        operation: embeddings,
        body,
        labeled: objectOrEmpty(value),
        original,
        time,
      });
      addRoutingHeaders(exchange.headers, result);
      return toCompleteResponse(result, toResponse, exchange);
    },
  };
}

/** Translates a response to the dialect of its request. */
function chatResponse(
  result: Delivered<ChatCompletion>,
  translation: Translation,
  exchange: Exchange,
): PlainResponse {
  const { headers, requestId, onEnd } = exchange;
  addRoutingHeaders(headers, result);
  if (result.kind === "stream") {
    const events = translation.events();
    addStreamHeaders(headers, events.contentType ?? "text/event-stream");
    return {
      status: 200,
      headers,
      body: new EventBody(result.stream, { writer: createWriter(events, requestId), onEnd }),
    };
  }
  return toCompleteResponse(result, translation.toResponse, exchange);
}

/** Returns the native response of a provider, or a translated one. */
function toCompleteResponse<Response extends ChatCompletion | EmbeddingResponse>(
  result: Delivered<Response>,
  translate: (response: Response) => JsonObject,
  { headers }: Exchange,
): PlainResponse {
  if (result.kind !== "complete") throw new TypeError(`A dialect has no response of the kind ${result.kind}`);
  const { native, body } = result.response;
  if (native === undefined) return json(translate(body), { headers });
  headers["content-type"] = "application/json";
  return { status: 200, headers, body: native };
}

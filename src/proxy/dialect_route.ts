/**
 * The endpoints of other dialects: chat, in other words.
 * @module
 */
import type { PlainResponse } from "../contracts/shell.ts";
import type { Dialect, EventTranslator, Translation } from "../dialects/dialect.ts";
import type { CompletionChunk } from "../contracts/provider.ts";
import type { ChatCompletion } from "../contracts/openai.ts";
import type { Answer } from "../pipeline/perform.ts";
import { chat } from "../pipeline/operations/chat.ts";
import { missing } from "../pipeline/check_body.ts";
import { errorRowOf } from "./error_body.ts";
import type { Exchange, RouteEntry } from "./exchange.ts";
import { json } from "./json.ts";
import { performRequest, readWork } from "./perform_request.ts";
import { addRoutingHeaders } from "./routing_headers.ts";
import { EventBody, type EventWriter } from "./sse.ts";

/**
 * Makes the route of a dialect.
 *
 * @param dialect Translates requests, answers and errors.
 */
export function dialectRoute(dialect: Dialect): RouteEntry {
  return {
    methods: ["POST"],
    isWork: true,
    dialect,
    handle: async (exchange) => {
      const work = await readWork(exchange);
      const translation = dialect.translate(work.value, exchange.request);
      const { chat: body, session } = translation;
      if (body.model === undefined) throw missing("model");
      const withUsage = body.stream === true ? { ...body, stream_options: { include_usage: true } } : body;
      const answer = await performRequest(exchange, { operation: chat, body: withUsage, session, time: work.time });
      return responseOf(answer, translation, exchange);
    },
  };
}

function responseOf(answer: Answer<ChatCompletion>, translation: Translation, exchange: Exchange): PlainResponse {
  const { headers, requestId, onEnd } = exchange;
  const dropped = [...answer.dropped, ...(translation.dropped ?? [])];
  addRoutingHeaders(headers, { ...answer, dropped });
  if (answer.kind === "stream") {
    const events = translation.events();
    headers["content-type"] = events.contentType ?? "text/event-stream";
    headers["cache-control"] = "no-cache";
    return { status: 200, headers, body: new EventBody(answer.stream, { writer: writerOf(events, requestId), onEnd }) };
  }
  if (answer.kind === "content") throw new TypeError("Chat does not answer with content");
  return json(translation.whole(answer.response.body), { headers });
}

function writerOf(events: EventTranslator, requestId: string): EventWriter {
  return {
    chunk({ value, others }: CompletionChunk) {
      const text = events.push(value);
      return others === undefined ? text : others.reduce((sum, other) => sum + events.push(other), text);
    },
    end: () => events.end(),
    fail: (error) => {
      const { status, body } = errorRowOf(error, requestId);
      return events.fail({ status, error: body.error });
    },
  };
}

/**
 * The endpoints of other dialects: chat, in other words.
 * @module
 */
import type { PlainResponse } from "../contracts/shell.ts";
import type { Dialect, EventTranslator, Translation } from "../dialects/dialect.ts";
import type { CompletionChunk } from "../contracts/provider.ts";
import type { ChatCompletion } from "../contracts/openai.ts";
import type { Answer } from "../pipeline/answer.ts";
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
      const { value, text = "", time } = await readWork(exchange);
      const translation = dialect.translate(value, exchange.request);
      const { session, dropped = [], native } = translation;
      const asked = chat.check(translation.chat, []); // what was packed into a text is bounded here
      if (asked.model === undefined) throw missing("model");
      const body = asked.stream === true ? { ...asked, stream_options: { include_usage: true } } : asked;
      const original = { dialect: dialect.name, dropped, native: native && { text, ...native } };
      const answer = await performRequest(exchange, { operation: chat, body, session, original, time });
      return responseOf(answer, translation, exchange);
    },
  };
}

function responseOf(answer: Answer<ChatCompletion>, translation: Translation, exchange: Exchange): PlainResponse {
  const { headers, requestId, onEnd } = exchange;
  addRoutingHeaders(headers, answer);
  if (answer.kind === "stream") {
    const events = translation.events();
    headers["content-type"] = events.contentType ?? "text/event-stream";
    headers["cache-control"] = "no-cache";
    return { status: 200, headers, body: new EventBody(answer.stream, { writer: writerOf(events, requestId), onEnd }) };
  }
  if (answer.kind === "content") throw new TypeError("Chat does not answer with content");
  const { native, body } = answer.response;
  if (native === undefined) return json(translation.whole(body), { headers });
  headers["content-type"] = "application/json";
  return { status: 200, headers, body: native };
}

/** A provider's own events go on as they came, with their end; one answer has none but those, or none of those. */
function writerOf(events: EventTranslator, requestId: string): EventWriter {
  let isNative = false;
  return {
    chunk({ value, others, native }: CompletionChunk) {
      isNative ||= native !== undefined;
      if (isNative) return native ?? ""; // the usage has stood in an event before
      const text = events.push(value);
      return others === undefined ? text : others.reduce((sum, other) => sum + events.push(other), text);
    },
    end: () => isNative ? "" : events.end(),
    fail: (error) => {
      const { status, body } = errorRowOf(error, requestId);
      return events.fail({ status, error: body.error });
    },
  };
}

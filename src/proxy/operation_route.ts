/**
 * The endpoints of operations, with one common handler.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import type { PlainResponse } from "../contracts/shell.ts";
import { missing } from "../pipeline/check_body.ts";
import type { CheckedOperation } from "../pipeline/operation.ts";
import type { Delivered } from "../pipeline/perform.ts";
import { addContentType, ContentBody } from "./content_body.ts";
import type { Exchange, RouteEntry } from "./exchange.ts";
import { readWork } from "./form.ts";
import { addStreamHeaders, respondWithStream } from "./heartbeat.ts";
import { performRequest } from "./perform_request.ts";
import { addRoutingHeaders } from "./routing_headers.ts";
import { chatEvents, EventBody, toStreamFormat } from "./sse.ts";

/**
 * Creates the route of an operation.
 *
 * @param operation Validates and performs the requests.
 */
export function operationRoute<Body extends RequestBody, Response>(
  operation: CheckedOperation<Body, Response>,
): RouteEntry {
  return {
    methods: ["POST"],
    isWork: true,
    handle: (exchange) => perform(exchange, operation),
  };
}

async function perform<Body extends RequestBody, Response>(
  exchange: Exchange,
  operation: CheckedOperation<Body, Response>,
): Promise<PlainResponse> {
  const { value, text, files = [], time } = await readWork(exchange, operation.form);
  const body = operation.check(value, files);
  const { defaultModel } = operation;
  if (body.model === undefined && defaultModel === undefined) throw missing("model");
  const received = files.length === 0 ? { text } : { text, files };
  const request = { operation, body, defaultModel, time, ...received };
  if (body.stream !== true || operation.hasContent) {
    return toOperationResponse(await performRequest(exchange, request), exchange);
  }
  return await respondWithStream(exchange, {
    startedAt: time.startedAt,
    format: toStreamFormat(chatEvents(exchange.requestId)),
    perform: (signal) => performRequest(exchange, { ...request, signal }),
    respond: (result) => toOperationResponse(result, exchange),
  });
}

function toOperationResponse(result: Delivered<unknown>, { headers, requestId, onEnd }: Exchange): PlainResponse {
  addRoutingHeaders(headers, result);
  if (result.kind === "stream") {
    addStreamHeaders(headers, "text/event-stream");
    return { status: 200, headers, body: new EventBody(result.stream, { writer: chatEvents(requestId), onEnd }) };
  }
  if (result.kind === "content") {
    addStreamHeaders(headers, result.stream.type);
    addContentType(headers, result.stream.type);
    return { status: 200, headers, body: new ContentBody(result.stream, onEnd) };
  }
  const { wire, body: parsed, content } = result.response;
  if (content !== undefined) {
    addContentType(headers, content.type);
    return { status: 200, headers, body: content.bytes as Uint8Array };
  }
  headers["content-type"] = "application/json";
  return { status: 200, headers, body: wire ?? JSON.stringify(parsed) };
}

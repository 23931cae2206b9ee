/**
 * The endpoints that perform an operation: one handler for all of them.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import type { PlainRequest, PlainResponse } from "../contracts/shell.ts";
import { missing } from "../pipeline/check_body.ts";
import type { CheckedOperation } from "../pipeline/operation.ts";
import type { Answer } from "../pipeline/perform.ts";
import { readRoutingConstraints } from "../pipeline/routing_constraints.ts";
import { sessionOf } from "../pipeline/session.ts";
import { readRequest } from "./form.ts";
import type { Exchange, RouteEntry } from "./exchange.ts";
import { addRoutingHeaders } from "./routing_headers.ts";
import { ContentBody } from "./content_body.ts";
import { EventBody } from "./sse.ts";

/**
 * Makes the route of an operation.
 *
 * @param operation Checks and performs the requests.
 */
export function operationRoute<Body extends RequestBody, Response>(
  operation: CheckedOperation<Body, Response>,
): RouteEntry {
  return {
    methods: ["POST"],
    isWork: true,
    handle: async (exchange) => responseOf(await perform(exchange, operation), exchange),
  };
}

async function perform<Body extends RequestBody, Response>(
  exchange: Exchange,
  operation: CheckedOperation<Body, Response>,
): Promise<Answer<Response>> {
  const { mesh, request, requestId, client } = exchange;
  const { clock } = mesh.runtime;
  const from = clock.monotonic();
  const limitMs = timeoutOf(request, mesh.settings.deadlineMs);
  const { value, text, files = [] } = await readRequest(request, {
    read: () => exchange.body({ startedAt: from, limitMs }),
    form: operation.form,
  });
  const body = operation.check(value, files);
  const { model = operation.defaultModel } = body;
  if (model === undefined) throw missing("model");
  const routingConstraints = readRoutingConstraints(request.headers.get("x-mesh-route"), body);
  const session = sessionOf(request.headers.get("x-mesh-session"), body);
  return await mesh.perform({
    id: requestId,
    operation,
    delivery: body.stream === true || operation.hasContent ? "stream" : "sync",
    model,
    body,
    ...(text === undefined ? {} : { text }),
    ...(files.length === 0 ? {} : { files }),
    signal: request.signal,
    timeoutMs: Math.max(0, Math.min(limitMs, routingConstraints?.deadlineMs ?? Infinity) - (clock.monotonic() - from)),
    routingConstraints,
    client,
    traceparent: traceOf(request),
    ...(session === undefined ? {} : { session }),
  });
}

function responseOf(answer: Answer<unknown>, { headers, requestId, onEnd }: Exchange): PlainResponse {
  addRoutingHeaders(headers, answer);
  if (answer.kind === "stream") {
    headers["content-type"] = "text/event-stream";
    headers["cache-control"] = "no-cache";
    return { status: 200, headers, body: new EventBody(answer.stream, { requestId, onEnd }) };
  }
  if (answer.kind === "content") {
    headers["content-type"] = answer.stream.type;
    return { status: 200, headers, body: new ContentBody(answer.stream, onEnd) };
  }
  const { wire, body: parsed, content } = answer.response;
  headers["content-type"] = content?.type ?? "application/json";
  if (content !== undefined) return { status: 200, headers, body: content.bytes as Uint8Array };
  return { status: 200, headers, body: wire ?? JSON.stringify(parsed) };
}

function traceOf({ headers }: PlainRequest): string | undefined {
  const given = headers.get("traceparent");
  return given !== null && /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(given) ? given : undefined;
}

/** The shorter of the configured deadline and the one that official clients send in seconds, ms. */
function timeoutOf(request: PlainRequest, ownMs: number): number {
  const clientMs = Math.round(Number(request.headers.get("x-stainless-timeout") ?? NaN) * 1000);
  return clientMs > 0 ? Math.min(clientMs, ownMs) : ownMs;
}

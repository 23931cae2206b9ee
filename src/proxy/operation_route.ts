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
import { readJson } from "./body.ts";
import type { Exchange, RouteEntry } from "./exchange.ts";
import { addRoutingHeaders } from "./routing_headers.ts";
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
  const { value, text } = await readJson(request, () => exchange.body({ startedAt: from, limitMs }));
  const body = operation.check(value);
  if (body.model === undefined) throw missing("model");
  const routingConstraints = readRoutingConstraints(request.headers.get("x-mesh-route"), body);
  const session = sessionOf(request.headers.get("x-mesh-session"), body);
  return await mesh.perform({
    id: requestId,
    operation,
    delivery: body.stream === true ? "stream" : "sync",
    model: body.model,
    body,
    text,
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
  const { wire, body: parsed } = answer.response;
  headers["content-type"] = "application/json";
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

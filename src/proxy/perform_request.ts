/**
 * What every endpoint that asks a model has in common: a request is performed with what is left of its time.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import type { PlainRequest } from "../contracts/shell.ts";
import type { StopSignal } from "../contracts/runtime.ts";
import type { Answer } from "../pipeline/answer.ts";
import type { RoutedRequest } from "../pipeline/request.ts";
import { readRoutingConstraints } from "../pipeline/routing_constraints.ts";
import { sessionOf } from "../pipeline/session.ts";
import type { Exchange } from "./exchange.ts";
import type { RequestTime } from "./form.ts";

/** What is to be performed. */
interface CheckedRequest<Body extends RequestBody, Response>
  extends Pick<RoutedRequest<Body, Response>, "operation" | "body" | "text" | "files" | "original"> {
  /** What an HTTP request without `model` goes to. */
  readonly defaultModel?: string | undefined;
  /** The session that the request names in words of its own. */
  readonly session?: string | undefined;
  /** Ends it; the request's own signal, when left out. */
  readonly signal?: StopSignal | undefined;
  readonly time: RequestTime;
}

/**
 * Performs a request with what is left of its time.
 *
 * @param exchange The request.
 * @param checked Its operation and its body, with a model where the operation has no default.
 */
export function performRequest<Body extends RequestBody, Response>(
  { mesh, request, requestId, client }: Exchange,
  { operation, body, text, files, original, defaultModel, session: named, signal, time }: CheckedRequest<
    Body,
    Response
  >,
): Promise<Answer<Response>> {
  const { startedAt, limitMs } = time;
  const routingConstraints = readRoutingConstraints(request.headers.get("x-mesh-route"), body);
  const session = sessionOf(request.headers.get("x-mesh-session"), body, named);
  const ownMs = Math.min(limitMs, routingConstraints?.deadlineMs ?? Infinity);
  return mesh.perform({
    id: requestId,
    operation,
    delivery: body.stream === true || operation.hasContent ? "stream" : "sync",
    model: body.model ?? defaultModel!,
    body,
    ...(text === undefined ? {} : { text }),
    ...(files === undefined ? {} : { files }),
    ...(original === undefined ? {} : { original }),
    signal: signal ?? request.signal,
    timeoutMs: Math.max(0, ownMs - (mesh.runtime.clock.monotonic() - startedAt)),
    routingConstraints,
    client,
    traceparent: traceOf(request),
    ...(session === undefined ? {} : { session }),
  });
}

/** One that is invalid (W3C Trace Context: version ff, or an id of zeros alone) is none. */
const validTrace = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

function traceOf({ headers }: PlainRequest): string | undefined {
  const given = headers.get("traceparent");
  return given !== null && validTrace.test(given) ? given : undefined;
}

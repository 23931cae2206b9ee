/**
 * The common part of all endpoints that route requests: constraints, session, and remaining time.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import type { StopSignal } from "../contracts/runtime.ts";
import type { Delivered } from "../pipeline/perform.ts";
import { requestedDelivery } from "../pipeline/check_body.ts";
import type { RoutedRequest } from "../pipeline/request.ts";
import { readRoutingConstraints } from "../pipeline/routing_constraints.ts";
import { findSession, readTraceContext } from "../util/request_id.ts";
import type { Exchange } from "./exchange.ts";
import type { RequestTime } from "./form.ts";

/** A request to perform. */
interface CheckedRequest<Body extends RequestBody, Response>
  extends Pick<RoutedRequest<Body, Response>, "operation" | "body" | "text" | "files" | "original"> {
  /** The default `model` of HTTP requests. */
  readonly defaultModel?: string | undefined;
  /** The session, if the dialect specifies it in its own way. */
  readonly session?: string | undefined;
  /** Aborts it; defaults to the request's own signal. */
  readonly signal?: StopSignal | undefined;
  readonly time: RequestTime;
}

/**
 * Performs a request within its remaining time.
 *
 * @param checked Its operation and validated body, with a model unless the operation has a default.
 */
export function performRequest<Body extends RequestBody, Response>(
  { mesh, request, requestId, client, admit }: Exchange,
  { operation, body, text, files, original, defaultModel, session: named, signal, time }: CheckedRequest<
    Body,
    Response
  >,
): Promise<Delivered<Response>> {
  const { startedAt, limitMs } = time;
  const routingConstraints = readRoutingConstraints(request.headers.get("x-mesh-route"), body);
  const session = findSession(request.headers.get("x-mesh-session"), body, named);
  const ownMs = Math.min(limitMs, routingConstraints?.deadlineMs ?? Infinity);
  return mesh.perform({
    id: requestId,
    operation,
    delivery: requestedDelivery(operation, body),
    model: body.model ?? defaultModel!,
    body,
    ...(text === undefined ? {} : { text }),
    ...(files === undefined ? {} : { files }),
    ...(original === undefined ? {} : { original }),
    signal: signal ?? request.signal,
    timeoutMs: Math.max(0, ownMs - (mesh.runtime.clock.monotonic() - startedAt)),
    routingConstraints,
    client,
    admit,
    userAgent: request.headers.get("user-agent") ?? undefined,
    trace: readTraceContext(request.headers),
    ...(session === undefined ? {} : { session }),
  });
}

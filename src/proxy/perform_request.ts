/**
 * What every endpoint that asks a model has in common: the body is read within its time, and performed with what is left.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import type { PlainRequest } from "../contracts/shell.ts";
import type { StopSignal } from "../contracts/runtime.ts";
import type { FormRules } from "../pipeline/operation.ts";
import type { Answer } from "../pipeline/answer.ts";
import type { RoutedRequest } from "../pipeline/request.ts";
import { readRoutingConstraints } from "../pipeline/routing_constraints.ts";
import { sessionOf } from "../pipeline/session.ts";
import type { Exchange } from "./exchange.ts";
import { readRequest, type RequestParts } from "./form.ts";

/** Since when a request is under way, and for how long it may be. */
interface RequestTime {
  /** Monotonic ms. */
  readonly startedAt: number;
  /** From then on, ms. */
  readonly limitMs: number;
}

/** A request as it was read. */
export interface Work extends RequestParts {
  readonly time: RequestTime;
}

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
 * Reads the body of a request.
 *
 * @param exchange The request.
 * @param form How a form becomes a body; only JSON is read, when left out.
 */
export async function readWork({ mesh, request, body }: Exchange, form?: FormRules): Promise<Work> {
  const startedAt = mesh.runtime.clock.monotonic();
  const time = { startedAt, limitMs: timeoutOf(request, mesh.settings.deadlineMs) };
  return { ...await readRequest(request, { read: (isUpload) => body({ ...time, isUpload }), form }), time };
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

/** The shorter of the configured deadline and the one that official clients send in seconds, ms. */
export function timeoutOf(request: PlainRequest, ownMs: number): number {
  const clientMs = Math.round(Number(request.headers.get("x-stainless-timeout") ?? NaN) * 1000);
  return clientMs > 0 ? Math.min(clientMs, ownMs) : ownMs;
}

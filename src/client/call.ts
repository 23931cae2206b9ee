/**
 * Performs one call of a client: runs middleware around a request that the engine performs.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import type { CompletionResponse, UploadedFile } from "../contracts/provider.ts";
import { UnsupportedRequestError } from "../errors.ts";
import { rememberRouting } from "../observe/routing_of.ts";
import { requestedDelivery } from "../pipeline/check_body.ts";
import type { CheckedOperation } from "../pipeline/operation.ts";
import type { Delivered } from "../pipeline/perform.ts";
import type { OriginalRequest } from "../pipeline/original.ts";
import { findSession, readTraceContext, requestIdFrom } from "../util/request_id.ts";
import { untilAborted } from "../util/until_aborted.ts";
import type { CallContext, OpenCall } from "./call_context.ts";
import type { CallSettings } from "./options.ts";
import type { RoutedRequest } from "../pipeline/request.ts";

/** A call: its operation, its request, and how its result is built. */
interface ClientCall<Body extends RequestBody, Response, Result> {
  readonly operation: CheckedOperation<Body, Response>;
  /** The request as the caller passed it. The operation validates it. */
  readonly request: object;
  readonly files?: readonly UploadedFile[] | undefined;
  readonly settings: CallSettings;
  /** Returns the original request of another API (Responses), and its session, once the request has been translated. */
  readonly describeOriginal?: () => {
    readonly original: OriginalRequest;
    readonly session: string | undefined;
    /** The request as received, in which its tags and its end user are. */
    readonly labeled: RequestBody;
  };
  /** Builds the value that the call resolves to. */
  readonly toResult: (delivered: Delivered<Response>) => Result | Promise<Result>;
}

/**
 * Performs a call.
 *
 * @throws {MeshError} When the request fails. An aborted call throws the signal's reason.
 */
export async function call<Body extends RequestBody, Response, Result>(
  context: CallContext,
  called: ClientCall<Body, Response, Result>,
): Promise<Result> {
  const { settings } = called;
  const requestId = requestIdFrom(new Headers(settings.headers).get("x-request-id"));
  const from = context.engine.runtime.clock.monotonic();
  const perform = (request: object) => performCall(context, { ...called, request, requestId, from });
  if (context.middleware.length === 0) return await perform(called.request);
  const { withMiddleware } = await import("./with_middleware.ts");
  return await withMiddleware(context, { ...called, requestId, from }, perform);
}

/**
 * Returns the response of an operation that never streams.
 *
 * @throws {TypeError} When the operation has streamed.
 */
export function requireNonStreaming<Response>(delivered: Delivered<Response>): CompletionResponse<Response> {
  if (delivered.kind === "complete") return delivered.response;
  throw new TypeError("The operation has streamed its response");
}

async function performCall<Body extends RequestBody, Response, Result>(
  context: CallContext,
  { operation, request, files = [], settings, describeOriginal: wordsOf, toResult: resultOf, requestId, from }:
    & ClientCall<Body, Response, Result>
    & OpenCall,
): Promise<Result> {
  const { engine, poolFor } = context;
  checkTimeout(settings.timeout);
  const body = operation.check(request, files);
  const words = wordsOf?.();
  const { routingConstraints, labels } = await collectRoutingConstraints(words?.labeled ?? body, settings);
  const { clock } = engine.runtime;
  if (!engine.isReady) await untilReady(context, settings, from);
  const limitMs = Math.min(
    settings.timeout ?? Infinity,
    routingConstraints?.deadlineMs ?? Infinity,
    engine.settings.deadlineMs,
  );
  const headers = new Headers(settings.headers);
  const providerKey = headers.get("x-provider-key") ?? undefined;
  const delivered = await engine.perform({
    id: requestId,
    operation,
    delivery: requestedDelivery(operation, body),
    model: body.model ?? poolFor(operation),
    body,
    ...(files.length === 0 ? {} : { files }),
    timeoutMs: Math.max(0, limitMs - (clock.monotonic() - from)),
    signal: settings.signal,
    ...(words && { original: words.original }),
    session: findSession(headers.get("x-mesh-session"), body, settings.sessionId ?? words?.session),
    routingConstraints,
    ...(labels && { labels }),
    userAgent: headers.get("user-agent") ?? undefined,
    trace: readTraceContext(headers),
    ...(providerKey && { providerKey }),
  });
  const result = await resultOf(delivered);
  if (typeof result === "object" && result !== null) rememberRouting(result, delivered.routing);
  return result;
}

/**
 * Resolves when the client is ready.
 *
 * @param from Start of the call, monotonic ms.
 * @throws {MeshError} When the call's timeout ends first. An aborted call throws the signal's reason.
 */
async function untilReady(
  { engine, ready }: CallContext,
  { timeout, signal }: CallSettings,
  from: number,
): Promise<void> {
  const { clock } = engine.runtime;
  const message = `The client was not ready within ${timeout} ms`;
  const limit = timeout === undefined
    ? undefined
    : { clock, ms: Math.max(0, timeout - (clock.monotonic() - from)), message };
  await untilAborted(ready(), signal, limit);
}

/**
 * Rejects timeouts that are not numbers, and 0, which means "no timeout" in some libraries and "time out at once" in
 * others.
 */
function checkTimeout(timeout: unknown): void {
  if (timeout === undefined || typeof timeout === "number" && timeout >= 1) return;
  throw new UnsupportedRequestError('"timeout" has to be a number of milliseconds, at least 1', {
    code: "invalid_value",
    param: "timeout",
  });
}

/**
 * Reads routing constraints from the headers `x-mesh-route` and `x-mesh-priority`, the call's `route` and the request's
 * `mesh`, in ascending precedence.
 *
 * @param request A validated request.
 * @param settings Settings of the call.
 * @throws {UnsupportedRequestError} When the constraints are malformed.
 */
async function collectRoutingConstraints(
  request: RequestBody,
  { headers, route }: CallSettings,
): Promise<Partial<Pick<RoutedRequest, "labels" | "routingConstraints">>> {
  const all = new Headers(headers);
  const names = ["x-mesh-route", "x-mesh-priority", "x-mesh-tags", "x-mesh-cache"];
  const [header, priority, tags, cache] = names.map((name) => all.get(name));
  const { mesh, metadata, user, safety_identifier } = request;
  if (
    (header ?? priority ?? tags ?? cache ?? route ?? mesh ?? metadata ?? user ?? safety_identifier ?? null) === null
  ) {
    return {};
  }
  const { readLabels, readRoutingConstraints } = await import("../pipeline/routing_constraints.ts"); // few calls have any
  const body = route === undefined ? request : { ...request, mesh: { ...route, ...mesh as object | undefined } };
  const routingConstraints = readRoutingConstraints(header, body, { priority, tags, cache });
  const labels = readLabels(request, { ...routingConstraints });
  return { routingConstraints, ...(labels && { labels }) };
}

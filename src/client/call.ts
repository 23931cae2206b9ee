/**
 * Performs one call of a client: runs middleware around a request that the engine performs.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import type { CompletionResponse, UploadedFile } from "../contracts/provider.ts";
import { DeadlineError, UnsupportedRequestError } from "../errors.ts";
import { rememberRouting } from "../observe/routing_of.ts";
import { requestedDelivery } from "../pipeline/check_body.ts";
import type { CheckedOperation } from "../pipeline/operation.ts";
import type { Answer } from "../pipeline/answer.ts";
import type { OriginalRequest } from "../pipeline/original.ts";
import { sessionOf } from "../pipeline/session.ts";
import { readTraceContext, requestIdFrom } from "../util/request_id.ts";
import { untilAborted } from "../util/until_aborted.ts";
import type { CallContext } from "./call_context.ts";
import type { CallSettings, Middleware, MiddlewareContext } from "./options.ts";
import { routingConstraintsOf } from "./routing_constraints_of.ts";

/** A call: its operation, its request, and how its result is built. */
interface Call<Body extends RequestBody, Response, Result> {
  readonly operation: CheckedOperation<Body, Response>;
  /** The request as the caller passed it. The operation validates it. */
  readonly request: object;
  readonly files?: readonly UploadedFile[] | undefined;
  readonly settings: CallSettings;
  /** Returns the original request of another API (Responses), and its session, once the request has been translated. */
  readonly wordsOf?: () => { readonly original: OriginalRequest; readonly session: string | undefined };
  /** Builds the value that the call resolves to. */
  readonly resultOf: (answer: Answer<Response>) => Result | Promise<Result>;
}

/** Middleware for any operation. Its declared types are those of chat; its context names the operation. */
type AnyMiddleware<Body, Result> = {
  readonly beforeRequest?: (request: Body, context: MiddlewareContext) => Body | void | Promise<Body | void>;
  readonly afterResponse?: (response: Result, context: MiddlewareContext) => Result | void | Promise<Result | void>;
  readonly onError?: (error: unknown, context: MiddlewareContext) => Result | void | Promise<Result | void>;
};

/**
 * Performs a call.
 *
 * @param context The client.
 * @param called The call.
 * @throws {MeshError} When the request fails. An aborted call throws the signal's reason.
 */
export async function call<Body extends RequestBody, Response, Result>(
  context: CallContext,
  called: Call<Body, Response, Result>,
): Promise<Result> {
  const { operation, request, settings } = called;
  const requestId = requestIdFrom(new Headers(settings.headers).get("x-request-id"));
  const facts: MiddlewareContext = { requestId, operation: operation.name };
  const from = context.engine.runtime.clock.monotonic();
  if (context.middleware.length === 0) return await send(context, { ...called, requestId, from });
  const middleware = context.middleware as readonly Middleware[] as readonly AnyMiddleware<Body, Result>[];
  const wait = waiter(context, { settings, requestId, from });
  let response: Result | undefined;
  try {
    checkTimeout(settings.timeout);
    let current = request as Body;
    for (const one of middleware) current = await wait(() => one.beforeRequest?.(current, facts)) ?? current;
    let latest = await send(context, { ...called, request: current, requestId, from });
    for (const one of middleware) {
      response = latest;
      latest = await wait(() => one.afterResponse?.(response!, facts)) ?? latest;
      if (latest !== response) cancel(response); // middleware replaced it: its body stays unread
    }
    return latest;
  } catch (error) {
    cancel(response);
    for (const one of middleware) {
      const replacement = await wait(() => one.onError?.(error, facts));
      if (replacement !== undefined) return replacement;
    }
    throw error;
  }
}

interface WaitParts extends Timed {
  readonly settings: CallSettings;
}

type Step<Value> = () => Value | Promise<Value>;

/** Returns a function that runs middleware within what is left of the call's time, or until the call is aborted. */
function waiter(
  { engine }: CallContext,
  { settings: { signal, timeout }, requestId, from }: WaitParts,
): <Value>(step: Step<Value>) => Promise<Value> {
  const { clock } = engine.runtime;
  return async (step) => {
    const limitMs = timeout ?? (engine.isReady ? engine.settings.deadlineMs : Infinity);
    const message = `The request timed out after ${limitMs} ms`;
    const limit = { clock, ms: Math.max(0, limitMs - (clock.monotonic() - from)), message };
    try {
      return await untilAborted(run(step), signal, limitMs === Infinity ? undefined : limit);
    } catch (error) {
      if (DeadlineError.isInstance(error)) error.requestId = requestId;
      throw error;
    }
  };
}

async function run<Value>(step: Step<Value>): Promise<Value> {
  return await step();
}

/** A call under way. */
interface Timed {
  readonly requestId: string;
  /** When the call was made, monotonic ms. */
  readonly from: number;
}

/**
 * Returns the response of an operation that never streams.
 *
 * @throws {TypeError} When the operation has streamed.
 */
export function wholeOf<Response>(answer: Answer<Response>): CompletionResponse<Response> {
  if (answer.kind === "whole") return answer.response;
  throw new TypeError("The operation has streamed its response");
}

async function send<Body extends RequestBody, Response, Result>(
  context: CallContext,
  { operation, request, files = [], settings, wordsOf, resultOf, requestId, from }:
    & Call<Body, Response, Result>
    & Timed,
): Promise<Result> {
  const { engine, ready, poolFor } = context;
  checkTimeout(settings.timeout);
  const body = operation.check(request, files);
  const words = wordsOf?.();
  const routingConstraints = await routingConstraintsOf(body, settings);
  const { clock } = engine.runtime;
  if (!engine.isReady) {
    const { timeout } = settings;
    const message = `The client was not ready within ${timeout} ms`;
    const left = timeout === undefined ? undefined : Math.max(0, timeout - (clock.monotonic() - from));
    const limit = left === undefined ? undefined : { clock, ms: left, message };
    await untilAborted(ready(), settings.signal, limit);
  }
  const limitMs = Math.min(
    settings.timeout ?? Infinity,
    routingConstraints?.deadlineMs ?? Infinity,
    engine.settings.deadlineMs,
  );
  const headers = new Headers(settings.headers);
  const answer = await engine.perform({
    id: requestId,
    operation,
    delivery: requestedDelivery(operation, body),
    model: body.model ?? poolFor(operation),
    body,
    ...(files.length === 0 ? {} : { files }),
    timeoutMs: Math.max(0, limitMs - (clock.monotonic() - from)),
    signal: settings.signal,
    ...(words && { original: words.original }),
    session: sessionOf(headers.get("x-mesh-session"), body, settings.sessionId ?? words?.session),
    routingConstraints,
    trace: readTraceContext(headers),
  });
  const result = await resultOf(answer);
  if (typeof result === "object" && result !== null) rememberRouting(result, answer.routing);
  return result;
}

/** Cancels a stream or an unread response body. A whole response has no `cancel`. */
function cancel(response: unknown): void {
  const { cancel } = Object(response);
  if (typeof cancel === "function") cancel.call(response);
  else if (response instanceof Response) response.body?.cancel().catch(() => {}); // its reader cancels a locked body
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

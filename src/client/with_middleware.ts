/**
 * Runs middleware around a request. Imported with the first call of a client that has any.
 * @module
 */
import type { OperationName } from "../contracts/provider.ts";
import { DeadlineError } from "../errors.ts";
import { untilAborted } from "../util/until_aborted.ts";
import type { CallContext, OpenCall } from "./call_context.ts";
import type { CallSettings, Middleware, MiddlewareContext } from "./options.ts";

/** Middleware for any operation. Its declared types are those of chat; its context names the operation. */
type AnyMiddleware<Result> = {
  readonly beforeRequest?: (request: object, context: MiddlewareContext) => object | void | Promise<object | void>;
  readonly afterResponse?: (response: Result, context: MiddlewareContext) => Result | void | Promise<Result | void>;
  readonly onError?: (error: unknown, context: MiddlewareContext) => Result | void | Promise<Result | void>;
};

/** A call with middleware. */
interface MiddlewareCall extends OpenCall {
  readonly operation: { readonly name: OperationName };
  readonly request: object;
  readonly settings: CallSettings;
}

type MiddlewareStep<Value> = () => Value | Promise<Value>;

/**
 * Performs a call with middleware.
 *
 * @param context The client, with at least one.
 * @param perform Sends a request.
 * @throws What middleware or the request throws.
 */
export async function withMiddleware<Result>(
  context: CallContext,
  called: MiddlewareCall,
  perform: (request: object) => Promise<Result>,
): Promise<Result> {
  const middleware = context.middleware as readonly Middleware[] as readonly AnyMiddleware<Result>[];
  const facts: MiddlewareContext = { requestId: called.requestId, operation: called.operation.name };
  const wait = waiter(context, called);
  let response: Result | undefined;
  try {
    let current = called.request;
    for (const layer of middleware) current = await wait(() => layer.beforeRequest?.(current, facts)) ?? current;
    let latest = await perform(current);
    for (const layer of middleware) {
      response = latest;
      latest = await wait(() => layer.afterResponse?.(response!, facts)) ?? latest;
      if (latest !== response) cancel(response); // middleware replaced it: its body stays unread
    }
    return latest;
  } catch (error) {
    cancel(response);
    for (const layer of middleware) {
      const replacement = await wait(() => layer.onError?.(error, facts));
      if (replacement !== undefined) return replacement;
    }
    throw error;
  }
}

/** Returns a function that runs middleware within what is left of the call's time, or until the call is aborted. */
function waiter(
  { engine }: CallContext,
  { settings: { signal, timeout }, requestId, from }: MiddlewareCall,
): <Value>(step: MiddlewareStep<Value>) => Promise<Value> {
  const { clock } = engine.runtime;
  return async (step) => {
    const limitMs = Number(timeout ?? (engine.isReady ? engine.settings.deadlineMs : Infinity));
    const message = `The request timed out after ${limitMs} ms`;
    const limit = { clock, ms: Math.max(0, limitMs - (clock.monotonic() - from)), message };
    try {
      return await untilAborted(run(step), signal, limitMs < Infinity ? limit : undefined);
    } catch (error) {
      if (DeadlineError.isInstance(error)) error.requestId = requestId;
      throw error;
    }
  };
}

async function run<Value>(step: MiddlewareStep<Value>): Promise<Value> {
  return await step();
}

/** Cancels a stream or an unread response body. A non-streaming response has no `cancel`. */
function cancel(response: unknown): void {
  const { cancel } = Object(response);
  if (typeof cancel === "function") cancel.call(response);
  else if (response instanceof Response) response.body?.cancel().catch(() => {}); // its reader cancels a locked body
}

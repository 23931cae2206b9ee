/**
 * `client.chat.completions`.
 * @module
 */
import type { ChatCompletion, ChatCompletionRequest } from "../contracts/openai.ts";
import { UnsupportedRequestError } from "../errors.ts";
import { checkChatRequest } from "../pipeline/check_request.ts";
import { sessionOf } from "../pipeline/session.ts";
import { requestIdFrom } from "../util/request_id.ts";
import { untilAborted } from "../util/until_aborted.ts";
import type { CallContext } from "./call_context.ts";
import { routingConstraintsOf } from "./routing_constraints_of.ts";
import type { CallSettings, Middleware, MiddlewareContext } from "./options.ts";
import { rememberRouting } from "../observe/routing_of.ts";
import { ChatStream } from "./stream.ts";

/** `client.chat`. */
export class Chat {
  /** Chat completions. */
  readonly completions: Completions;

  /**
   * Made by a client.
   *
   * @param context Of the client.
   */
  constructor(context: CallContext) {
    this.completions = new Completions(context);
  }
}

/** Chat completions. */
export class Completions {
  readonly #context: CallContext;

  /**
   * Made by a client.
   *
   * @param context Of the client.
   */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Asks for a streamed answer.
   *
   * @param request OpenAI's chat request with `stream: true`; without `model` it goes to the client's pool.
   * @param settings Signal, time limit (ms), session.
   * @throws A `MeshError`, or the signal's reason.
   */
  create(request: ChatCompletionRequest & { stream: true }, settings?: CallSettings): Promise<ChatStream>;
  /**
   * Asks for a whole answer.
   *
   * @param request OpenAI's chat request; without `model` it goes to the client's pool.
   * @param settings Signal, time limit (ms), session.
   * @throws A `MeshError`, or the signal's reason.
   *
   * @example
   * ```ts ignore
   * const answer = await client.chat.completions.create({ messages: [{ role: "user", content: "Hello" }] });
   * console.log(answer.choices[0]?.message.content);
   * ```
   */
  create(request: ChatCompletionRequest & { stream?: false | null }, settings?: CallSettings): Promise<ChatCompletion>;
  /**
   * Asks for an answer, whole or streamed.
   *
   * @param request OpenAI's chat request; without `model` it goes to the client's pool.
   * @param settings Signal, time limit (ms), session.
   * @throws A `MeshError`, or the signal's reason.
   */
  create(request: ChatCompletionRequest, settings?: CallSettings): Promise<ChatCompletion | ChatStream>;
  async create(
    request: ChatCompletionRequest,
    settings: CallSettings = {},
  ): Promise<ChatCompletion | ChatStream> {
    const headers = new Headers(settings.headers);
    const context = { requestId: requestIdFrom(headers.get("x-request-id")) };
    const { middleware } = this.#context;
    if (middleware.length === 0) return await this.#send(request, settings, context);
    let response: ChatCompletion | ChatStream | undefined;
    try {
      let latest: ChatCompletion | ChatStream = await this.#send(
        await before(middleware, request, context),
        settings,
        context,
      );
      for (const { afterResponse } of middleware) {
        response = latest;
        latest = await afterResponse?.(latest, context) ?? latest;
        if (latest !== response && response instanceof ChatStream) response.cancel(); // nobody will read it
      }
      return latest;
    } catch (error) {
      if (response instanceof ChatStream) response.cancel();
      for (const { onError } of middleware) {
        const replacement = await onError?.(error, context);
        if (replacement !== undefined) return replacement;
      }
      throw error;
    }
  }

  async #send(
    given: ChatCompletionRequest,
    settings: CallSettings,
    { requestId }: MiddlewareContext,
  ): Promise<ChatCompletion | ChatStream> {
    const { engine, ready, poolForChat } = this.#context;
    checkTimeout(settings.timeout);
    const request = checkChatRequest(given);
    const routingConstraints = await routingConstraintsOf(request, settings);
    const { clock } = engine.runtime;
    const from = clock.monotonic();
    if (!engine.isReady) {
      const { timeout: ms } = settings;
      const limit = ms === undefined ? undefined : { clock, ms, message: `The client was not ready within ${ms} ms` };
      await untilAborted(ready(), settings.signal, limit);
    }
    const session = sessionOf(new Headers(settings.headers).get("x-mesh-session"), request, settings.sessionId);
    const limitMs = Math.min(
      settings.timeout ?? Infinity,
      routingConstraints?.deadlineMs ?? Infinity,
      engine.settings.deadlineMs,
    );
    const answer = await engine.chat({
      id: requestId,
      operation: "chat",
      delivery: request.stream === true ? "stream" : "sync",
      model: request.model ?? poolForChat(),
      body: request,
      timeoutMs: Math.max(0, limitMs - (clock.monotonic() - from)),
      signal: settings.signal,
      session,
      routingConstraints,
    });
    const response = answer.kind === "stream" ? new ChatStream(answer.stream, requestId) : answer.response.body;
    rememberRouting(response, answer.routing);
    return response;
  }
}

/** JavaScript passes on whatever it has, and 0 means "none" to some libraries and "at once" to others. */
function checkTimeout(timeout: unknown): void {
  if (timeout === undefined || typeof timeout === "number" && timeout >= 1) return;
  throw new UnsupportedRequestError('"timeout" has to be a number of milliseconds, at least 1', {
    code: "invalid_value",
    param: "timeout",
  });
}

async function before(
  middleware: readonly Middleware[],
  request: ChatCompletionRequest,
  context: MiddlewareContext,
): Promise<ChatCompletionRequest> {
  for (const { beforeRequest } of middleware) request = await beforeRequest?.(request, context) ?? request;
  return request;
}

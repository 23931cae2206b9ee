/**
 * Performs a request: one road for whole and streamed answers, two calls on it.
 * @module
 */
import type { RoutingRecord } from "../contracts/events.ts";
import type { RequestBody } from "../contracts/openai.ts";
import type { CompletionRequest, CompletionResponse, ExtraResponse, OperationRequest } from "../contracts/provider.ts";
import { DeadlineError, MeshError, ModelNotFoundError, UnsupportedRequestError } from "../errors.ts";
import { AnswerStream } from "./answer_stream.ts";
import type { ContentStream, OpenContent } from "./content_stream.ts";
import { type OpenStream, openStream } from "./open_stream.ts";
import type { RouteDeps } from "./deps.ts";
import type { Operation } from "./operation.ts";
import type { RoutedRequest } from "./request.ts";
import type { Call, Routed } from "./routed.ts";
import { route } from "./route.ts";

/** How an answer came about. */
interface AnswerFacts {
  /** The request's id. */
  readonly requestId: string;
  /** The routing decision. */
  readonly routing: RoutingRecord;
  /** Parameters left out for the model that answered. */
  readonly dropped: readonly string[];
}

/** A whole answer. */
interface WholeAnswer<Response> extends AnswerFacts {
  readonly kind: "whole";
  readonly response: CompletionResponse<Response>;
  /** Nano-dollars; undefined when a price is unknown, or what the answer took. */
  readonly costNanoUsd?: number;
}

/** A streamed answer, committed. */
interface StreamedAnswer extends AnswerFacts {
  readonly kind: "stream";
  readonly stream: AnswerStream;
}

/** Content as it arrives, committed. */
interface ContentAnswer extends AnswerFacts {
  readonly kind: "content";
  readonly stream: ContentStream;
}

/** What a request comes to. */
export type Answer<Response> = WholeAnswer<Response> | StreamedAnswer | ContentAnswer;

/** A response as its provider sent it, and as the request wants it. */
interface Completed<Response> {
  readonly sent: Response;
  readonly response: CompletionResponse<Response>;
}

/** Asks a model for a whole answer; what its provider is asked for, and what it returns, the operation defines. */
function completing<Body extends RequestBody, Response>(
  { operation, body }: RoutedRequest<Body, Response>,
): Call<Completed<Response>> {
  return async ({ model }, completion, options) => {
    const complete = await model.instance.provider!.complete(completion as CompletionRequest, options);
    const response = readResponse(complete, completion, operation);
    const sent = response.body;
    if (operation.isEmpty(sent)) {
      return { answer: { sent, response }, empty: true, usage: operation.usageIn(sent).usage };
    }
    return { answer: { sent, response: operation.finish?.(response, body) ?? response }, empty: false };
  };
}

/** A response, also of a provider that answers with `extra` alone. */
function readResponse<Body extends RequestBody, Response>(
  response: CompletionResponse | ExtraResponse,
  { extra: asked }: OperationRequest,
  { bridge }: Operation<Body, Response>,
): CompletionResponse<Response> {
  const isExtra = bridge !== undefined && asked !== undefined && !("body" in response && response.body !== undefined);
  return isExtra && "extra" in response ? bridge.read(response.extra, asked) : response as CompletionResponse<Response>;
}

const stream: Call<OpenStream> = ({ model }, completion, connection) =>
  openStream(model.instance.provider!.stream(completion as CompletionRequest, connection), connection.stop);

/**
 * Performs a request; when no model serves it, with the names of its `models` list in turn.
 *
 * @param request What is asked.
 * @param deps What the pipeline works with.
 * @throws A `MeshError`, the last one about models that exist; or the client's abort.
 */
export function perform<Body extends RequestBody, Response>(
  request: RoutedRequest<Body, Response>,
  deps: RouteDeps,
): Promise<Answer<Response>> {
  const { models } = request.body;
  return models?.length
    ? performInTurn(request, [...new Set([request.model, ...models])], deps)
    : performWith(request, deps);
}

async function performInTurn<Body extends RequestBody, Response>(
  request: RoutedRequest<Body, Response>,
  models: string[],
  deps: RouteDeps,
): Promise<Answer<Response>> {
  const { body } = request;
  const { clock } = deps.runtime;
  const deadlineAt = clock.monotonic() + request.timeoutMs;
  let failure: unknown;
  for (const model of models) {
    try {
      const timeoutMs = deadlineAt - clock.monotonic();
      return await performWith({ ...request, model, body: { ...body, models }, timeoutMs }, deps);
    } catch (error) {
      if (!MeshError.isInstance(error) || DeadlineError.isInstance(error)) throw error;
      const isAbsent = ModelNotFoundError.isInstance(error) || UnsupportedRequestError.isInstance(error);
      failure = isAbsent ? failure ?? error : error;
    }
  }
  throw failure;
}

async function performWith<Body extends RequestBody, Response>(
  request: RoutedRequest<Body, Response>,
  deps: RouteDeps,
): Promise<Answer<Response>> {
  const { operation } = request;
  const routed = request as unknown as RoutedRequest;
  if (operation.hasContent) return await performContent(routed, deps);
  if (request.delivery === "stream") return streamed(routed, await route(routed, stream, deps), deps);
  const served = await route(routed, completing(request), deps);
  const { sent, response } = served.answer;
  const { costNano, estimated } = served.settle("success", {
    ...operation.usageIn(sent),
    text: () => JSON.stringify(sent),
  });
  return {
    kind: "whole",
    ...factsOf(routed, served),
    response,
    costNanoUsd: estimated ? undefined : costNano,
  };
}

/** Asks for content, such as sound. */
async function performContent(request: RoutedRequest, deps: RouteDeps): Promise<ContentAnswer> {
  const { openContent, ContentStream } = await import("./content_stream.ts"); // most pages never ask
  const routed = await route<OpenContent>(request, async ({ model }, completion, connection) => {
    const response = await model.instance.provider!.complete(completion as CompletionRequest, connection);
    return await openContent(readResponse(response, completion, request.operation), connection.stop);
  }, deps);
  const usage = request.operation.usageIn(routed.answer.body);
  const onInterrupt = interruptOf(request, routed, deps);
  return {
    kind: "content",
    ...factsOf(request, routed),
    stream: new ContentStream({ routed, usage, onInterrupt, redact: deps.redact }),
  };
}

function streamed(request: RoutedRequest, routed: Routed<OpenStream>, deps: RouteDeps): StreamedAnswer {
  const wantsUsage = Object(request.body.stream_options).include_usage === true;
  const { redact, hub: { payloadBytes: keptBytes } } = deps;
  const onInterrupt = interruptOf(request, routed, deps);
  return {
    kind: "stream",
    ...factsOf(request, routed),
    stream: new AnswerStream({ routed, wantsUsage, onInterrupt, redact, keptBytes }),
  };
}

/** Traces that a provider failed midway. */
function interruptOf(
  request: RoutedRequest,
  { pool, member: { state } }: Routed<unknown>,
  { hub }: RouteDeps,
): () => void {
  return () =>
    hub.trace({
      severity: "warning",
      component: "router",
      message: "Stream interrupted midway",
      request_id: request.id,
      pool: pool.name,
      model: state.name,
      provider: state.provider,
    });
}

function factsOf(request: RoutedRequest, { routing, dropped }: Routed<unknown>): AnswerFacts {
  return { requestId: request.id, routing, dropped };
}

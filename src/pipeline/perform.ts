/**
 * Performs requests for complete, streamed and binary responses. The last are imported with their first request.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import type { CompletionRequest, CompletionResponse } from "../contracts/provider.ts";
import { type Answer, createInterrupt, type StreamedAnswer, toAnswerFacts } from "./answer.ts";
import type { ClientNames } from "./client_names.ts";
import type { RouteDeps, RoutedRequest } from "./request.ts";
import { readModelId, readResponse } from "./read_response.ts";
import type { Call, Routed } from "./routed.ts";
import { route } from "./route.ts";
import { DeadlineError, MeshError, ModelNotFoundError, UnsupportedRequestError } from "../errors.ts";
import { callNow } from "../util/call_now.ts";
import { AnswerStream } from "./answer_stream.ts";
import { ChunkFilter, type OpenStream, openStream } from "./open_stream.ts";

/** A response as received from the provider, and as returned to the client. */
interface Completed<Response> {
  readonly sent: Response;
  readonly response: CompletionResponse<Response>;
}

/** Requests a complete response from a model, as its operation defines. */
function completing<Body extends RequestBody, Response>(
  { operation, body }: RoutedRequest<Body, Response>,
  { runtime }: RouteDeps,
): Call<Completed<Response>> {
  return async ({ model }, { completion, clientNames }, options) => {
    const complete = await model.instance.provider!.complete(completion as CompletionRequest, options);
    const received = readResponse(complete, completion, operation);
    const normalized = operation.normalize?.(received, completion, runtime) ?? received;
    const response = clientNames === undefined ? normalized : withClientNames(normalized, clientNames);
    const sent = response.body;
    const modelId = readModelId(sent);
    if (operation.isEmpty(sent)) {
      return { answer: { sent, response }, empty: true, usage: operation.usageIn(sent).usage, model: modelId };
    }
    return { answer: { sent, response: operation.finish?.(response, body) ?? response }, empty: false, model: modelId };
  };
}

/** The bytes of a response with other names are not sent. */
function withClientNames<Response>(
  response: CompletionResponse<Response>,
  clientNames: ClientNames,
): CompletionResponse<Response> {
  const body = clientNames.restore(response.body, "message");
  if (body === response.body) return response;
  const { wire: _, ...others } = response;
  return { ...others, body };
}

/**
 * Performs a request. If no model serves it, continues with the names in its `models` list.
 *
 * @param deps Dependencies.
 * @throws A `MeshError`, the last one about existing models; or the client's abort reason.
 */
export function perform<Body extends RequestBody, Response>(
  request: RoutedRequest<Body, Response>,
  deps: RouteDeps,
): Promise<Answer<Response>> {
  return request.body.models?.length
    ? performInTurn(request, (one) => performOne(one, deps), () => deps.runtime.clock.monotonic())
    : performOne(request, deps);
}

async function performOne<Body extends RequestBody, Response>(
  request: RoutedRequest<Body, Response>,
  deps: RouteDeps,
): Promise<Answer<Response>> {
  const { operation } = request;
  const routed = request as unknown as RoutedRequest;
  if (operation.hasContent) {
    const { contentAnswer, openingContent } = await import("./perform_content.ts");
    return contentAnswer(routed, await route(routed, openingContent(operation), deps), deps);
  }
  if (request.delivery === "stream") {
    return streamedAnswer(routed, await route(routed, openingStream(deps), deps), deps);
  }
  const served = await route(routed, completing(request, deps), deps);
  const { sent, response } = served.answer;
  const { costNanoUsd, estimated } = served.settle("success", {
    ...operation.usageIn(sent),
    text: () => JSON.stringify(sent),
  });
  return {
    kind: "whole",
    response,
    costNanoUsd: estimated ? undefined : costNanoUsd,
    ...toAnswerFacts(routed, served),
  };
}

/**
 * Performs a request with its own name, then with those of its `models`.
 *
 * @param performOne Performs it with one name.
 * @param now Monotonic ms.
 * @throws A `MeshError`, the last one about existing models; or the client's abort reason.
 */
async function performInTurn<Body extends RequestBody, Response, Result>(
  request: RoutedRequest<Body, Response>,
  performOne: (request: RoutedRequest<Body, Response>) => Promise<Result>,
  now: () => number,
): Promise<Result> {
  const { body } = request;
  const models = [...new Set([request.model, ...body.models!])];
  const deadlineAt = now() + request.timeoutMs;
  let failure: unknown;
  for (const model of models) {
    try {
      return await performOne({ ...request, model, body: { ...body, models }, timeoutMs: deadlineAt - now() });
    } catch (error) {
      if (!MeshError.isInstance(error) || DeadlineError.isInstance(error)) throw error;
      const isAbsent = ModelNotFoundError.isInstance(error) || UnsupportedRequestError.isInstance(error);
      failure = isAbsent ? failure ?? error : error;
    }
  }
  throw failure;
}

/** Requests a stream from one model. */
function openingStream({ runtime }: RouteDeps): Call<OpenStream> {
  return ({ model }, { completion, clientNames }, connection) => {
    const events = callNow(() => model.instance.provider!.stream(completion as CompletionRequest, connection));
    const filter = new ChunkFilter(completion, { runtime, clientNames });
    return openStream(events, { filter, signal: connection.stop });
  };
}

/** Returns the response to a routed request for a stream. */
function streamedAnswer(request: RoutedRequest, routed: Routed<OpenStream>, deps: RouteDeps): StreamedAnswer {
  const wantsUsage = Object(request.body.stream_options).include_usage === true;
  const { redact, hub: { payloadBytes: keptBytes } } = deps;
  const onInterrupt = createInterrupt(request, routed, deps);
  return {
    kind: "stream",
    stream: new AnswerStream({ routed, wantsUsage, onInterrupt, redact, keptBytes }),
    ...toAnswerFacts(request, routed),
  };
}

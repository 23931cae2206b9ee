/**
 * Performs requests for complete, streamed and binary responses. The latter two are imported with their first request.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import type { CompletionRequest, CompletionResponse } from "../contracts/provider.ts";
import { type Answer, toAnswerFacts } from "./answer.ts";
import type { ClientNames } from "./client_names.ts";
import type { RouteDeps } from "./deps.ts";
import { readModelId, readResponse } from "./read_response.ts";
import type { RoutedRequest } from "./request.ts";
import type { Call } from "./routed.ts";
import { route } from "./route.ts";

let streams: typeof import("./perform_stream.ts") | undefined;

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
  return request.body.models?.length ? performAny(request, deps) : performOne(request, deps);
}

async function performAny<Body extends RequestBody, Response>(
  request: RoutedRequest<Body, Response>,
  deps: RouteDeps,
): Promise<Answer<Response>> {
  const { performInTurn } = await import("./perform_in_turn.ts");
  return await performInTurn(request, (one) => performOne(one, deps), () => deps.runtime.clock.monotonic());
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
    const { openingStream, streamedAnswer } = streams ??= await import("./perform_stream.ts");
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

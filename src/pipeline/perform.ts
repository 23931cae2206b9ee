/**
 * Performs a request: one road for whole and streamed answers and for content. What not every page asks for is imported
 * at its first request.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import type { CompletionRequest, CompletionResponse } from "../contracts/provider.ts";
import { type Answer, factsOf } from "./answer.ts";
import type { RouteDeps } from "./deps.ts";
import { readResponse } from "./read_response.ts";
import type { RoutedRequest } from "./request.ts";
import type { Call } from "./routed.ts";
import { route } from "./route.ts";

let streams: typeof import("./perform_stream.ts") | undefined;

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

/**
 * Performs a request; when no model serves it, with the names of its `models` list in turn.
 *
 * @param request What is asked.
 * @param deps What the pipeline works with.
 * @throws A `MeshError`, the last one about models that exist; or the client's abort.
 */
export async function perform<Body extends RequestBody, Response>(
  request: RoutedRequest<Body, Response>,
  deps: RouteDeps,
): Promise<Answer<Response>> {
  if (!request.body.models?.length) return await performOne(request, deps);
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
    return streamedAnswer(routed, await route(routed, openingStream, deps), deps);
  }
  const served = await route(routed, completing(request), deps);
  const { sent, response } = served.answer;
  const { costNanoUsd, estimated } = served.settle("success", {
    ...operation.usageIn(sent),
    text: () => JSON.stringify(sent),
  });
  return {
    kind: "whole",
    ...factsOf(routed, served),
    response,
    costNanoUsd: estimated ? undefined : costNanoUsd,
  };
}

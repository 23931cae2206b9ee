/**
 * Requests for content, such as audio.
 * @module
 */
import type { CompletionRequest } from "../contracts/provider.ts";
import { type ContentAnswer, createInterrupt, toAnswerFacts } from "./answer.ts";
import { ContentStream, type OpenContent, openContent } from "./content_stream.ts";
import type { Operation } from "./operation.ts";
import { readResponse } from "./read_response.ts";
import type { RouteDeps, RoutedRequest } from "./request.ts";
import type { Call, Routed } from "./routed.ts";

/** Requests content from one model. */
export function openingContent(operation: Operation): Call<OpenContent> {
  return async ({ model }, { completion }, connection) => {
    connection.passOn();
    const response = await model.instance.provider!.complete(completion as CompletionRequest, connection);
    return await openContent(readResponse(response, completion, operation), connection.stop);
  };
}

/** Returns the response to a routed request for content. */
export function contentAnswer(request: RoutedRequest, routed: Routed<OpenContent>, deps: RouteDeps): ContentAnswer {
  const usage = request.operation.usageIn(routed.answer.body);
  const onInterrupt = createInterrupt(request, routed, deps);
  return {
    kind: "content",
    ...toAnswerFacts(request, routed),
    stream: new ContentStream({ routed, usage, onInterrupt, redact: deps.redact }),
  };
}

/**
 * Requests for content, such as sound.
 * @module
 */
import type { CompletionRequest } from "../contracts/provider.ts";
import { type ContentAnswer, factsOf } from "./answer.ts";
import { ContentStream, type OpenContent, openContent } from "./content_stream.ts";
import type { RouteDeps } from "./deps.ts";
import { interruptOf } from "./interrupt.ts";
import { readResponse } from "./read_response.ts";
import type { RoutedRequest } from "./request.ts";
import { route } from "./route.ts";

/** Asks for content, such as sound. */
export async function performContent(request: RoutedRequest, deps: RouteDeps): Promise<ContentAnswer> {
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

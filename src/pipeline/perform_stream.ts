/**
 * Requests for streamed responses.
 * @module
 */
import type { CompletionRequest } from "../contracts/provider.ts";
import { callNow } from "../util/call_now.ts";
import { type StreamedAnswer, toAnswerFacts } from "./answer.ts";
import { AnswerStream } from "./answer_stream.ts";
import type { RouteDeps } from "./deps.ts";
import { createInterrupt } from "./interrupt.ts";
import { ChunkFilter } from "./chunk_filter.ts";
import { type OpenStream, openStream } from "./open_stream.ts";
import type { RoutedRequest } from "./request.ts";
import type { Call, Routed } from "./routed.ts";

/** Requests a stream from one model. */
export function openingStream({ runtime }: RouteDeps): Call<OpenStream> {
  return ({ model }, { completion, clientNames }, connection) => {
    const events = callNow(() => model.instance.provider!.stream(completion as CompletionRequest, connection));
    const filter = new ChunkFilter(completion, { runtime, clientNames });
    return openStream(events, { filter, signal: connection.stop });
  };
}

/** Returns the response to a routed request for a stream. */
export function streamedAnswer(request: RoutedRequest, routed: Routed<OpenStream>, deps: RouteDeps): StreamedAnswer {
  const wantsUsage = Object(request.body.stream_options).include_usage === true;
  const { redact, hub: { payloadBytes: keptBytes } } = deps;
  const onInterrupt = createInterrupt(request, routed, deps);
  return {
    kind: "stream",
    stream: new AnswerStream({ routed, wantsUsage, onInterrupt, redact, keptBytes }),
    ...toAnswerFacts(request, routed),
  };
}

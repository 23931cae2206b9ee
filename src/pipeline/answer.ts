/**
 * What a request comes to.
 * @module
 */
import type { RoutingRecord } from "../contracts/events.ts";
import type { CompletionResponse } from "../contracts/provider.ts";
import type { AnswerStream } from "./answer_stream.ts";
import type { ContentStream } from "./content_stream.ts";
import type { RoutedRequest } from "./request.ts";
import type { Routed } from "./routed.ts";

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
export interface StreamedAnswer extends AnswerFacts {
  readonly kind: "stream";
  readonly stream: AnswerStream;
}

/** Content as it arrives, committed. */
export interface ContentAnswer extends AnswerFacts {
  readonly kind: "content";
  readonly stream: ContentStream;
}

/** What a request comes to. */
export type Answer<Response> = WholeAnswer<Response> | StreamedAnswer | ContentAnswer;

/**
 * How an answer came about.
 *
 * @param request What was asked.
 * @param routed What came of it.
 */
export function factsOf(request: RoutedRequest, { routing, dropped }: Routed<unknown>): AnswerFacts {
  return { requestId: request.id, routing, dropped };
}

/**
 * Results of requests.
 * @module
 */
import type { RoutingRecord } from "../contracts/events.ts";
import type { CompletionResponse } from "../contracts/provider.ts";
import type { AnswerStream } from "./answer_stream.ts";
import type { ContentStream } from "./content_stream.ts";
import type { RouteDeps, RoutedRequest } from "./request.ts";
import type { Routed } from "./routed.ts";

/** The routing result of a request. */
interface AnswerFacts {
  readonly requestId: string;
  readonly routing: RoutingRecord;
  /** Parameters omitted for the model that responded. */
  readonly dropped: readonly string[];
}

/** A complete response. */
interface WholeAnswer<Response> extends AnswerFacts {
  readonly kind: "whole";
  readonly response: CompletionResponse<Response>;
  /** Nano-dollars; undefined if the price or the usage is unknown. */
  readonly costNanoUsd?: number;
}

/** A committed stream. */
export interface StreamedAnswer extends AnswerFacts {
  readonly kind: "stream";
  readonly stream: AnswerStream;
}

/** Committed binary content, streamed. */
export interface ContentAnswer extends AnswerFacts {
  readonly kind: "content";
  readonly stream: ContentStream;
}

/** The result of a request. */
export type Answer<Response> = WholeAnswer<Response> | StreamedAnswer | ContentAnswer;

/**
 * Returns the routing result of a request.
 *
 * @param routed The routed response.
 */
export function toAnswerFacts(request: RoutedRequest, { routing, dropped }: Routed<unknown>): AnswerFacts {
  return { requestId: request.id, routing, dropped };
}

/** Traces that a provider failed midway. */
export function createInterrupt(
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

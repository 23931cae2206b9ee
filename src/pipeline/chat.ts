/**
 * The chat operation: one road for whole and streamed answers, two calls on it.
 * @module
 */
import { servesChat } from "../capability/operations.ts";
import type { RoutingRecord } from "../contracts/events.ts";
import type { CompletionResponse } from "../contracts/provider.ts";
import { DeadlineError, MeshError, ModelNotFoundError, UnsupportedRequestError } from "../errors.ts";
import { AnswerStream } from "./answer_stream.ts";
import { isEmptyCompletion } from "./content.ts";
import { type OpenStream, openStream } from "./open_stream.ts";
import { OutputEstimate } from "./output_estimate.ts";
import type { RouteDeps } from "./deps.ts";
import type { RoutedRequest } from "./request.ts";
import type { Routed, Task } from "./routed.ts";
import { route } from "./route.ts";

/** How an answer came about. */
export interface AnswerFacts {
  /** The request's id. */
  readonly requestId: string;
  /** The routing decision. */
  readonly routing: RoutingRecord;
  /** Parameters left out for the model that answered. */
  readonly dropped: readonly string[];
}

/** A whole answer. */
export interface WholeAnswer extends AnswerFacts {
  readonly kind: "whole";
  readonly response: CompletionResponse;
  /** Nano-dollars; undefined when a price is unknown, or what the answer took. */
  readonly costNanoUsd?: number;
}

/** A streamed answer, committed. */
export interface StreamedAnswer extends AnswerFacts {
  readonly kind: "stream";
  readonly stream: AnswerStream;
}

/** What a chat request comes to. */
export type ChatAnswer = WholeAnswer | StreamedAnswer;

const complete: Task<CompletionResponse> = {
  serves: servesChat,
  async call({ model }, completion, options) {
    const answer = await model.instance.provider!.complete(completion, options);
    return { answer, empty: isEmptyCompletion(answer.body), usage: answer.body.usage };
  },
};

const stream: Task<OpenStream> = {
  serves: servesChat,
  call({ model }, completion, connection) {
    return openStream(model.instance.provider!.stream(completion, connection), connection.stop);
  },
};

/**
 * Routes a chat request; when nobody serves it, to the names of its `models` list in turn.
 *
 * @param request What is asked.
 * @param deps What the pipeline works with.
 * @throws A `MeshError`, the last one that tells of models that were there; or the client's abort.
 */
export function chat(request: RoutedRequest, deps: RouteDeps): Promise<ChatAnswer> {
  const { models } = request.body;
  return models?.length ? chatInTurn(request, [...new Set([request.model, ...models])], deps) : chatWith(request, deps);
}

async function chatInTurn(request: RoutedRequest, models: string[], deps: RouteDeps): Promise<ChatAnswer> {
  const { body } = request;
  const { clock } = deps.runtime;
  const deadlineAt = clock.monotonic() + request.timeoutMs;
  let failure: unknown;
  for (const model of models) {
    try {
      const timeoutMs = deadlineAt - clock.monotonic();
      return await chatWith({ ...request, model, body: { ...body, models }, timeoutMs }, deps);
    } catch (error) {
      if (!MeshError.isInstance(error) || DeadlineError.isInstance(error)) throw error;
      const isAbsent = ModelNotFoundError.isInstance(error) || UnsupportedRequestError.isInstance(error);
      failure = isAbsent ? failure ?? error : error;
    }
  }
  throw failure;
}

async function chatWith(request: RoutedRequest, deps: RouteDeps): Promise<ChatAnswer> {
  if (request.delivery === "stream") return streamed(request, await route(request, stream, deps), deps);
  const routed = await route(request, complete, deps);
  const { answer } = routed;
  const { costNano, estimated } = routed.settle("success", {
    usage: answer.body.usage,
    written: () => new OutputEstimate().add(answer.body.choices).tokens,
    text: () => JSON.stringify(answer.body),
  });
  return {
    kind: "whole",
    ...factsOf(request, routed),
    response: answer,
    costNanoUsd: estimated ? undefined : costNano,
  };
}

function streamed(request: RoutedRequest, routed: Routed<OpenStream>, deps: RouteDeps): StreamedAnswer {
  const wantsUsage = request.body.stream_options?.include_usage === true;
  const onInterrupt = () => {
    const { pool, member: { state } } = routed;
    deps.hub.trace({
      severity: "warning",
      component: "router",
      message: "Stream interrupted midway",
      request_id: request.id,
      pool: pool.name,
      model: state.name,
      provider: state.provider,
    });
  };
  return {
    kind: "stream",
    ...factsOf(request, routed),
    stream: new AnswerStream({
      routed,
      wantsUsage,
      onInterrupt,
      redact: deps.redact,
      keptBytes: deps.hub.payloadBytes,
    }),
  };
}

function factsOf(request: RoutedRequest, { routing, dropped }: Routed<unknown>): AnswerFacts {
  return { requestId: request.id, routing, dropped };
}

/**
 * Explaining a program's chat request as a call of it would be routed.
 * @module
 */
import { servesChat } from "../capability/operations.ts";
import type { ChatCompletionRequest } from "../contracts/openai.ts";
import type { Engine } from "../engine/engine.ts";
import { checkChatRequest } from "../pipeline/check_request.ts";
import { explain, type Explanation } from "../pipeline/explain.ts";
import { readRoutingConstraints } from "../pipeline/routing_constraints.ts";
import { sessionOf } from "../pipeline/session.ts";

/**
 * Explains a request. Nothing is sent.
 *
 * @param request As given.
 * @param engine Ready.
 * @param poolOf The name that one without `model` goes to.
 * @throws {ModelNotFoundError} When its `model` stands for nothing.
 * @throws {UnsupportedRequestError} When it is malformed.
 */
export function explainChat(request: ChatCompletionRequest, engine: Engine, poolOf: () => string): Explanation {
  const body = checkChatRequest(request);
  return explain(
    {
      id: "explain",
      operation: "chat",
      delivery: body.stream === true ? "stream" : "sync",
      model: body.model ?? poolOf(),
      body,
      timeoutMs: 0,
      session: sessionOf(undefined, body),
      routingConstraints: readRoutingConstraints(undefined, body),
    },
    { serves: servesChat },
    engine.routeDeps,
  );
}

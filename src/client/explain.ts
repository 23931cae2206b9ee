/**
 * Explaining a program's request as a call of it would be routed.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import type { OperationName, UploadedFile } from "../contracts/provider.ts";
import type { Engine } from "../engine/engine.ts";
import { invalid } from "../pipeline/check_body.ts";
import { explain, type Explanation } from "../pipeline/explain.ts";
import type { CheckedOperation } from "../pipeline/operation.ts";
import { operations } from "../pipeline/operations/all.ts";
import { readRoutingConstraints } from "../pipeline/routing_constraints.ts";
import { sessionOf } from "../pipeline/session.ts";

/** What is explained. */
export interface ExplainOptions {
  /**
   * What the request asks for.
   * @default {"chat"}
   */
  readonly operation?: OperationName;
  /** Files of a request that has them. */
  readonly files?: readonly UploadedFile[];
}

/** An {@linkcode Engine} and its names. */
export interface ExplainContext extends ExplainOptions {
  /** Ready. */
  readonly engine: Engine;
  /** The name that a request without `model` goes to. */
  readonly poolFor: (operation: CheckedOperation) => string;
}

/**
 * Explains a request. Nothing is sent.
 *
 * @param request As given.
 * @param context The engine, and the operation.
 * @throws {ModelNotFoundError} When its `model` stands for nothing.
 * @throws {UnsupportedRequestError} When it is malformed.
 */
export function explainRequest(
  request: RequestBody,
  { operation: name = "chat", files = [], engine, poolFor }: ExplainContext,
): Explanation {
  const operation = operations.get(name);
  if (operation === undefined) {
    const known = [...operations.keys()].map((one) => `"${one}"`).join(", ");
    throw invalid(`"operation" has to be one of ${known}`, "operation");
  }
  const body = operation.check(request, files);
  return explain(
    {
      id: "explain",
      operation,
      delivery: body.stream === true || operation.hasContent ? "stream" : "sync",
      model: body.model ?? poolFor(operation),
      body,
      files,
      timeoutMs: 0,
      session: sessionOf(undefined, body),
      routingConstraints: readRoutingConstraints(undefined, body),
    },
    engine.routeDeps,
  );
}

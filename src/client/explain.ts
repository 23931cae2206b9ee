/**
 * Explains how a request of a client would be routed.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import type { OperationName, UploadedFile } from "../contracts/provider.ts";
import type { Engine } from "../engine/engine.ts";
import { invalid, requestedDelivery } from "../pipeline/check_body.ts";
import { explain, type Explanation } from "../pipeline/explain.ts";
import type { CheckedOperation } from "../pipeline/operation.ts";
import { operations } from "../pipeline/operations/all.ts";
import { readLabels, readRoutingConstraints } from "../pipeline/routing_constraints.ts";
import { findSession } from "../util/request_id.ts";

/** Options of `explain`. */
export interface ExplainOptions {
  /**
   * The operation of the request.
   * @default {"chat"}
   */
  readonly operation?: OperationName;
  /** The files of the request, for operations with uploads. */
  readonly files?: readonly UploadedFile[];
}

/** The options with the engine and the default target. */
export interface ExplainContext extends ExplainOptions {
  /** An engine that is ready. */
  readonly engine: Engine;
  /** Returns the target of a request without `model`. */
  readonly poolFor: (operation: CheckedOperation) => string;
}

/**
 * Explains how a request would be routed. Sends nothing.
 *
 * @param request A request in OpenAI's shape.
 * @param context The engine, and the operation.
 * @throws {ModelNotFoundError} When `model` is unknown.
 * @throws {UnsupportedRequestError} When the request is malformed.
 */
export function explainRequest(
  request: RequestBody,
  { operation: name = "chat", files = [], engine, poolFor }: ExplainContext,
): Explanation {
  const operation = operations.get(name);
  if (operation === undefined) {
    const names = [...operations.keys()].map((name) => `"${name}"`).join(", ");
    throw invalid(`"operation" has to be one of ${names}`, "operation");
  }
  const body = operation.check(request, files);
  const routingConstraints = readRoutingConstraints(undefined, body);
  const labels = readLabels(body, { ...routingConstraints });
  const routed = {
    id: "explain",
    operation,
    delivery: requestedDelivery(operation, body),
    model: body.model ?? poolFor(operation),
    body,
    files,
    timeoutMs: 0,
    session: findSession(undefined, body),
    routingConstraints,
    scopes: engine.state.scopes?.select({ own: [], client: "", ...labels }),
  };
  const explanation = explain(routed, engine.routeDeps);
  const { caching } = engine;
  return caching === undefined ? explanation : { ...explanation, cache: caching.explain(routed, explanation.pool) };
}

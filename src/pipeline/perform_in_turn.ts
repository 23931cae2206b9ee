/**
 * Requests with a list of names, which are tried in order.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import { DeadlineError, MeshError, ModelNotFoundError, UnsupportedRequestError } from "../errors.ts";
import type { RoutedRequest } from "./request.ts";

/**
 * Performs a request with its own name, then with those of its `models`.
 *
 * @param performOne Performs it with one name.
 * @param now Monotonic ms.
 * @throws A `MeshError`, the last one about existing models; or the client's abort reason.
 */
export async function performInTurn<Body extends RequestBody, Response, Result>(
  request: RoutedRequest<Body, Response>,
  performOne: (request: RoutedRequest<Body, Response>) => Promise<Result>,
  now: () => number,
): Promise<Result> {
  const { body } = request;
  const models = [...new Set([request.model, ...body.models!])];
  const deadlineAt = now() + request.timeoutMs;
  let failure: unknown;
  for (const model of models) {
    try {
      return await performOne({ ...request, model, body: { ...body, models }, timeoutMs: deadlineAt - now() });
    } catch (error) {
      if (!MeshError.isInstance(error) || DeadlineError.isInstance(error)) throw error;
      const isAbsent = ModelNotFoundError.isInstance(error) || UnsupportedRequestError.isInstance(error);
      failure = isAbsent ? failure ?? error : error;
    }
  }
  throw failure;
}

/**
 * Reads responses of providers.
 * @module
 */
import type { CompletionResponse, ExtraResponse, OperationRequest } from "../contracts/provider.ts";
import type { RequestBody } from "../contracts/openai.ts";
import type { Operation } from "./operation.ts";

/** Returns a response; one that consists only of `extra` is converted. */
export function readResponse<Body extends RequestBody, Response>(
  response: CompletionResponse | ExtraResponse,
  { extra: audio }: OperationRequest,
  { bridge }: Operation<Body, Response>,
): CompletionResponse<Response> {
  const isExtra = bridge !== undefined && audio !== undefined && !("body" in response && response.body !== undefined);
  return isExtra && "extra" in response ? bridge.read(response.extra, audio) : response as CompletionResponse<Response>;
}

/**
 * Reading what a provider returns.
 * @module
 */
import type { CompletionResponse, ExtraResponse, OperationRequest } from "../contracts/provider.ts";
import type { RequestBody } from "../contracts/openai.ts";
import type { Operation } from "./operation.ts";

/** A response, also of a provider that answers with `extra` alone. */
export function readResponse<Body extends RequestBody, Response>(
  response: CompletionResponse | ExtraResponse,
  { extra: audio }: OperationRequest,
  { bridge }: Operation<Body, Response>,
): CompletionResponse<Response> {
  const isExtra = bridge !== undefined && audio !== undefined && !("body" in response && response.body !== undefined);
  return isExtra && "extra" in response ? bridge.read(response.extra, audio) : response as CompletionResponse<Response>;
}

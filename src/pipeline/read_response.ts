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

/** Maximum length of a model id in records, characters. */
const maxIdLength = 256;

/** Returns the model id in a response or an event; undefined if it has none. */
export function readModelId(body: unknown): string | undefined {
  const { model } = Object(body) as { readonly model?: unknown };
  return typeof model === "string" && model !== "" ? model.slice(0, maxIdLength) : undefined;
}

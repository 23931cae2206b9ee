/**
 * Calls of operations that never stream.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import type { UploadedFile } from "../contracts/provider.ts";
import type { CheckedOperation } from "../pipeline/operation.ts";
import { call, requireNonStreaming } from "./call.ts";
import type { CallContext } from "./call_context.ts";
import type { CallSettings } from "./options.ts";

/**
 * Performs a call and returns its complete response.
 *
 * @throws {MeshError} When the request fails. An aborted call throws the signal's reason.
 */
export function callNonStreaming<Body extends RequestBody, Response extends object>(
  context: CallContext,
  { settings = {}, ...called }: {
    readonly operation: CheckedOperation<Body, Response>;
    readonly request: object;
    readonly files?: readonly UploadedFile[];
    readonly settings?: CallSettings | undefined;
  },
): Promise<Response> {
  return call(context, {
    ...called,
    settings,
    toResult: (result) => requireNonStreaming(result).body,
  });
}

/**
 * Calls of operations whose answers are whole.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import type { UploadedFile } from "../contracts/provider.ts";
import type { CheckedOperation } from "../pipeline/operation.ts";
import { call, wholeOf } from "./call.ts";
import type { CallContext } from "./call_context.ts";
import type { CallSettings } from "./options.ts";

/** What is called. */
interface WholeCall<Body extends RequestBody, Response> {
  readonly operation: CheckedOperation<Body, Response>;
  readonly request: object;
  readonly files?: readonly UploadedFile[];
  readonly settings?: CallSettings | undefined;
}

/**
 * Performs a call whose answer is whole.
 *
 * @param context Of the client.
 * @param called What is called.
 * @throws A `MeshError`, or the signal's reason.
 */
export function callWhole<Body extends RequestBody, Response extends object>(
  context: CallContext,
  { settings = {}, ...called }: WholeCall<Body, Response>,
): Promise<Response> {
  return call(context, {
    ...called,
    settings,
    resultOf: (answer) => wholeOf(answer).body,
  });
}

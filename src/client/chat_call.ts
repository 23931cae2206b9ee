/**
 * A call of `client.chat.completions`.
 * @module
 */
import type { ChatCompletion, ChatCompletionRequest } from "../contracts/openai.ts";
import type { ChatParams } from "../contracts/params.ts";
import { chat } from "../pipeline/operations/chat.ts";
import { call, requireNonStreaming } from "./call.ts";
import type { CallContext } from "./call_context.ts";
import type { CallSettings } from "./options.ts";
import { ChatStream } from "./stream.ts";

/**
 * Creates a chat completion, streaming or not depending on `stream`.
 *
 * @throws {MeshError} When the request fails. An aborted call throws the signal's reason.
 */
export function callChat(
  context: CallContext,
  { request, settings }: { readonly request: ChatParams; readonly settings: CallSettings },
): Promise<ChatCompletion | ChatStream> {
  return call<ChatCompletionRequest, ChatCompletion, ChatCompletion | ChatStream>(context, {
    operation: chat,
    request,
    settings,
    toResult: (result) =>
      result.kind === "stream" ? new ChatStream(result.stream, result.requestId) : requireNonStreaming(result).body,
  });
}

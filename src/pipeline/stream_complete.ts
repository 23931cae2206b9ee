/**
 * Streams of providers that cannot stream: each is made of a complete response. Imported with the first such request.
 * @module
 */
import type { CompletionChunk, CompletionRequest, OperationRequest, Provider } from "../contracts/provider.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { splitIntoChunks } from "../util/split_completion.ts";
import type { Connection } from "./connection.ts";
import { chat } from "./operations/chat.ts";
import { readResponse } from "./read_response.ts";

/**
 * Requests a complete response, and splits it into chunks.
 *
 * @throws Any error of the provider, before the first chunk.
 */
export async function* streamComplete(
  provider: Provider,
  { completion, connection, runtime }: {
    readonly completion: OperationRequest;
    readonly connection: Connection;
    readonly runtime: Runtime;
  },
): AsyncGenerator<CompletionChunk> {
  const response = await provider.complete(completion as CompletionRequest, connection);
  connection.passOn(); // the provider has done its part: from now on only the reader takes time
  const received = readResponse(response, completion, chat);
  const { body, billed } = chat.normalize?.(received, completion, runtime) ?? received;
  yield* splitIntoChunks(body, billed);
}

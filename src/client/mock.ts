/**
 * A client without network, for the tests of programs that use one.
 * @module
 */
import { type MockOptions, mockProvider, scriptOf } from "./_mock_script.ts";
import type { MeshClient } from "./client.ts";
import { createClient, type CreateParts } from "./create.ts";

/**
 * Makes the client.
 *
 * @param parts Connectors and runtime.
 * @param options The answers.
 */
export function createMockClient(parts: CreateParts, options: MockOptions): MeshClient {
  return createClient(parts, "chat-completion", { providers: [mockProvider], middleware: scriptOf(options) });
}

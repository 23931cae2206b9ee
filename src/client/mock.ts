/**
 * A client that makes no network calls, for the tests of programs.
 * @module
 */
import { createScript, type MockOptions, mockProvider } from "./_mock_script.ts";
import type { MeshClient } from "./client.ts";
import { createClient, type CreateParts } from "./create.ts";

/**
 * Creates a client whose responses are scripted.
 *
 * @param parts What the shell supplies.
 */
export function createMockClient(parts: CreateParts, options: MockOptions): MeshClient {
  return createClient(parts, "chat-completion", { providers: [mockProvider], middleware: createScript(options) });
}

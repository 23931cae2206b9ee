/**
 * A client without network, for the tests of programs that use one.
 * @module
 */
import { type MockOptions, mockProvider, scriptOf } from "./_mock_script.ts";
import type { MeshClient } from "./client.ts";
import { createClient, type CreateParts } from "./create.ts";

export type { MockOptions, MockResponse } from "./_mock_script.ts";

/**
 * Makes the client.
 *
 * @param parts Connectors and runtime.
 * @param options The answers.
 */
export function createMockClient(parts: CreateParts, options: MockOptions): MeshClient {
  return createClient(parts, {
    config: {
      providers: { mock: { instance: mockProvider } },
      models: { mock: { provider: "mock", capabilities: ["chat-completion"] } },
      pools: { "chat-completion": { models: ["mock"] } },
    },
    env: {},
    middleware: scriptOf(options),
  });
}

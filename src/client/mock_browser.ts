/**
 * The client without network in browsers.
 * @module
 */
import { type MockOptions, mockProvider, scriptOf } from "./_mock_script.ts";
import type { MeshClient } from "./client.ts";
import { type BrowserCreateParts, createBrowserClient } from "./create_browser.ts";

/**
 * Makes the client.
 *
 * @param parts Runtime and strategies.
 * @param options The answers.
 */
export function createBrowserMockClient(parts: BrowserCreateParts, options: MockOptions): MeshClient {
  return createBrowserClient(parts, "chat-completion", { providers: [mockProvider], middleware: scriptOf(options) });
}

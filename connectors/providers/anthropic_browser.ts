/**
 * Anthropic for web pages. The API allows cross-origin requests only with a header that acknowledges that visitors can
 * read the API key.
 *
 * Source: https://github.com/anthropics/anthropic-sdk-typescript, `dangerouslyAllowBrowser`, read 2026-11-21.
 * @module
 */
import type { ProviderConnector } from "../../src/contracts/connector.ts";
import { anthropicConnector } from "./_anthropic_provider.ts";

/** Anthropic's connector for browsers. Use the visitor's own API key: every visitor of a page can read it. */
export const anthropic: ProviderConnector = /* @__PURE__ */ anthropicConnector({
  "anthropic-dangerous-direct-browser-access": "true",
});

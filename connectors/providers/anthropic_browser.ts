/**
 * Anthropic as web pages reach it: its API answers a page only when the page sends a header that admits that its
 * visitor can read the key.
 *
 * Source: https://github.com/anthropics/anthropic-sdk-typescript, `dangerouslyAllowBrowser`, read 2026-11-21.
 * @module
 */
import type { ProviderConnector } from "../../src/contracts/connector.ts";
import { anthropicConnector } from "./_anthropic_provider.ts";

/** Anthropic's connector for browsers. Use a key of this visitor: everyone who has the page has the key. */
export const anthropic: ProviderConnector = /* @__PURE__ */ anthropicConnector({
  "anthropic-dangerous-direct-browser-access": "true",
});

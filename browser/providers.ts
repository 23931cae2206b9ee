/**
 * Providers at a custom URL.
 * @module
 */
export { providerOf } from "../connectors/providers/_instance.ts";
export { BaseProvider } from "../connectors/providers/_base.ts";
export type { FaultReader } from "../connectors/providers/_http.ts";
export type { RetryHint } from "../src/util/retry_after.ts";
export { BrowserBaseProvider } from "../connectors/providers/browser_base.ts";
export { createBrowserProviderConfig } from "../src/config/build/browser_provider.ts";

/**
 * The same client for browsers. A browser has no environment variables, so a page passes its providers explicitly.
 * Bundlers remove the providers and strategies that a page does not import.
 *
 * @example
 * ```ts
 * import { BrowserBaseProvider, create, createBrowserProviderConfig } from "@modelmesh/core/browser";
 *
 * // through a ModelMesh proxy, which holds the API keys
 * const proxy = new BrowserBaseProvider(
 *   createBrowserProviderConfig({ proxyUrl: "http://127.0.0.1:8080", models: ["chat-completion"] }),
 * );
 * const client = create("chat-completion", { providers: [proxy] });
 * console.log(client.describe().pools[0]?.name); // chat-completion
 * ```
 * @module
 */
export * from "./browser/configuration.ts";
export * from "./browser/create.ts";
export * from "./browser/providers.ts";
export * from "./browser/storages.ts";
export * from "./browser/strategies.ts";
export * from "./browser/vendors.ts";
export * from "./src/exports.ts";

/**
 * The same client in a browser, where there is no environment: a page gives the providers it uses. What it does not use
 * is left out by its bundler.
 *
 * @example
 * ```ts
 * import { BrowserBaseProvider, create, createBrowserProviderConfig } from "@modelmesh/core/browser";
 *
 * // through a ModelMesh proxy, which keeps the keys
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

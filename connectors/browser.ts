/**
 * Vendors for pages: their APIs send CORS headers, so that pages can call them.
 * @module
 */
import type { GivenProvider, VendorOptions } from "../src/contracts/browser_provider.ts";
import { geminiConnector } from "./providers/_gemini_provider.ts";
import { providerOf } from "./providers/_instance.ts";
import { openAiCompatible } from "./providers/_openai_compatible.ts";
import { anthropic as anthropicConnector } from "./providers/anthropic_browser.ts";
import { groq as groqVendor } from "./providers/groq.ts";
import { mistral as mistralVendor } from "./providers/mistral.ts";
import { ollama as ollamaVendor } from "./providers/ollama.ts";
import { openai as openaiVendor } from "./providers/openai.ts";
import { openrouter as openrouterVendor } from "./providers/openrouter.ts";

/**
 * Creates a provider for OpenAI.
 *
 * @param options The visitor's API key, and models.
 * @throws {ConfigError} If there is no API key.
 *
 * @example
 * ```ts
 * import { browserSecrets, create, openai } from "@modelmesh/core/browser";
 *
 * const secrets = browserSecrets();
 * const client = create("chat-completion", {
 *   providers: [openai({ apiKey: () => secrets.get("OPENAI_API_KEY") })],
 * });
 * ```
 */
export function openai(options: VendorOptions): GivenProvider {
  return providerOf(openAiCompatible(openaiVendor), options);
}

/**
 * Creates a provider for Anthropic (Claude).
 *
 * @param options The visitor's API key, and models.
 * @throws {ConfigError} If there is no API key.
 */
export function anthropic(options: VendorOptions): GivenProvider {
  return providerOf(anthropicConnector, options);
}

/**
 * Creates a provider for Google Gemini; its id defaults to `google`.
 *
 * @param options The visitor's API key, and models.
 * @throws {ConfigError} If there is no API key.
 */
export function gemini(options: VendorOptions): GivenProvider {
  return providerOf(geminiConnector, options);
}

/**
 * Creates a provider for Groq.
 *
 * @param options The visitor's API key, and models.
 * @throws {ConfigError} If there is no API key.
 */
export function groq(options: VendorOptions): GivenProvider {
  return providerOf(openAiCompatible(groqVendor), options);
}

/**
 * Creates a provider for Mistral.
 *
 * @param options The visitor's API key, and models.
 * @throws {ConfigError} If there is no API key.
 */
export function mistral(options: VendorOptions): GivenProvider {
  return providerOf(openAiCompatible(mistralVendor), options);
}

/**
 * Creates a provider for OpenRouter, a gateway to many vendors.
 *
 * @param options The visitor's API key, and models.
 * @throws {ConfigError} If there is no API key.
 */
export function openrouter(options: VendorOptions): GivenProvider {
  return providerOf(openAiCompatible(openrouterVendor), options);
}

/**
 * Creates a provider for Ollama on the visitor's machine. Its models are listed by the server unless specified.
 *
 * @param options Base URL and models.
 *
 * @example
 * ```ts
 * import { create, ollama } from "@modelmesh/core/browser";
 *
 * const client = create("chat-completion", { providers: [ollama()] });
 * ```
 */
export function ollama(options: VendorOptions = {}): GivenProvider {
  return providerOf(openAiCompatible(ollamaVendor), options);
}

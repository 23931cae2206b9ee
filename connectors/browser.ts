/**
 * Vendors for pages: those whose API answers web pages, that is, sends CORS headers.
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
 * OpenAI.
 *
 * @param options The visitor's key, the models.
 * @throws {ConfigError} When there is no key.
 *
 * @example
 * ```ts ignore
 * const client = create("chat-completion", { providers: [openai({ apiKey: () => secrets.get("OPENAI_API_KEY") })] });
 * ```
 */
export function openai(options: VendorOptions): GivenProvider {
  return providerOf(openAiCompatible(openaiVendor), options);
}

/**
 * Anthropic: Claude.
 *
 * @param options The visitor's key, the models.
 * @throws {ConfigError} When there is no key.
 */
export function anthropic(options: VendorOptions): GivenProvider {
  return providerOf(anthropicConnector, options);
}

/**
 * Google Gemini; its id is `google` unless given.
 *
 * @param options The visitor's key, the models.
 * @throws {ConfigError} When there is no key.
 */
export function gemini(options: VendorOptions): GivenProvider {
  return providerOf(geminiConnector, options);
}

/**
 * Groq.
 *
 * @param options The visitor's key, the models.
 * @throws {ConfigError} When there is no key.
 */
export function groq(options: VendorOptions): GivenProvider {
  return providerOf(openAiCompatible(groqVendor), options);
}

/**
 * Mistral.
 *
 * @param options The visitor's key, the models.
 * @throws {ConfigError} When there is no key.
 */
export function mistral(options: VendorOptions): GivenProvider {
  return providerOf(openAiCompatible(mistralVendor), options);
}

/**
 * OpenRouter, a gateway to many vendors.
 *
 * @param options The visitor's key, the models.
 * @throws {ConfigError} When there is no key.
 */
export function openrouter(options: VendorOptions): GivenProvider {
  return providerOf(openAiCompatible(openrouterVendor), options);
}

/**
 * Ollama on the visitor's own machine, asked for its models unless they are given.
 *
 * @param options Its address and models.
 *
 * @example
 * ```ts ignore
 * const client = create("chat-completion", { providers: [ollama()] });
 * ```
 */
export function ollama(options: VendorOptions = {}): GivenProvider {
  return providerOf(openAiCompatible(ollamaVendor), options);
}

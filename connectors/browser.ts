/**
 * The connectors that run in a browser. Vendors are here whose API answers web pages, that is, sends CORS headers.
 * @module
 */
import type { ProviderInstance, VendorOptions } from "../src/contracts/browser_provider.ts";
import type { Connector } from "../src/contracts/connector.ts";
import { consoleObservability } from "./observability/console.ts";
import { providerOf } from "./providers/_instance.ts";
import { anthropic as anthropicConnector } from "./providers/anthropic_browser.ts";
import { gemini as geminiConnector } from "./providers/gemini.ts";
import { groq as groqConnector } from "./providers/groq.ts";
import { mistral as mistralConnector } from "./providers/mistral.ts";
import { ollama as ollamaConnector } from "./providers/ollama.ts";
import { openai as openaiConnector } from "./providers/openai.ts";
import { openaiCompatible } from "./providers/openai_compatible.ts";
import { openrouter as openrouterConnector } from "./providers/openrouter.ts";
import { envSecrets } from "./secrets/env.ts";
import { costFirst } from "./strategies/cost_first.ts";
import { latencyFirst } from "./strategies/latency_first.ts";
import { loadBalanced } from "./strategies/load_balanced.ts";
import { prioritySelection } from "./strategies/priority_selection.ts";
import { rateLimitAware } from "./strategies/rate_limit_aware.ts";
import { roundRobin } from "./strategies/round_robin.ts";
import { sessionStickiness } from "./strategies/session_stickiness.ts";
import { stickUntilFailure } from "./strategies/stick_until_failure.ts";

export { ollamaConnector, prioritySelection, roundRobin, stickUntilFailure };

/** All of them, for configurations; providers in order of preference. */
export const browserConnectors: readonly Connector[] = [
  openaiConnector,
  anthropicConnector,
  geminiConnector,
  groqConnector,
  mistralConnector,
  openrouterConnector,
  ollamaConnector,
  openaiCompatible,
  stickUntilFailure,
  roundRobin,
  costFirst,
  latencyFirst,
  prioritySelection,
  rateLimitAware,
  loadBalanced,
  sessionStickiness,
  envSecrets,
  consoleObservability,
];

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
export function openai(options: VendorOptions): ProviderInstance {
  return providerOf(openaiConnector, options);
}

/**
 * Anthropic: Claude.
 *
 * @param options The visitor's key, the models.
 * @throws {ConfigError} When there is no key.
 */
export function anthropic(options: VendorOptions): ProviderInstance {
  return providerOf(anthropicConnector, options);
}

/**
 * Google Gemini; its id is `google` unless given.
 *
 * @param options The visitor's key, the models.
 * @throws {ConfigError} When there is no key.
 */
export function gemini(options: VendorOptions): ProviderInstance {
  return providerOf(geminiConnector, options);
}

/**
 * Groq.
 *
 * @param options The visitor's key, the models.
 * @throws {ConfigError} When there is no key.
 */
export function groq(options: VendorOptions): ProviderInstance {
  return providerOf(groqConnector, options);
}

/**
 * Mistral.
 *
 * @param options The visitor's key, the models.
 * @throws {ConfigError} When there is no key.
 */
export function mistral(options: VendorOptions): ProviderInstance {
  return providerOf(mistralConnector, options);
}

/**
 * OpenRouter, a gateway to many vendors.
 *
 * @param options The visitor's key, the models.
 * @throws {ConfigError} When there is no key.
 */
export function openrouter(options: VendorOptions): ProviderInstance {
  return providerOf(openrouterConnector, options);
}

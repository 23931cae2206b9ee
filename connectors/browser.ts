/**
 * The connectors that run in a browser. Vendors are here whose API answers web pages, that is, sends CORS headers.
 * @module
 */
import type { GivenProvider, VendorOptions } from "../src/contracts/browser_provider.ts";
import type { Connector, ProviderConnector } from "../src/contracts/connector.ts";
import { healthMonitor } from "./discovery/health_monitor.ts";
import { registrySync } from "./discovery/registry_sync.ts";
import { consoleObservability } from "./observability/console.ts";
import { nullObservability } from "./observability/null.ts";
import { geminiConnector } from "./providers/_gemini_provider.ts";
import { providerOf } from "./providers/_instance.ts";
import { openAiCompatible } from "./providers/_openai_compatible.ts";
import { anthropic as anthropicConnector } from "./providers/anthropic_browser.ts";
import { groq as groqVendor } from "./providers/groq.ts";
import { mistral as mistralVendor } from "./providers/mistral.ts";
import { ollama as ollamaVendor } from "./providers/ollama.ts";
import { openai as openaiVendor } from "./providers/openai.ts";
import { openaiCompatible as compatibleVendor } from "./providers/openai_compatible.ts";
import { openrouter as openrouterVendor } from "./providers/openrouter.ts";
import { envSecrets } from "./secrets/env.ts";
import { costFirst } from "./strategies/cost_first.ts";
import { latencyFirst } from "./strategies/latency_first.ts";
import { loadBalanced } from "./strategies/load_balanced.ts";
import { prioritySelection } from "./strategies/priority_selection.ts";
import { rateLimitAware } from "./strategies/rate_limit_aware.ts";
import { roundRobin } from "./strategies/round_robin.ts";
import { sessionStickiness } from "./strategies/session_stickiness.ts";
import { stickUntilFailure } from "./strategies/stick_until_failure.ts";

export { costFirst, latencyFirst, loadBalanced, prioritySelection };
export { rateLimitAware, roundRobin, sessionStickiness, stickUntilFailure };

/** Ollama's connector. */
export const ollamaConnector: ProviderConnector = /* @__PURE__ */ openAiCompatible(ollamaVendor);

/**
 * All that a configuration may name, providers in order of preference. A function, so that bundlers can leave out what
 * it names; nothing here is imported later on, which would keep bundlers from that.
 */
export function browserConnectors(): readonly Connector[] {
  return [
    openAiCompatible(openaiVendor),
    anthropicConnector,
    geminiConnector,
    openAiCompatible(groqVendor),
    openAiCompatible(mistralVendor),
    openAiCompatible(openrouterVendor),
    ollamaConnector,
    openAiCompatible(compatibleVendor),
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
    nullObservability,
    registrySync,
    healthMonitor,
  ];
}

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

/**
 * All connectors for pages. Loaded by pages with a configuration, which may name any connector.
 * @module
 */
import type { Connector, PluggableConnector } from "../src/contracts/connector.ts";
import { healthMonitor } from "./discovery/health_monitor.ts";
import { registrySync } from "./discovery/registry_sync.ts";
import * as guards from "./guards/declarations.ts";
import { consoleObservability } from "./observability/console.ts";
import { nullObservability } from "./observability/declarations.ts";
import { type OpenAiCompatible, withDialectAttributes } from "./providers/_openai_vendor.ts";
import { geminiConnector } from "./providers/_gemini_provider.ts";
import { openAiCompatible } from "./providers/_openai_compatible.ts";
import { anthropic } from "./providers/anthropic_browser.ts";
import { groq } from "./providers/groq.ts";
import { mistral } from "./providers/mistral.ts";
import { ollama } from "./providers/ollama.ts";
import { openai } from "./providers/openai.ts";
import { openaiCompatible } from "./providers/openai_compatible.ts";
import { openrouter } from "./providers/openrouter.ts";
import { envSecrets } from "./secrets/declarations.ts";
import { costFirst } from "./strategies/cost_first.ts";
import { latencyFirst } from "./strategies/latency_first.ts";
import { loadBalanced } from "./strategies/load_balanced.ts";
import { prioritySelection } from "./strategies/priority_selection.ts";
import { rateLimitAware } from "./strategies/rate_limit_aware.ts";
import { roundRobin } from "./strategies/round_robin.ts";
import { sessionStickiness } from "./strategies/session_stickiness.ts";
import { stickUntilFailure } from "./strategies/stick_until_failure.ts";

/**
 * All connectors that a configuration may name, providers in order of preference. A function, so that the import has no
 * side effects.
 */
export function browserConnectors(): readonly PluggableConnector[] {
  return [
    configured(openai),
    anthropic,
    geminiConnector,
    configured(groq),
    configured(mistral),
    configured(openrouter),
    configured(ollama),
    configured(openaiCompatible),
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
    { ...guards.regexDeclaration, load: async () => await (await import("./guards/regex.ts")).loadRegexGuard() },
    { ...guards.piiDeclaration, load: async () => (await import("./guards/pii.ts")).piiGuard },
    { ...guards.moderationDeclaration, load: async () => (await import("./guards/moderation.ts")).moderationGuard },
    { ...guards.webhookGuardDeclaration, load: async () => (await import("./guards/webhook.ts")).webhookGuard },
  ];
}

/** The connector of a vendor with OpenAI's dialect, with all settings of a configuration. */
function configured(vendor: OpenAiCompatible): Connector {
  return openAiCompatible(withDialectAttributes(vendor));
}

/**
 * The connectors that run in a browser. Vendors are here whose API answers web pages, that is, sends CORS headers.
 * @module
 */
import type { Connector } from "../src/contracts/connector.ts";
import { consoleObservability } from "./observability/console.ts";
import { anthropic } from "./providers/anthropic_browser.ts";
import { gemini } from "./providers/gemini.ts";
import { groq } from "./providers/groq.ts";
import { mistral } from "./providers/mistral.ts";
import { ollama } from "./providers/ollama.ts";
import { openai } from "./providers/openai.ts";
import { openaiCompatible } from "./providers/openai_compatible.ts";
import { openrouter } from "./providers/openrouter.ts";
import { envSecrets } from "./secrets/env.ts";
import { prioritySelection } from "./strategies/priority_selection.ts";
import { roundRobin } from "./strategies/round_robin.ts";
import { stickUntilFailure } from "./strategies/stick_until_failure.ts";

export { anthropic, gemini, groq, mistral, ollama, openai, openrouter };

/** The strategies, for clients whose providers are given. */
export const browserStrategies: readonly Connector<"strategy">[] = [stickUntilFailure, roundRobin, prioritySelection];

/** All of them, for configurations; providers in order of preference. */
export const browserConnectors: readonly Connector[] = [
  openai,
  anthropic,
  gemini,
  groq,
  mistral,
  openrouter,
  ollama,
  openaiCompatible,
  stickUntilFailure,
  roundRobin,
  prioritySelection,
  envSecrets,
  consoleObservability,
];

/**
 * Anthropic: Claude through the Messages API; its models, and the differences between their generations: extended
 * thinking, sampling parameters, forced tools, JSON Schema.
 *
 * Sources, read 2026-11-21: https://platform.claude.com/docs/en/api/overview, /build-with-claude/thinking and /effort,
 * the models' migration guides there, and the types of `@anthropic-ai/sdk` 1.11.0.
 * @module
 */
import type { ProviderDeclaration } from "../../src/contracts/connector.ts";
import type { DatedPricing, ModelInfo, ParameterRules } from "../../src/contracts/provider.ts";
import { once } from "../../src/util/once.ts";
import { knownModels } from "./_catalogue.ts";
import { anthropic as entries } from "./catalogue/page_vendors.ts";

/**
 * Rules of all models: the API's own patterns, and errors that it responds with (loomcycle#326: combined parameters).
 * Arguments are objects there.
 */
export const claudeRules: ParameterRules = {
  tool_call_ids: { characters: "word", max_length: 64 },
  repeated_call_ids: false,
  tool_names: { characters: "word", max_length: 128 },
  blank_stop_sequences: false,
  combined_parameters: false,
};

/**
 * Prices of a Claude model that are not configured. Writes to the prompt cache cost 1.25 times as much as input, those
 * for one hour twice as much (https://platform.claude.com/docs/en/about-claude/pricing).
 */
export function completeClaudePrices(row: DatedPricing): DatedPricing {
  const { input } = row;
  if (input === undefined || row.cache_write !== undefined && row.cache_write_1h !== undefined) return row;
  return { cache_write: input * 1.25, cache_write_1h: input * 2, ...row };
}

/** Effort levels, ascending. */
export const effortLevels = ["low", "medium", "high", "xhigh", "max"] as const;

/** One of {@linkcode effortLevels}. */
export type Effort = typeof effortLevels[number];

/** The features of a generation of models. */
export interface Generation {
  /** How thinking is configured: by a token budget, by an effort level, or not at all. */
  readonly thinking: "none" | "budget" | "adaptive";
  /** Supported effort levels, ascending. */
  readonly efforts: readonly Effort[];
  /** How thinking is disabled; omitted if it cannot be. */
  readonly off?: "say nothing" | "disabled" | "between_tools";
  /** Whether `temperature`, `top_p` and `top_k` are accepted. */
  readonly sampling: boolean;
  /** Whether a tool call can be forced. */
  readonly forcedTools: boolean;
  /** Whether JSON Schema is enforced, in responses and strict tools. */
  readonly schemas: boolean;
}

/** The newest generation; also the conservative default for unknown models. */
const newest: Generation = {
  thinking: "adaptive",
  efforts: effortLevels,
  sampling: false,
  forcedTools: true,
  schemas: true,
};

const budgeted: Generation = {
  thinking: "budget",
  efforts: [],
  off: "say nothing",
  sampling: true,
  forcedTools: true,
  schemas: true,
};

/** The first pattern that matches a model id applies. */
const generations = (): readonly (readonly [RegExp, Generation])[] => [
  [/sonnet-5-5/, { ...newest, off: "between_tools", forcedTools: false }],
  [/opus-5-5|(fable|mythos)-5-[12]/, { ...newest, forcedTools: false }],
  [/haiku-5-5/, { ...newest, off: "disabled" }],
  [/fable|mythos/, newest],
  [/(opus|sonnet)-5/, { ...newest, off: "disabled" }],
  [/opus-4-[78]/, { ...newest, off: "say nothing" }],
  [/(opus|sonnet)-4-6/, { ...newest, efforts: ["low", "medium", "high", "max"], off: "say nothing", sampling: true }],
  [/-4-5|opus-4-1/, budgeted],
  [/(opus|sonnet)-4|claude-3-7/, { ...budgeted, schemas: false }],
  [/claude-(instant|2|3)/, { ...budgeted, thinking: "none", schemas: false }],
];

/**
 * The generation of a model.
 *
 * @param model The model id; prefixes and dates are ignored.
 */
export function findGeneration(model: string): Generation {
  return generations().find(([pattern]) => pattern.test(model))?.[1] ?? newest;
}

/**
 * Whether a model is a Claude model, on any cloud.
 *
 * @param model The model id.
 */
export function isClaude(model: string): boolean {
  return /claude/i.test(model);
}

const features = { structured_output: true, json_mode: false, system_prompt: true, logprobs: false };

/** The models available to a new account, most capable first. */
export const anthropicModels: () => readonly ModelInfo[] = /* @__PURE__ */ once(() =>
  knownModels(entries, { features, findRules: ({ id }) => findClaudeRules(id) })
);

function findClaudeRules(id: string): ParameterRules | undefined {
  return findGeneration(id).sampling ? undefined : { drop: ["temperature", "top_p", "top_k"] };
}

/**
 * The catalogue entry of a model.
 *
 * @param id The model id, with or without a snapshot date.
 */
export function knownModel(id: string): ModelInfo | undefined {
  const name = id.replace(/-\d{8}$/, "");
  const listed = anthropicModels().find((entry) => entry.id === name);
  return listed === undefined || listed.id === id ? listed : { ...listed, id };
}

/**
 * Model facts from the API's model list.
 *
 * @param entry An entry of `GET /v1/models`.
 * @returns Undefined if the entry has no id.
 */
export function listedModel(entry: unknown): ModelInfo | undefined {
  const { id, max_input_tokens, max_tokens, capabilities: listed } = (entry ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof id !== "string") return undefined;
  const info = knownModel(id);
  if (info !== undefined) return info;
  const can = (name: string) => {
    const { supported } = ((listed ?? {}) as Record<string, { supported?: unknown } | undefined>)[name] ?? {};
    return typeof supported === "boolean" ? supported : undefined;
  };
  const vision = can("image_input");
  const structured = can("structured_outputs");
  const parameters = findClaudeRules(id);
  return {
    id,
    features: {
      json_mode: false,
      logprobs: false,
      audio_input: false,
      ...(vision === undefined ? {} : { vision }),
      ...(structured === undefined ? {} : { structured_output: structured }),
    },
    constraints: {
      ...(typeof max_input_tokens === "number" ? { context_window: max_input_tokens } : {}),
      ...(typeof max_tokens === "number" ? { max_output_tokens: max_tokens } : {}),
    },
    ...(parameters === undefined ? {} : { parameters }),
  };
}

/**
 * Anthropic. `ANTHROPIC_AUTH_TOKEN` is not detected as a key: a token is sent in another header than an API key, and at
 * the time of a call the two cannot be distinguished.
 */
export const anthropic: ProviderDeclaration = {
  kind: "provider",
  queries: [],
  completePrices: completeClaudePrices,
  promptCache: { marks: true },
  id: "anthropic.claude.v1",
  vendor: "anthropic",
  otherNames: ["claude"],
  credentialHeader: "x-api-key",
  detection: { keys: ["ANTHROPIC_API_KEY"], baseUrl: ["ANTHROPIC_BASE_URL"] },
  get models() {
    return anthropicModels();
  },
  attributes: {},
  parameters: {
    drop: ["frequency_penalty", "presence_penalty", "seed", "logit_bias", "verbosity"],
    refuse: ["n", "logprobs", "audio", "functions", "web_search_options"],
    ...claudeRules,
  },
};

/**
 * Anthropic's models: what they can do, and what they cost.
 * @module
 */
import type { DatedPricing, ModelInfo } from "../../src/contracts/provider.ts";
import { generationOf } from "./_anthropic_generations.ts";

const source = "platform.claude.com: models, pricing and the models' migration guides, read 2026-11-21";

const capabilities = [
  "generation.text-generation.chat-completion",
  "generation.text-generation.code-generation",
  "interaction.tool-calling",
  "generation.structured-generation.json-generation",
  "understanding.vision-understanding.image-captioning",
];

const features = {
  tool_calling: true,
  structured_output: true,
  json_mode: false,
  system_prompt: true,
  logprobs: false,
  vision: true,
  audio_input: false,
  reasoning: true,
};

const large = { context_window: 1_000_000, max_output_tokens: 128_000 };
const small = { context_window: 200_000, max_output_tokens: 64_000 };

/** Cache writes are those that last five minutes; those of an hour cost 1.6 times as much. */
function price(input: number, output: number, cachedInput: number, cacheWrite: number): DatedPricing {
  return { input, output, cached_input: cachedInput, cache_write: cacheWrite };
}

function model(id: string, constraints: ModelInfo["constraints"], ...pricing: readonly DatedPricing[]): ModelInfo {
  return {
    id,
    capabilities,
    features,
    constraints,
    pricing,
    ...(generationOf(id).sampling ? {} : { parameters: { drop: ["temperature", "top_p", "top_k"] } }),
    source,
  };
}

/** The models a new account can call, the most able first. */
export const anthropicModels: readonly ModelInfo[] = /* @__PURE__ */ makeModels();

function makeModels(): readonly ModelInfo[] {
  return [
    model("claude-fable-5-2", large, price(8, 40, 0.2, 10)),
    model("claude-fable-5-1", large, price(10, 50, 0.25, 12.5)),
    model("claude-fable-5", large, price(10, 50, 1, 12.5)),
    model("claude-opus-5-5", large, price(4, 20, 0.2, 5)),
    model("claude-opus-5", large, price(5, 25, 0.5, 6.25)),
    model("claude-opus-4-8", large, price(5, 25, 0.5, 6.25)),
    {
      ...model("claude-sonnet-5-5", large, price(2, 10, 0.2, 2.5), { ...price(2, 10, 0.1, 2.5), from: "2026-10-07" }),
      defaultFor: ["chat-completion"],
    },
    model("claude-sonnet-5", large, price(2, 10, 0.2, 2.5)),
    model("claude-sonnet-4-6", large, price(3, 15, 0.3, 3.75)),
    model("claude-haiku-5-5", large, price(0.1, 0.5, 0.01, 0.125), {
      ...price(0.5, 2.5, 0.05, 0.625),
      above_tokens: 100_000,
    }),
    model("claude-haiku-4-5", small, price(1, 5, 0.1, 1.25)),
  ];
}

/**
 * What is known of a model.
 *
 * @param id Its id, with or without the date of a snapshot.
 */
export function knownModel(id: string): ModelInfo | undefined {
  const name = id.replace(/-\d{8}$/, "");
  const known = anthropicModels.find((entry) => entry.id === name);
  return known === undefined || known.id === id ? known : { ...known, id };
}

/**
 * A model of the API's own list.
 *
 * @param entry An entry of `GET /v1/models`.
 * @returns Undefined when it has no id.
 */
export function listedModel(entry: unknown): ModelInfo | undefined {
  const { id, max_input_tokens, max_tokens, capabilities: able } = (entry ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof id !== "string") return undefined;
  const known = knownModel(id);
  if (known !== undefined) return known;
  const can = (name: string) => {
    const { supported } = ((able ?? {}) as Record<string, { supported?: unknown } | undefined>)[name] ?? {};
    return typeof supported === "boolean" ? supported : undefined;
  };
  const vision = can("image_input");
  const structured = can("structured_outputs");
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
    ...(generationOf(id).sampling ? {} : { parameters: { drop: ["temperature", "top_p", "top_k"] } }),
  };
}

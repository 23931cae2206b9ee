/**
 * Anthropic's models: capabilities and prices.
 * @module
 */
import type { ModelInfo, ParameterRules } from "../../src/contracts/provider.ts";
import { once } from "../../src/util/once.ts";
import { findGeneration } from "./_anthropic_generations.ts";
import { knownModels } from "./_catalogue.ts";
import { entries } from "./catalogue/anthropic.ts";

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
  const known = anthropicModels().find((entry) => entry.id === name);
  return known === undefined || known.id === id ? known : { ...known, id };
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
  const known = knownModel(id);
  if (known !== undefined) return known;
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

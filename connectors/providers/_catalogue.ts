/**
 * What the vendors' lists of known models are written with.
 * @module
 */
import type {
  CapabilityPath,
  DatedPricing,
  ModelConstraints,
  ModelFeatures,
  ModelInfo,
  ParameterRules,
} from "../../src/contracts/provider.ts";

/** Where most facts come from. */
export const modelsDev = "models.dev 2026-07-02";
/** Where newer prices come from. */
export const genaiPrices = "genai-prices 2026-08-21";

const textGeneration = "generation.text-generation";

/** What is known of a model. */
export interface ModelFacts {
  /** Tokens read and written together. */
  readonly window?: number;
  /** Tokens written per request. */
  readonly maxOutput?: number;
  /** Prices, oldest first; unknown ones are left out. */
  readonly pricing?: readonly DatedPricing[];
  /** Whether it is its provider's choice for all that it can do. */
  readonly isDefault?: boolean;
  /** Flags beyond those of the letters. */
  readonly features?: ModelFeatures;
  /** How requests are reworded for it. */
  readonly parameters?: ParameterRules;
  /** Where the facts come from. @default {modelsDev} */
  readonly source?: string;
}

/** What is known of a chat model. */
export interface ChatModelFacts extends ModelFacts {
  /**
   * What it can do, in letters: `T` calls functions, `S` answers by a JSON Schema, `R` reasons, `V` reads images,
   * `A` hears. A missing letter means that it cannot, save `S`, which sources often just do not state. Left out when
   * nothing of it is known.
   */
  readonly can?: string;
  /** Further leaves it serves, full paths. */
  readonly also?: readonly CapabilityPath[];
}

/**
 * A model that chats.
 *
 * @param id The id its provider knows it by.
 * @param facts What is known of it.
 *
 * @example
 * ```ts ignore
 * chatModel("acme-small", { can: "TS", window: 128_000, pricing: [{ input: 0.1, output: 0.3 }] });
 * ```
 */
export function chatModel(id: string, facts: ChatModelFacts): ModelInfo {
  const { can = "", also = [] } = facts;
  const capabilities = [
    `${textGeneration}.chat-completion`,
    `${textGeneration}.code-generation`,
    ...(can.includes("T") ? ["interaction.tool-calling"] : []),
    ...(can.includes("S") ? ["generation.structured-generation.json-generation"] : []),
    ...(can.includes("V") ? ["understanding.vision-understanding.image-captioning"] : []),
    ...also,
  ];
  return modelInfo(id, capabilities, { ...facts, features: { ...featuresOf(facts.can), ...facts.features } });
}

/**
 * A model that does one thing other than chat.
 *
 * @param id The id its provider knows it by.
 * @param capability Full path of the leaf it serves.
 * @param facts What is known of it.
 *
 * @example
 * ```ts ignore
 * singleModel("acme-embed", "representation.embeddings.text-embeddings", { pricing: [{ input: 0.02 }] });
 * ```
 */
export function singleModel(id: string, capability: CapabilityPath, facts: ModelFacts): ModelInfo {
  return modelInfo(id, [capability], facts);
}

function modelInfo(id: string, capabilities: readonly CapabilityPath[], facts: ModelFacts): ModelInfo {
  const { window, maxOutput, pricing, features = {}, parameters, isDefault = false, source = modelsDev } = facts;
  const constraints: ModelConstraints = {
    ...(window === undefined ? {} : { context_window: window }),
    ...(maxOutput === undefined ? {} : { max_output_tokens: maxOutput }),
  };
  return {
    id,
    capabilities,
    features,
    constraints,
    ...(pricing === undefined ? {} : { pricing }),
    ...(parameters === undefined ? {} : { parameters }),
    ...(isDefault ? { defaultFor: capabilities.map((path) => path.slice(path.lastIndexOf(".") + 1)) } : {}),
    source,
  };
}

function featuresOf(can: string | undefined): ModelFeatures {
  if (can === undefined) return {};
  return {
    tool_calling: can.includes("T"),
    ...(can.includes("S") ? { structured_output: true, json_mode: true } : {}),
    reasoning: can.includes("R"),
    vision: can.includes("V"),
    audio_input: can.includes("A"),
  };
}

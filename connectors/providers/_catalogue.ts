/**
 * What the vendors' lists of known models are written with. The lists are data, in `catalogue/`: `deno task catalogue`
 * compares them with public sources.
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

const textGeneration = "generation.text-generation";

/** What is known of a model. */
export interface CatalogueEntry {
  /** The id its provider knows it by. */
  readonly id: string;
  /** Full paths of the leaves it serves; those of a model that chats, when left out. */
  readonly serves?: readonly CapabilityPath[];
  /**
   * What a model that chats can do, in letters: `T` calls functions, `S` answers by a JSON Schema, `R` reasons, `V`
   * reads images, `A` hears. A missing letter means that it cannot, save `S`, which sources often just do not state.
   * Left out when nothing of it is known.
   */
  readonly can?: string;
  /** Leaves that a model serves beside chat, full paths. */
  readonly also?: readonly CapabilityPath[];
  /** Flags beyond those of the letters. */
  readonly features?: ModelFeatures;
  /** Tokens read and written together. */
  readonly window?: number;
  /** Tokens written per request. */
  readonly maxOutput?: number;
  /** Numbers in an embedding, unless a request asks for fewer. */
  readonly dimensions?: number;
  /** The space of its embeddings. */
  readonly space?: string;
  /** The vendor's voices, with spaces between; by the name that is asked for, where that is another. */
  readonly voices?: string | Readonly<Record<string, string>>;
  /** Response formats of a transcription, or formats of the sound of a speech, with spaces between. */
  readonly formats?: string;
  /** ISO codes of the languages it takes, with spaces between. */
  readonly languages?: string;
  /** Which of the vendor's rules reword requests for it. */
  readonly rules?: string;
  /** Whether it is its provider's choice for all that it serves. */
  readonly isDefault?: boolean;
  /** Prices, oldest first, and from small prompts to large ones; null when nothing is known. */
  readonly pricing: readonly DatedPricing[] | null;
  /** Where the facts come from. */
  readonly source: string;
  /** ISO date on which the source was read. */
  readonly asOf: string;
}

/** What a vendor says of all its models. */
export interface VendorRules {
  /** Flags of all that chat. */
  readonly features?: ModelFeatures;
  /** How requests are reworded for a model. */
  readonly rulesOf?: (entry: CatalogueEntry) => ParameterRules | undefined;
}

/**
 * The models of a vendor's list.
 *
 * @param entries The list.
 * @param vendor What holds for all of them.
 *
 * @example
 * ```ts ignore
 * knownModels([{ id: "acme-small", can: "TS", window: 128_000, pricing: null, source: "acme.example", asOf: "2026-11-22" }]);
 * ```
 */
export function knownModels(entries: readonly CatalogueEntry[], vendor: VendorRules = {}): readonly ModelInfo[] {
  return entries.map((entry) => modelOf(entry, vendor));
}

function modelOf(entry: CatalogueEntry, { features, rulesOf }: VendorRules): ModelInfo {
  const { id, serves, can, pricing, dimensions, formats, space, voices, isDefault = false, source, asOf } = entry;
  const capabilities = serves ?? chatLeaves(entry);
  const parameters = rulesOf?.(entry);
  return {
    id,
    capabilities,
    features: serves === undefined ? { ...featuresOf(can), ...features, ...entry.features } : entry.features ?? {},
    constraints: constraintsOf(entry),
    ...(pricing === null ? {} : { pricing }),
    ...(parameters === undefined ? {} : { parameters }),
    ...(isDefault ? { defaultFor: capabilities.map((path) => path.slice(path.lastIndexOf(".") + 1)) } : {}),
    ...(dimensions === undefined ? {} : { dimensions }),
    ...(formats === undefined ? {} : { response_formats: formats.split(" ") }),
    ...(space === undefined ? {} : { embedding_space: space }),
    ...(voices === undefined ? {} : { voices: voicesOf(voices) }),
    source,
    asOf,
  };
}

function chatLeaves({ can = "", also = [] }: CatalogueEntry): readonly CapabilityPath[] {
  return [
    `${textGeneration}.chat-completion`,
    `${textGeneration}.code-generation`,
    ...(can.includes("T") ? ["interaction.tool-calling"] : []),
    ...(can.includes("S") ? ["generation.structured-generation.json-generation"] : []),
    ...(can.includes("V") ? ["understanding.vision-understanding.image-captioning"] : []),
    ...also,
  ];
}

function constraintsOf({ window, maxOutput, languages }: CatalogueEntry): ModelConstraints {
  return {
    ...(window === undefined ? {} : { context_window: window }),
    ...(maxOutput === undefined ? {} : { max_output_tokens: maxOutput }),
    ...(languages === undefined ? {} : { supported_languages: languages.split(" ") }),
  };
}

function voicesOf(voices: NonNullable<CatalogueEntry["voices"]>): Readonly<Record<string, string>> {
  return typeof voices === "string" ? Object.fromEntries(voices.split(" ").map((voice) => [voice, voice])) : voices;
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

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
  OperationName,
  ParameterRules,
} from "../../src/contracts/provider.ts";
import { effortsFor } from "./_efforts.ts";

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
  /** Largest file it takes, bytes; 0: none, only addresses. */
  readonly maxFile?: number;
  /** Numbers in an embedding, unless a request asks for fewer. */
  readonly dimensions?: number;
  /** Whether its embeddings have that size alone: a request for another one skips it. */
  readonly hasFixedSize?: boolean;
  /** The space of its embeddings; its own, which its id names, when left out. */
  readonly space?: string;
  /** Whether it makes one image for a request: one for several skips it. */
  readonly hasOneImage?: boolean;
  /** Images that a request may bring. */
  readonly maxImages?: number;
  /** The vendor's voices, with spaces between; the first one speaks for any that it lacks. */
  readonly voices?: string;
  /** Response formats of a transcription or of images, or formats of the sound of a speech, with spaces between. */
  readonly formats?: string;
  /** Operations of its leaves that it does not perform. */
  readonly lacks?: readonly OperationName[];
  /** ISO codes of the languages it takes, with spaces between. */
  readonly languages?: string;
  /** The values of `reasoning_effort` it takes, the weakest first, with spaces between; all, when left out. */
  readonly efforts?: string;
  /** Which of the vendor's rules reword requests for it. */
  readonly rules?: string;
  /** Whether it is its provider's choice for all that it serves. */
  readonly isDefault?: boolean;
  /** Prices, oldest first, and from small prompts to large ones; null when nothing is known. */
  readonly pricing: readonly DatedPricing[] | null;
  /** ISO date from which its provider does not answer for it any more, where one is announced. */
  readonly retires?: string;
  /** Where the facts come from, and the ISO date on which that was read. */
  readonly source: readonly [name: string, date: string];
}

/** What a vendor says of all its models. */
interface VendorRules {
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
 * knownModels([{ id: "acme-small", can: "TS", window: 128_000, pricing: null, source: ["acme.example", "2026-11-22"] }]);
 * ```
 */
export function knownModels(entries: readonly CatalogueEntry[], vendor: VendorRules = {}): readonly ModelInfo[] {
  return entries.map((entry) => modelOf(entry, vendor));
}

function modelOf(entry: CatalogueEntry, vendor: VendorRules): ModelInfo {
  const { id, serves, can, pricing, retires, isDefault = false, source: [source, asOf] } = entry;
  const capabilities = serves ?? chatLeaves(entry);
  const features = serves === undefined
    ? { ...featuresOf(can), ...vendor.features, ...entry.features }
    : entry.features;
  const parameters = fixedRules(entry) ?? chatRules(entry, vendor.rulesOf?.(entry));
  return {
    id,
    capabilities,
    features: features ?? {},
    constraints: constraintsOf(entry),
    ...(pricing === null ? {} : { pricing }),
    ...(parameters === undefined ? {} : { parameters }),
    ...(isDefault ? { defaultFor: capabilities.map((path) => path.slice(path.lastIndexOf(".") + 1)) } : {}),
    ...embeddingFacts(entry, capabilities),
    ...soundFacts(entry),
    ...(retires === undefined ? {} : { retires }),
    source,
    asOf,
  };
}

function embeddingFacts(
  { id, space = id, dimensions }: CatalogueEntry,
  capabilities: readonly CapabilityPath[],
): Partial<ModelInfo> {
  return {
    ...(dimensions === undefined ? {} : { dimensions }),
    ...(capabilities.some((path) => path.includes(".embeddings.")) ? { embedding_space: space } : {}),
  };
}

function soundFacts({ voices, formats, lacks }: CatalogueEntry): Partial<ModelInfo> {
  const names = voices?.split(" ") ?? [];
  return {
    ...(lacks === undefined ? {} : { lacks }),
    ...(formats === undefined ? {} : { response_formats: formats.split(" ") }),
    ...(names.length === 0
      ? {}
      : { voices: Object.fromEntries([...names.map((name) => [name, name]), ["default", names[0]]]) }),
  };
}

/** What a model that does not chat has no choice of. */
function fixedRules({ hasFixedSize, hasOneImage }: CatalogueEntry): ParameterRules | undefined {
  if (hasFixedSize) return { refuse: ["dimensions"] };
  return hasOneImage ? { refuse: ["n"] } : undefined;
}

/** A model that does not reason refuses an effort; one that does takes some of the efforts. */
function chatRules(
  { can, serves, efforts }: CatalogueEntry,
  rules: ParameterRules | undefined,
): ParameterRules | undefined {
  if (efforts !== undefined) return { ...rules, efforts: effortsFor(efforts.split(" ")) };
  if (serves !== undefined || can === undefined || can.includes("R")) return rules;
  return { ...rules, drop: [...rules?.drop ?? [], "reasoning_effort"] };
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

function constraintsOf({ window, maxOutput, maxFile, maxImages, languages }: CatalogueEntry): ModelConstraints {
  return {
    ...(window === undefined ? {} : { context_window: window }),
    ...(maxOutput === undefined ? {} : { max_output_tokens: maxOutput }),
    ...(maxFile === undefined ? {} : { max_file_size: maxFile }),
    ...(maxImages === undefined ? {} : { max_images: maxImages }),
    ...(languages === undefined ? {} : { supported_languages: languages.split(" ") }),
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

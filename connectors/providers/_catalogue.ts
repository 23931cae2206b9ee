/**
 * Format of the vendors' model catalogues. The catalogues are data, in `catalogue/`; `deno task catalogue` compares
 * them with public sources.
 * @module
 */
import type {
  CapabilityPath,
  ChatApi,
  DatedPricing,
  ModelConstraints,
  ModelFeatures,
  ModelInfo,
  OperationName,
  ParameterRules,
  PriceTier,
} from "../../src/contracts/provider.ts";

const textGeneration = "generation.text-generation";

/** A catalogue entry of a model. */
export interface CatalogueEntry {
  /** The upstream model id. */
  readonly id: string;
  /** Full paths of the capability leaves that it serves; the chat leaves when omitted. */
  readonly serves?: readonly CapabilityPath[];
  /**
   * Features of a chat model, as letters: `T` tool calling, `S` structured output, `R` reasoning, `V` vision, `A` audio
   * input. A missing letter means unsupported, except `S`, which sources often omit. When omitted, the features are
   * unknown.
   */
  readonly can?: string;
  /** The APIs through which chat requests reach it, separated by spaces; `chat` when omitted. */
  readonly apis?: string;
  /** The API that requests with tools need unless their reasoning effort is `none`. */
  readonly toolsVia?: ChatApi;
  /** Further leaves besides the chat leaves, full paths. */
  readonly also?: readonly CapabilityPath[];
  /** Features without a letter. */
  readonly features?: ModelFeatures;
  /** Context window: input and output tokens together. */
  readonly window?: number;
  /** Maximum output tokens per request. */
  readonly maxOutput?: number;
  /** Maximum file size, bytes; 0: files are accepted by URL only. */
  readonly maxFile?: number;
  /** Dimensions of an embedding, unless a request asks for fewer. */
  readonly dimensions?: number;
  /** Whether the dimensions are fixed: requests for other dimensions skip the model. */
  readonly hasFixedSize?: boolean;
  /** The embedding space; derived from the id when omitted. */
  readonly space?: string;
  /** Whether it generates one image per request: requests for several skip the model. */
  readonly hasOneImage?: boolean;
  /** Maximum input images per request. */
  readonly maxImages?: number;
  /** The vendor's voices, separated by spaces; the first is the default for unknown voices. */
  readonly voices?: string;
  /** Response formats of transcriptions or images, or audio formats of speech, separated by spaces. */
  readonly formats?: string;
  /** Operations of its leaves that it does not support. */
  readonly lacks?: readonly OperationName[];
  /** ISO codes of the supported languages, separated by spaces. */
  readonly languages?: string;
  /** Supported values of `reasoning_effort`, ascending, separated by spaces; all when omitted. */
  readonly efforts?: string;
  /** Name of the vendor's parameter rules that apply to it. */
  readonly rules?: string;
  /** Whether it is its provider's default model for all of its capabilities. */
  readonly isDefault?: boolean;
  /** Prices, in order of start date, then of prompt size; null if unknown. */
  readonly pricing: readonly DatedPricing[] | null;
  /** Prices and factors that every row has, such as fees. */
  readonly everyRow?: Pick<DatedPricing, "per_search" | "per_tool_call" | "multipliers">;
  /**
   * Further service tiers, and the factor of their prices per token relative to those of standard calls. Each row of
   * `pricing` without a tier gets a row for each of them. Fees, such as `per_search`, are the same.
   */
  readonly tiers?: Readonly<Partial<Record<PriceTier, number>>>;
  /** ISO date from which the provider no longer serves it, if announced. */
  readonly retires?: string;
  /** Source of the facts, and the ISO date on which it was retrieved. */
  readonly source: readonly [name: string, date: string];
}

/** Defaults for all models of a vendor. */
interface VendorRules {
  /** Features of all chat models. */
  readonly features?: ModelFeatures;
  /** The parameter rules of a model. */
  readonly findRules?: (entry: CatalogueEntry) => ParameterRules | undefined;
}

/**
 * The models of a vendor's catalogue.
 *
 * @param vendor Defaults for all of them.
 *
 * @example
 * ```ts
 * knownModels([{ id: "acme-small", can: "TS", window: 128_000, pricing: null, source: ["acme.example", "2026-11-22"] }]);
 * ```
 */
export function knownModels(entries: readonly CatalogueEntry[], vendor: VendorRules = {}): readonly ModelInfo[] {
  return entries.map((entry) => toModelInfo(entry, vendor));
}

function toModelInfo(entry: CatalogueEntry, vendor: VendorRules): ModelInfo {
  const { id, serves, can, retires, isDefault = false, source: [source, asOf] } = entry;
  const capabilities = serves ?? chatLeaves(entry);
  const features = serves === undefined
    ? { ...toFeatures(can), ...vendor.features, ...entry.features }
    : entry.features;
  const pricing = listPrices(entry);
  const parameters = fixedRules(entry) ?? chatRules(entry, vendor.findRules?.(entry));
  return {
    id,
    capabilities,
    features: features ?? {},
    constraints: toConstraints(entry),
    ...(pricing === undefined ? {} : { pricing }),
    ...(parameters === undefined ? {} : { parameters }),
    ...(isDefault ? { defaultFor: capabilities.map((path) => path.slice(path.lastIndexOf(".") + 1)) } : {}),
    ...embeddingFacts(entry, capabilities),
    ...audioFacts(entry),
    ...(retires === undefined ? {} : { retires }),
    source,
    asOf,
  };
}

/** The rows, followed by those of the further tiers. */
function listPrices({ pricing, everyRow, tiers = {} }: CatalogueEntry): readonly DatedPricing[] | undefined {
  if (pricing === null) return undefined;
  const rows = everyRow === undefined ? pricing : pricing.map((row) => ({ ...row, ...everyRow }));
  const baseRows = rows.filter(({ tier }) => tier === undefined);
  return [
    ...rows,
    ...Object.entries(tiers).flatMap(([tier, factor]) =>
      baseRows.map((row) => ({ ...scaleTokenPrices(row, factor), tier: tier as PriceTier }))
    ),
  ];
}

function scaleTokenPrices(row: DatedPricing, factor: number): DatedPricing {
  const scaled = Object.entries(row).map(([name, price]) => {
    const isPerToken = typeof price === "number" && !name.startsWith("per_") && name !== "above_tokens";
    return [name, isPerToken ? Number((price * factor).toPrecision(12)) : price];
  });
  return Object.fromEntries(scaled);
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

function audioFacts({ voices, formats, lacks }: CatalogueEntry): Partial<ModelInfo> {
  const names = voices?.split(" ") ?? [];
  return {
    ...(lacks === undefined ? {} : { lacks }),
    ...(formats === undefined ? {} : { response_formats: formats.split(" ") }),
    ...(names.length === 0
      ? {}
      : { voices: Object.fromEntries([...names.map((name) => [name, name]), ["default", names[0]]]) }),
  };
}

/** Parameter rules of models other than chat models: parameters without a choice. */
function fixedRules({ hasFixedSize, hasOneImage }: CatalogueEntry): ParameterRules | undefined {
  if (hasFixedSize) return { refuse: ["dimensions"] };
  return hasOneImage ? { refuse: ["n"] } : undefined;
}

/** A model with reasoning supports some of the efforts. */
function chatRules(
  { efforts, apis, toolsVia }: CatalogueEntry,
  rules: ParameterRules | undefined,
): ParameterRules | undefined {
  const own: ParameterRules = {
    ...(efforts === undefined ? {} : { efforts: effortsFor(efforts.split(" ")) }),
    ...(apis === undefined ? {} : { apis: apis.split(" ") as ChatApi[] }),
    ...(toolsVia === undefined ? {} : { tools_via: toolsVia }),
  };
  return Object.keys(own).length === 0 ? rules : { ...rules, ...own };
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

function toConstraints({ window, maxOutput, maxFile, maxImages, languages }: CatalogueEntry): ModelConstraints {
  return {
    ...(window === undefined ? {} : { context_window: window }),
    ...(maxOutput === undefined ? {} : { max_output_tokens: maxOutput }),
    ...(maxFile === undefined ? {} : { max_file_size: maxFile }),
    ...(maxImages === undefined ? {} : { max_images: maxImages }),
    ...(languages === undefined ? {} : { supported_languages: languages.split(" ") }),
  };
}

function toFeatures(can: string | undefined): ModelFeatures {
  if (can === undefined) return {};
  return {
    tool_calling: can.includes("T"),
    ...(can.includes("S") ? { structured_output: true, json_mode: true } : {}),
    reasoning: can.includes("R"),
    vision: can.includes("V"),
    audio_input: can.includes("A"),
  };
}

/** All effort names, ascending. */
const levels: readonly string[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/**
 * Parameter rules that map each effort to the nearest supported one; of two equally near ones, the lower. Only `none`
 * and `minimal` disable reasoning.
 *
 * @param taken The supported efforts; at least one.
 *
 * @example
 * ```ts
 * effortsFor(["low", "medium", "high"]).xhigh; // { reasoning_effort: "high" }
 * ```
 */
export function effortsFor(taken: readonly string[]): NonNullable<ParameterRules["efforts"]> {
  const others = levels.filter((effort) => !taken.includes(effort));
  return Object.fromEntries(others.map((effort) => [effort, { reasoning_effort: findNearestEffort(effort, taken) }]));
}

function findNearestEffort(wanted: string, taken: readonly string[]): string {
  const level = levels.indexOf(wanted);
  const mayBeOff = level <= levels.indexOf("minimal");
  const distance = (effort: string) => Math.abs(levels.indexOf(effort) - level);
  const supported = taken.filter((effort) => mayBeOff || effort !== "none");
  return supported.reduce((best, effort) => distance(effort) < distance(best) ? effort : best);
}

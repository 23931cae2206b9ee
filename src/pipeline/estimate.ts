/**
 * Estimated token usage of requests.
 *
 * There are two estimates of one measurement. The low one determines eligibility, since excluding a model wrongly loses
 * a response. The high one applies to budgets, since exceeding a limit is worse than stopping short of it.
 *
 * Tokens per character, measured with OpenAI's vocabularies o200k_base (current) and cl100k_base (2023), August 2026:
 *
 * | kind | o200k | cl100k | low | high |
 * |---|---|---|---|---|
 * | English, German, code, JSON, Markdown | 0.11 – 0.32 | 0.11 – 0.36 | 1/6 | 1/3 |
 * | Russian, Arabic, Hindi, Greek, Thai | 0.23 – 0.43 | 0.42 – 0.99 | 1/5 | 1 |
 * | Korean, Chinese, Japanese, emoji | 0.51 – 0.75 | 0.89 – 1.42 | 2/5 | 1 |
 *
 * DeepSeek documents 0.3 for English and 0.6 for Chinese (api-docs.deepseek.com/quick_start/token_usage), Google 1/4
 * for English (ai.google.dev/gemini-api/docs/tokens). Long words, runs of spaces and repetition take less than the low
 * ratio; lists of numbers (0.4 to 0.8), random hexadecimal digits and some emoji take more than the high one.
 * @module
 */
import type { ChatCompletionRequest } from "../contracts/openai.ts";
import type { BilledUsage } from "../contracts/usage.ts";
import { isObject } from "../util/is_object.ts";
import type { Load } from "../state/model/usage.ts";
import { addText, emptyText, measureRequest, type RequestSize, type TextSize } from "./request_size.ts";

/** Characters per token. */
type Ratios = Readonly<TextSize>;

const low: Ratios = { latin: 6, alphabetic: 5, ideographic: 2.5 };
const high: Ratios = { latin: 3, alphabetic: 1, ideographic: 1 };

/** Vendors shorten schemas in the prompt; the low estimate counts this share. */
const schemaShare = 0.5;
/** Brackets, quotes and commas around a member of a schema. */
const tokensPerSchemaNode = 1;
/** Per message: 3, and 1 for a name, in OpenAI's format (its cookbook, "How to count tokens"). */
const tokensPerMessage = 4;
/**
 * Claude scales an image to at most about 1 600 tokens (width · height / 750, 1 568 pixels a side), GPT-4o comes to
 * 1 105 at 2 048 × 4 096, Gemini to 258 per tile. `detail` is ignored: only one vendor honors it.
 */
const tokensPerImage = 1600;
/** Gemini counts 32 tokens per second of audio; compressed audio has at least 4 kB of them (32 kbit/s). */
const bytesPerTokenCompressed = 125;
/** Uncompressed audio has at least 16 kB per second (8 kHz, 16 bit, one channel). */
const bytesPerTokenSampled = 500;
/** Claude counts 1 500 to 3 000 tokens for a page of a document; a page is assumed to have at least 30 kB. */
const bytesPerTokenFile = 10;
/** A document with an unknown size counts as one page. */
const tokensPerReference = 3000;
/**
 * The tokens of a request, estimated high, for budgets and limits. Output is the maximum that the request allows, for
 * all its choices (`n`).
 *
 * @param size The result of {@linkcode measureRequest}, if known.
 *
 * @example
 * ```ts
 * estimateTokens({ messages: [{ role: "user", content: "Hello there" }], max_tokens: 50, n: 2 });
 * // { input: 8, output: 100 }
 * ```
 */
export function estimateTokens(body: ChatCompletionRequest, size: RequestSize = measureRequest(body)): Load {
  const { n } = body;
  const choices = typeof n === "number" && n > 1 ? Math.ceil(n) : 1;
  const limit = outputLimit(body);
  const soundTokens = size.compressedBytes / bytesPerTokenCompressed + size.sampledBytes / bytesPerTokenSampled;
  const imageTokens = (size.images + size.generatedImages) * tokensPerImage;
  const input = countTokens(size.text, high) + countTokens(size.schema, high) +
    size.schemaNodes * tokensPerSchemaNode + size.messages * tokensPerMessage +
    imageTokens + soundTokens +
    size.fileBytes / bytesPerTokenFile + size.referredFiles * tokensPerReference;
  // bounded, so that the product of a huge limit and a price is finite
  const output = limit === undefined ? undefined : Math.min(limit * choices, Number.MAX_SAFE_INTEGER);
  return {
    input: Math.ceil(input),
    output,
    ...(soundTokens + imageTokens > 0 && {
      units: { audioInput: Math.ceil(soundTokens), imageInput: imageTokens },
    }),
  };
}

/**
 * The minimum tokens of a request, to compare with context windows. Images, audio and files count as 0, since they may
 * be tiny.
 *
 * @param size The size of the request.
 */
export function minTokens({ text, schema }: RequestSize): number {
  return Math.floor(countTokens(text, low) + countTokens(schema, low) * schemaShare);
}

/**
 * The token limit of one choice. The larger of two counts, since it depends on the provider which one applies.
 *
 * @returns Undefined if there is none; `null` and numbers below 1 count as none.
 */
export function outputLimit({ max_completion_tokens, max_tokens }: ChatCompletionRequest): number | undefined {
  let largest: number | undefined;
  for (const limit of [max_completion_tokens, max_tokens]) {
    if (typeof limit === "number" && limit > 0) largest = Math.max(largest ?? 0, Math.ceil(limit));
  }
  return largest;
}

/**
 * The tokens of a text, estimated high by default.
 *
 * @param ratios Characters per token.
 */
export function countTokens({ latin, alphabetic, ideographic }: TextSize, ratios: Ratios = high): number {
  return latin / ratios.latin + alphabetic / ratios.alphabetic + ideographic / ratios.ideographic;
}

/** The minimum tokens of a text. */
export function countMinTokens(size: TextSize): number {
  return Math.floor(countTokens(size, low));
}

/** Estimates output tokens from the text of a response, high as `estimateTokens`, for budgets and limits. */
export class OutputEstimate {
  readonly #size = emptyText();

  /** Adds the text of a response, or of a stream event. */
  add(choices: readonly { readonly message?: unknown; readonly delta?: unknown }[]): this {
    for (const { message, delta = message } of choices) if (delta) this.#addPart(delta as Record<string, unknown>);
    return this;
  }

  /** Output tokens so far. */
  get tokens(): number {
    return Math.ceil(countTokens(this.#size));
  }

  #addPart(part: Readonly<Record<string, unknown>>): void {
    const { content, refusal, reasoning_content: thoughts, reasoning, tool_calls: calls, function_call: call } = part;
    this.#addText(content);
    this.#addText(refusal);
    this.#addText(thoughts);
    this.#addText(reasoning);
    if (call) this.#addCall(call);
    if (Array.isArray(calls)) { for (const toolCall of calls) this.#addCall(Object(toolCall).function); }
  }

  #addCall(call: unknown): void {
    const { name, arguments: callArguments } = Object(call);
    this.#addText(name);
    this.#addText(callArguments);
  }

  #addText(text: unknown): void {
    if (typeof text === "string") addText(text, this.#size);
  }
}

/** The most calls of such tools that a request allows, and the service tier that it requests. */
export type VendorFees = Pick<BilledUsage, "searches" | "toolCalls" | "tier">;

/** Types of tools that the client runs, or that cost only the tokens they produce. */
const withoutFee: ReadonlySet<unknown> = new Set([
  ...["function", "custom", "mcp", "namespace", "tool_search"],
  ...["computer", "computer_use_preview", "local_shell", "apply_patch"],
]);

/** Types of tools that search. */
const searching = /^(web|browser|x|news)_search/;

/**
 * Counts the calls of tools that a request for chat or responses lets the vendor run.
 *
 * @param body The request; malformed members count as none.
 * @returns Undefined if it lets the vendor run none.
 */
export function countVendorTools(body: Readonly<Record<string, unknown>>): VendorFees | undefined {
  const { tools, web_search_options: options, search_parameters: parameters, plugins, max_tool_calls: limit } = body;
  if ((tools ?? options ?? parameters ?? plugins) === undefined) return undefined;
  const types = Array.isArray(tools) ? tools.filter(isRunByVendor) : [];
  const extensions = Array.isArray(plugins) ? plugins : [];
  const searches = types.filter(({ type }) => searching.test(type));
  const isWeb = (plugin: unknown) => isObject(plugin) && plugin.id === "web";
  const web = extensions.filter(isWeb);
  const others = [
    ...types.filter(({ type }) => !searching.test(type)),
    ...extensions.filter((extension) => !isWeb(extension)),
  ];
  const once = isRequested(options) ? 1 : 0; // a search model searches before it answers
  const unbounded = isRequested(parameters) ? Infinity : 0;
  return toFees({
    searches: sumCalls([...searches, ...web], limit) + once + unbounded,
    toolCalls: sumCalls(others, limit),
  });
}

/** Calls of tools: those that they allow (`max_uses`), else those that the request allows; Infinity without a limit. */
export function sumCalls(tools: readonly unknown[], limit?: unknown): number {
  return tools.reduce<number>((sum, tool) => sum + callsUpTo(Object(tool).max_uses ?? limit), 0);
}

/** The fees; undefined if there are none. */
export function toFees({ searches = 0, toolCalls = 0 }: VendorFees): VendorFees | undefined {
  if (searches + toolCalls === 0) return undefined;
  return { ...(searches > 0 && { searches }), ...(toolCalls > 0 && { toolCalls }) };
}

function callsUpTo(limit: unknown): number {
  return Number.isSafeInteger(limit) && limit as number > 0 ? limit as number : Infinity;
}

function isRunByVendor(tool: unknown): tool is { readonly type: string } {
  return isObject(tool) && typeof tool.type === "string" && !withoutFee.has(tool.type);
}

function isRequested(value: unknown): boolean {
  return value === true || isObject(value) && value.mode !== "off";
}

/** The estimated usage of a request, high, for budgets and limits. */
export function estimateLoad(body: ChatCompletionRequest, size: RequestSize): Load {
  const { input, output, units: media } = estimateTokens(body, size);
  const { modalities, prompt_cache_retention: retention } = body;
  const units: { -readonly [key in keyof NonNullable<Load["units"]>]: NonNullable<Load["units"]>[key] } = {
    hasFees: true,
  };
  const { tier } = findTier(body);
  if (tier !== undefined) units.tier = tier;
  if (media?.audioInput) units.audioInput = media.audioInput;
  if (media?.imageInput) units.imageInput = media.imageInput;
  if (Array.isArray(modalities)) {
    if (modalities.includes("audio")) units.audioOutput = output ?? 1;
    if (modalities.includes("image")) units.imageOutput = output ?? 1;
  }
  if (size.cachesForHour) units.cacheWrite1h = 1;
  if (retention === "24h") units.cacheWrite12h = 1;
  const fees = countVendorTools(body);
  return { input, output, units: fees === undefined ? units : { ...units, ...fees } };
}

/** The service tier that a request asks for, by the names of price rows; empty if it asks for none. */
export function findTier(body: Readonly<Record<string, unknown>>): Pick<BilledUsage, "tier"> {
  const { speed, service_tier, serviceTier = service_tier } = body;
  if (speed === "fast") return { tier: speed };
  return typeof serviceTier === "string" ? { tier: serviceTier.toLowerCase() } : {};
}

/**
 * Reads the usage that providers report.
 * @module
 */
import type { ModelConstraints } from "../contracts/provider.ts";
import type { BilledUsage, FurtherCall } from "../contracts/usage.ts";
import type { TokenCounts } from "../state/counters/usage.ts";
import type { Quantities } from "../util/cost.ts";
import { isObject } from "../util/is_object.ts";
import { pickDefined } from "../util/entries.ts";

/** The bound for models with unknown context window or output, tokens. */
export const maxTokens = 100_000_000;

/**
 * The maximum tokens of one call, input and output.
 *
 * @param choices Number of requested choices, unvalidated.
 */
export function tokenBound({ context_window, max_output_tokens }: ModelConstraints = {}, choices?: unknown): number {
  if (context_window === undefined || max_output_tokens === undefined) return maxTokens;
  const times = typeof choices === "number" && choices > 1 ? choices : 1;
  return Math.min(context_window + max_output_tokens * times, maxTokens);
}

/**
 * Reads token counts: integers from 0 to the bound. Others count as missing, as does a total below the sum of its
 * parts. Reasoning that a vendor counts beside the output, as the total shows, is added to it.
 *
 * @param usage The provider's usage, in OpenAI's format.
 * @param bound The maximum tokens of the call.
 *
 * @example
 * ```ts
 * readUsage({ prompt_tokens: 12, completion_tokens: "5", total_tokens: 20 }, 1000); // { input: 12, output: 8, tokens: 20 }
 * ```
 */
export function readUsage(usage: unknown, bound: number): ReadUsage {
  const members = toMembers(usage);
  const { prompt_tokens, completion_tokens, total_tokens, completion_tokens_details: details } = members;
  const read = readCount(prompt_tokens, bound);
  const written = readCount(completion_tokens, bound);
  const sum = (read ?? 0) + (written ?? 0);
  const total = readCount(total_tokens, bound, sum);
  const reasoning = readCount(toMembers(details).reasoning_tokens, bound);
  const isComplete = read !== undefined && written !== undefined;
  const beside = isComplete && reasoning !== undefined && total === sum + reasoning ? reasoning : 0;
  const input = read ?? (total === undefined || written === undefined ? undefined : total - written);
  const output = written === undefined
    ? total === undefined || read === undefined ? undefined : total - read
    : written + beside;
  const { audio_tokens, image_tokens, reasoning_tokens } = toMembers(details);
  const { cached, cacheWrite, cacheWrite1h, cacheWrite12h, audioInput, imageInput } = readInputParts(members, input);
  return {
    input,
    output,
    tokens: total ?? (input === undefined || output === undefined ? undefined : input + output),
    cached,
    cacheWrite,
    cacheWrite1h,
    cacheWrite12h,
    audioInput,
    imageInput,
    audioOutput: readCount(audio_tokens, output),
    imageOutput: readCount(image_tokens, output),
    reasoning: readCount(reasoning_tokens, output),
  };
}

/** Token counts, and the parts of the input and the output, to which more may be added. */
type ReadUsage = {
  -readonly [Name in keyof (TokenCounts & Quantities)]?: (TokenCounts & Quantities)[Name] | undefined;
};

/** Some vendors report cached tokens under another name, and the duration of writes beside. */
function readInputParts(usage: Readonly<Record<string, unknown>>, input: number | undefined): BilledUsage {
  const { prompt_tokens_details, cached_tokens: above, prompt_cache_hit_tokens: hits, cache_creation } = usage;
  const {
    cached_tokens = above ?? hits,
    cache_write_tokens,
    audio_tokens,
    image_tokens,
    cache_creation_token_details,
  } = toMembers(prompt_tokens_details);
  const { ephemeral_1h_input_tokens: hour, ephemeral_12h_input_tokens: day } = toMembers(
    cache_creation_token_details ?? cache_creation,
  );
  return {
    cached: readCount(cached_tokens, input),
    cacheWrite: readCount(cache_write_tokens, input),
    cacheWrite1h: readCount(hour, input),
    cacheWrite12h: readCount(day, input),
    audioInput: readCount(audio_tokens, input),
    imageInput: readCount(image_tokens, input),
  };
}

/** The bound of units other than tokens. */
const maxUnits = 1_000_000;
/** The bound of a cost that a vendor states, USD. */
const maxCostUsd = 1_000_000;
/** The maximum number of further calls that are read. */
const maxCalls = 1_000;
/** The maximum length of a name. */
const maxNameLength = 64;

const tokenUnits: ReadonlySet<string> = new Set<keyof BilledUsage>([
  ...[
    "input",
    "output",
    "cached",
    "cachedAudio",
    "cachedImage",
    "cacheWrite",
    "cacheWrite1h",
    "cacheWrite12h",
  ] as const,
  ...["audioInput", "audioOutput", "imageInput", "imageOutput", "reasoning"] as const,
]);

const otherUnits: ReadonlySet<string> = new Set<keyof BilledUsage>(
  ["images", "searches", "pages", "seconds", "characters", "toolCalls"],
);

/**
 * Reads what a connector reports about a call; implausible members are omitted.
 *
 * @param bound The maximum tokens of the call.
 */
export function readBilled(billed: unknown, bound: number): BilledUsage {
  if (!isObject(billed)) return {};
  const { tier, region, furtherCalls } = billed;
  return {
    ...readUnits(billed, bound),
    ...readStatedCost(billed),
    ...pickDefined({ tier: readName(tier), region: readName(region) }),
    ...(Array.isArray(furtherCalls) && { furtherCalls: furtherCalls.slice(0, maxCalls).map(readFurtherCall) }),
  };
}

/** The cost of a call, if the vendor states it; empty otherwise. */
export function readStatedCost(billed: unknown): Pick<BilledUsage, "cost"> {
  return pickDefined({ cost: readAmount(toMembers(billed).cost, maxCostUsd) });
}

/** A further call may be one of another model, whose bound is not known. */
function readFurtherCall(call: unknown): FurtherCall {
  return isObject(call) ? { ...readUnits(call, maxTokens), ...pickDefined({ model: readName(call.model) }) } : {};
}

function readUnits(billed: Readonly<Record<string, unknown>>, bound: number): BilledUsage {
  const units: Record<string, number> = {};
  for (const [name, value] of Object.entries(billed)) {
    const amount = tokenUnits.has(name)
      ? readCount(value, bound)
      : otherUnits.has(name)
      ? readAmount(value, maxUnits)
      : undefined;
    if (amount !== undefined) units[name] = amount;
  }
  return units;
}

const noMembers: Readonly<Record<string, unknown>> = {};

/** The members of a value that may be no object. */
function toMembers(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : noMembers;
}

/** A name of a vendor; no other value is known to mean anything. */
export function readName(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value.slice(0, maxNameLength) : undefined;
}

function readAmount(value: unknown, most: number): number | undefined {
  return typeof value === "number" && value >= 0 && value <= most ? value : undefined;
}

/** An integer of a range. */
export function readCount(value: unknown, most = 0, least = 0): number | undefined {
  return Number.isInteger(value) && value as number >= least && value as number <= most ? value as number : undefined;
}

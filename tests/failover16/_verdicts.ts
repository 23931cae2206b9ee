/**
 * Verdicts: what the caller gets, and what the provider sees.
 * @module
 */
import type { Fault } from "./_faults.ts";
import { see, type Seen, type SeenResponse, type Setting } from "./_scene.ts";

/**
 * - `pass`: the complete response, good conduct
 * - `partly`: the complete response, poor conduct
 * - `safe`: a clean error, in bounded time
 * - `fail`: no end, a truncated answer as a success, or a hammered provider
 */
export type Verdict = "pass" | "partly" | "safe" | "fail";

/** Calls of one request, above which the provider is hammered. */
const hammering = 12;

/** The time within which an error is bounded, ms. */
const boundMs = 125_000;

/** Price of the models' tokens: 1 USD per million, of input and of output. */
const callUsd = 70e-6;

/** Lets a fault happen, and judges what is seen. */
export async function judge(fault: Fault, setting: Setting): Promise<Verdict> {
  return toVerdict(fault, await see(fault, setting));
}

/** Judges what is seen of a fault. */
export function toVerdict(fault: Fault, seen: Seen): Verdict {
  const { answers, first } = seen;
  if (first.length > hammering * answers.length || !seen.isHealthyAfterwards) return "fail";
  if (answers.every(isWhole) && !fault.isError) {
    return fault.isGood(seen) && answers.every(isHonest) ? "pass" : "partly";
  }
  if (!answers.every((answer) => isWhole(answer) || isCleanError(answer))) return "fail";
  return fault.isError && fault.isGood(seen) ? "pass" : "safe";
}

function isWhole({ end, text, status }: SeenResponse): boolean {
  const names = text.trim().split(" ");
  const [name = ""] = names[0]!.split("-");
  return status === 200 && end === "complete" && names.join(" ") === wholeText(name);
}

function wholeText(name: string): string {
  return Array.from({ length: 60 }, (_, index) => `${name}-${index}`).join(" ");
}

/** An error in time, in its dialect, after a part of the text or none. */
function isCleanError({ end, status, ms, error }: SeenResponse): boolean {
  const isError = status >= 400 || end === "error";
  return isError && ms <= boundMs && error !== undefined && error !== "";
}

/** Name and usage are those of the model that served, and its tokens are all that is billed, but for partial answers. */
function isHonest({ model, text, tokens, costUsd }: SeenResponse): boolean {
  return text.startsWith(`${model}-`) && tokens === 60 && costUsd !== undefined && costUsd >= callUsd;
}

/** Judges faults that happen at the same time, each to a proxy of its own. */
export function judgeAll(all: readonly Fault[], setting: Setting): Promise<Verdict[]> {
  return Promise.all(all.map((fault) => judge(fault, setting)));
}

/**
 * Returns the expected verdict. Without streaming, no part of a response that breaks has been sent: another model responds.
 *
 * @param verdict The verdict of a streamed request.
 */
export function expectedVerdict({ isBreak }: Fault, verdict: Verdict, isStream: boolean): Verdict {
  return isBreak && !isStream ? "pass" : verdict;
}

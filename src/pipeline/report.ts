/**
 * What an answer took: the one place where the engine takes usage from a provider.
 * @module
 */
import type { CompletionUsage } from "../contracts/openai.ts";
import { notifySafely } from "../observe/notify.ts";
import type { Member } from "../registry/registry.ts";
import type { Load, Usage } from "../state/usage.ts";
import { costNanoUsd } from "../util/cost.ts";
import { readUsage, tokenBound } from "./read_usage.ts";
import type { RouteDeps } from "./deps.ts";
import type { RoutedRequest } from "./request.ts";
import type { AnswerUsage } from "./routed.ts";

/** What a call was made for. */
export interface ReportContext {
  readonly request: RoutedRequest;
  /** What it was estimated to take. */
  readonly load: Load;
  readonly deps: RouteDeps;
}

/**
 * Takes the usage of an answer, and reports it to the provider with its cost, where that is known. What the provider
 * does not say is estimated where usage counts.
 *
 * @param member The model that answered.
 * @param answer What its provider says of the answer, and what the answer says.
 * @param context The call.
 * @returns Numbers that can be true; left out where they are unknown.
 */
export function report(member: Member, answer: AnswerUsage, context: ReportContext): Usage {
  const { model: { info, instance } } = member;
  const { deps: { runtime, hub } } = context;
  const { usage, isEstimated } = usageOf(member, answer, context);
  const { prompt_tokens: input, completion_tokens: output, total_tokens: tokens } = usage;
  const costNano = costNanoUsd(usage, info.pricing, runtime.clock.now());
  if (isEstimated) return { input, output, tokens, costNano, estimated: true };
  const costUsd = costNano && costNano / 1e9;
  notifySafely(
    () => instance.provider!.reportUsage({ model: info.id, tokensIn: input, tokensOut: output, costUsd }),
    () =>
      hub.trace({ severity: "error", component: "provider", message: `"${instance.entry.id}" took no usage report` }),
  );
  const cached = usage.prompt_tokens_details?.cached_tokens || undefined;
  return { input, output, cached, tokens, costNano };
}

/** Token counts as the provider says them, those that it does not say estimated. */
interface TakenUsage {
  readonly usage: CompletionUsage;
  readonly isEstimated: boolean;
}

function usageOf(
  { model: { info } }: Member,
  { usage, written }: AnswerUsage,
  { request: { body }, load }: ReportContext,
): TakenUsage {
  const bound = tokenBound(info.constraints, body.n);
  const { input, output, total, cached, cacheWrite } = readUsage(usage, bound);
  if (input !== undefined && output !== undefined) {
    const details = { cached_tokens: cached ?? 0, cache_write_tokens: cacheWrite ?? 0 };
    return { usage: { ...countsOf(input, output, total), prompt_tokens_details: details }, isEstimated: false };
  }
  const read = input ?? Math.min(load.input, total ?? bound);
  const rest = total === undefined ? Math.min(written(), bound) : total - read;
  return { usage: countsOf(read, output ?? rest, total), isEstimated: true };
}

function countsOf(input: number, output: number, total = 0): CompletionUsage {
  const total_tokens = Math.max(total, input + output);
  return { prompt_tokens: input, completion_tokens: output, total_tokens };
}

/**
 * Telling a provider what a call to it took.
 * @module
 */
import type { CompletionUsage } from "../contracts/openai.ts";
import { tellQuietly } from "../observe/told.ts";
import type { Member } from "../registry/registry.ts";
import type { Usage } from "../state/meter.ts";
import type { RouteDeps } from "./request.ts";

/**
 * Tells the provider, with the cost where it is known.
 *
 * @param member Who answered.
 * @param usage As the answer told it, if it did.
 * @param deps For prices and their dates.
 * @returns The same in numbers; nothing in it when nobody knows.
 */
export function report(
  { model: { info, home } }: Member,
  usage: CompletionUsage | null | undefined,
  { runtime, hub, costOf }: RouteDeps,
): Usage {
  if (typeof usage !== "object" || usage === null) return {};
  const cost = costOf?.(usage, info.pricing, runtime.clock.now());
  tellQuietly(
    () =>
      home.provider!.reportUsage({
        model: info.id,
        tokensIn: usage.prompt_tokens,
        tokensOut: usage.completion_tokens,
        costUsd: cost && cost / 1e9,
      }),
    () => hub.trace({ severity: "error", component: "provider", message: `"${home.entry.id}" took no usage report` }),
  );
  return { input: usage.prompt_tokens, output: usage.completion_tokens, tokens: usage.total_tokens, costNano: cost };
}

/**
 * The estimated usage of a chat request, in all units that vendors bill.
 * @module
 */
import type { ChatCompletionRequest } from "../contracts/openai.ts";
import type { BilledUsage } from "../contracts/usage.ts";
import type { Load } from "../state/model/usage.ts";
import { estimateTokens } from "./estimate.ts";
import type { RequestSize } from "./request_size.ts";
import { countVendorTools } from "./vendor_tools.ts";

/** The estimated usage of a request, high, for budgets and limits. */
export function estimateLoad(body: ChatCompletionRequest, size: RequestSize): Load {
  const tokens = estimateTokens(body, size);
  const { audioInput, imageInput } = tokens.units ?? {};
  const { modalities, prompt_cache_retention: retention } = body;
  const answers = (kind: string) => Array.isArray(modalities) && modalities.includes(kind);
  return {
    ...tokens,
    units: {
      hasFees: true,
      ...findTier(body),
      ...(audioInput && { audioInput }),
      ...(imageInput && { imageInput }),
      ...(answers("audio") && { audioOutput: tokens.output ?? 1 }),
      ...(answers("image") && { imageOutput: tokens.output ?? 1 }),
      ...(size.cachesForHour && { cacheWrite1h: 1 }),
      ...(retention === "24h" && { cacheWrite12h: 1 }),
      ...countVendorTools(body),
    },
  };
}

/** The service tier that a request asks for, by the names of price rows; empty if it asks for none. */
export function findTier(body: Readonly<Record<string, unknown>>): Pick<BilledUsage, "tier"> {
  const { speed, service_tier, serviceTier = service_tier } = body;
  if (speed === "fast") return { tier: speed };
  return typeof serviceTier === "string" ? { tier: serviceTier.toLowerCase() } : {};
}

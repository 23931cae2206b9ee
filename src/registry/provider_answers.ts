/**
 * What providers answer about their models. It wins over the catalogue, and yields to the configuration.
 * @module
 */
import type { CapabilityPath, DatedPricing, ModelInfo, RateLimits } from "../contracts/provider.ts";
import { isObject } from "../util/is_object.ts";
import { isAmount } from "../util/pricing.ts";
import { mergeRules } from "./parameter_rules.ts";

/** A provider's answers about one of its models; what it does not know is undefined. */
export interface ModelAnswers {
  /** Full paths. */
  readonly leaves?: readonly CapabilityPath[] | undefined;
  /** Features, constraints, and whatever else it knows. */
  readonly info?: ModelInfo | undefined;
  /** Oldest first. */
  readonly pricing?: readonly DatedPricing[] | undefined;
  readonly limits?: RateLimits | undefined;
  /** As reported since. */
  latestLimits?: RateLimits;
}

/** By provider entry id, by the id the provider knows the model by. */
export type ProviderAnswers = ReadonlyMap<string, ReadonlyMap<string, ModelAnswers>>;

/** Adds a provider's answers to what the catalogue knows of a model. */
export function withAnswers<Known extends ModelInfo | undefined>(
  known: Known,
  answers: ModelAnswers | undefined,
): Known | ModelInfo {
  if (answers === undefined) return known;
  const { info, leaves, pricing } = answers;
  const id = known?.id ?? info?.id ?? "";
  return {
    ...known,
    ...info,
    id,
    capabilities: leaves ?? info?.capabilities ?? known?.capabilities,
    features: { ...known?.features, ...info?.features },
    constraints: { ...known?.constraints, ...info?.constraints },
    pricing: pricing ?? info?.pricing ?? known?.pricing,
    parameters: mergeRules(known?.parameters, info?.parameters),
  };
}

/** Rate limits in a provider's response: numbers above 0; undefined without any. */
export function limitsIn(value: unknown): RateLimits | undefined {
  if (!isObject(value)) return undefined;
  const names = ["rpm", "tpm", "rpd", "concurrent"] as const;
  const limits = names.flatMap((name) => {
    const limit = value[name];
    return isAmount(limit) && limit > 0 ? [[name, limit]] : [];
  });
  return limits.length === 0 ? undefined : Object.fromEntries(limits);
}

/**
 * Model metadata reported by providers, and the rules of parameters it adds to. It overrides the catalogue, and the
 * configuration overrides it.
 * @module
 */
import type { CapabilityPath, DatedPricing, ModelInfo, ParameterRules, RateLimits } from "../contracts/provider.ts";
import { isObject } from "../util/is_object.ts";
import { isPriceAmount } from "../util/pricing.ts";

/**
 * Merges two sets of rules.
 *
 * @param other Takes precedence.
 */
export function mergeRules(
  one: ParameterRules | undefined,
  other: ParameterRules | undefined,
): ParameterRules | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return {
    ...one,
    ...Object.fromEntries(Object.entries(other).filter(([, rule]) => rule !== undefined)),
    rename: { ...one.rename, ...other.rename },
    drop: [...one.drop ?? [], ...other.drop ?? []],
    refuse: [...one.refuse ?? [], ...other.refuse ?? []],
    refuse_with_tools: [...one.refuse_with_tools ?? [], ...other.refuse_with_tools ?? []],
    fill: { ...one.fill, ...other.fill },
    fill_with_tools: { ...one.fill_with_tools, ...other.fill_with_tools },
    efforts: { ...one.efforts, ...other.efforts },
  };
}

/** What a provider reports about one of its models; unknown members are undefined. */
export interface QueriedFacts {
  /** Full paths of its capabilities. */
  readonly leaves?: readonly CapabilityPath[] | undefined;
  /** Features, constraints and other metadata. */
  readonly info?: ModelInfo | undefined;
  /** Prices, oldest first. */
  readonly pricing?: readonly DatedPricing[] | undefined;
  readonly limits?: RateLimits | undefined;
  /** Latest reported rate limits. */
  latestLimits?: RateLimits;
}

/** By provider id, then by the provider's model id. */
export type QueriedModels = ReadonlyMap<string, ReadonlyMap<string, QueriedFacts>>;

/** Merges reported metadata into that of the catalogue. */
export function withQueriedFacts<Known extends ModelInfo | undefined>(
  known: Known,
  queried: QueriedFacts | undefined,
): Known | ModelInfo {
  if (queried === undefined) return known;
  const { info, leaves, pricing } = queried;
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

/** Parses rate limits: positive numbers; undefined without any. */
export function limitsIn(value: unknown): RateLimits | undefined {
  if (!isObject(value)) return undefined;
  const names = ["rpm", "tpm", "rpd", "concurrent"] as const;
  const limits = names.flatMap((name) => {
    const limit = value[name];
    return isPriceAmount(limit) && limit > 0 ? [[name, limit]] : [];
  });
  return limits.length === 0 ? undefined : Object.fromEntries(limits);
}

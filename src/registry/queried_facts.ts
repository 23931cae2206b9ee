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
 * @param second Takes precedence.
 */
export function mergeRules(
  first: ParameterRules | undefined,
  second: ParameterRules | undefined,
): ParameterRules | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return {
    ...first,
    ...Object.fromEntries(Object.entries(second).filter(([, rule]) => rule !== undefined)),
    rename: { ...first.rename, ...second.rename },
    drop: [...first.drop ?? [], ...second.drop ?? []],
    refuse: [...first.refuse ?? [], ...second.refuse ?? []],
    refuse_with_tools: [...first.refuse_with_tools ?? [], ...second.refuse_with_tools ?? []],
    fill: { ...first.fill, ...second.fill },
    efforts: { ...first.efforts, ...second.efforts },
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
  facts: Known,
  queried: QueriedFacts | undefined,
): Known | ModelInfo {
  if (queried === undefined) return facts;
  const { info, leaves, pricing } = queried;
  const id = facts?.id ?? info?.id ?? "";
  return {
    ...facts,
    ...info,
    id,
    capabilities: leaves ?? info?.capabilities ?? facts?.capabilities,
    features: { ...facts?.features, ...info?.features },
    constraints: { ...facts?.constraints, ...info?.constraints },
    pricing: pricing ?? info?.pricing ?? facts?.pricing,
    parameters: mergeRules(facts?.parameters, info?.parameters),
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

/**
 * What providers answer about their models. It wins over the catalogue, and yields to the configuration.
 * @module
 */
import type { CapabilityPath, DatedPricing, ModelConstraints, ModelInfo, RateLimits } from "../contracts/provider.ts";
import { isObject } from "../util/is_object.ts";
import { isAmount, pricingIn } from "../util/pricing.ts";
import { mergeRules } from "./parameter_rules.ts";

/** What a provider answers about one of its models. What it does not know is left out. */
export interface ModelAnswers {
  /** The leaves that it says the model serves, full paths. */
  readonly leaves?: readonly CapabilityPath[] | undefined;
  /** Features, constraints, and whatever else it knows. */
  readonly info?: ModelInfo | undefined;
  /** Prices, oldest first. */
  readonly pricing?: readonly DatedPricing[] | undefined;
  /** What it takes per time. */
  readonly limits?: RateLimits | undefined;
  /** What it says of that since. */
  latestLimits?: RateLimits;
}

/** By provider entry id, by the id the provider knows the model by. */
export type ProviderAnswers = ReadonlyMap<string, ReadonlyMap<string, ModelAnswers>>;

/**
 * A model with what its provider answers about it.
 *
 * @param known What the catalogue has; undefined: nothing.
 * @param answers What the provider says, if it was asked.
 */
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

/**
 * Limits, where a value has some: numbers above 0.
 *
 * @param value What a provider answered.
 */
export function limitsIn(value: unknown): RateLimits | undefined {
  if (!isObject(value)) return undefined;
  const names = ["rpm", "tpm", "rpd", "concurrent"] as const;
  const limits = names.flatMap((name) => {
    const limit = value[name];
    return isAmount(limit) && limit > 0 ? [[name, limit]] : [];
  });
  return limits.length === 0 ? undefined : Object.fromEntries(limits);
}

/**
 * Facts on a model, where a value has some; sizes that are none are left out.
 *
 * @param value What a provider answered.
 */
export function infoIn(value: unknown): ModelInfo | undefined {
  if (!isObject(value)) return undefined;
  const { id, features, constraints, pricing, capabilities, parameters } = value;
  return {
    id: typeof id === "string" ? id : "",
    ...(isObject(features) && { features }),
    ...(isObject(constraints) && { constraints: constraintsIn(constraints) }),
    ...(isObject(parameters) && { parameters }),
    ...(Array.isArray(capabilities) && { capabilities: capabilities.filter((name) => typeof name === "string") }),
    ...(pricingIn(pricing) && { pricing: pricingIn(pricing) }),
  };
}

function constraintsIn(constraints: Record<string, unknown>): ModelConstraints {
  return Object.fromEntries(
    Object.entries(constraints).filter(([name, size]) =>
      name === "supported_languages" ? Array.isArray(size) : isAmount(size)
    ),
  );
}

/**
 * Parses untrusted model metadata in a provider's response.
 * @module
 */
import type { ModelConstraints, ModelInfo, OperationName } from "../contracts/provider.ts";
import { isObject } from "../util/is_object.ts";
import { isPriceAmount, pricingIn } from "../util/pricing.ts";

/** Returns the metadata of a model; invalid members are omitted. */
export function infoIn(value: unknown): ModelInfo | undefined {
  if (!isObject(value)) return undefined;
  const { id, features, constraints, pricing, capabilities, parameters, voices, response_formats, lacks } = value;
  const { embedding_space: space, defaultFor, dimensions, retires } = value;
  return {
    id: typeof id === "string" ? id : "",
    ...(isObject(features) && { features }),
    ...(isObject(constraints) && { constraints: constraintsIn(constraints) }),
    ...(isObject(parameters) && { parameters }),
    ...(Array.isArray(capabilities) && { capabilities: stringsIn(capabilities) }),
    ...(isObject(voices) && {
      voices: Object.fromEntries(
        Object.entries(voices).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
      ),
    }),
    ...(Array.isArray(response_formats) && { response_formats: stringsIn(response_formats) }),
    ...(Array.isArray(lacks) && { lacks: stringsIn(lacks) as OperationName[] }),
    ...(typeof space === "string" && { embedding_space: space }),
    ...(Array.isArray(defaultFor) && { defaultFor: stringsIn(defaultFor) }),
    ...(isPriceAmount(dimensions) && { dimensions }),
    ...(typeof retires === "string" && { retires }),
    ...(pricingIn(pricing) && { pricing: pricingIn(pricing) }),
  };
}

/** Returns the models of a list; entries without an id are omitted, and so are invalid members. */
export function modelsIn(list: unknown): readonly ModelInfo[] {
  return Array.isArray(list) ? list.flatMap((entry) => infoIn(entry) ?? []).filter(({ id }) => id !== "") : [];
}

function stringsIn(list: readonly unknown[]): string[] {
  return list.filter((item) => typeof item === "string");
}

function constraintsIn(constraints: Record<string, unknown>): ModelConstraints {
  return Object.fromEntries(
    Object.entries(constraints).filter(([name, size]) =>
      name === "supported_languages" ? Array.isArray(size) : isPriceAmount(size)
    ),
  );
}

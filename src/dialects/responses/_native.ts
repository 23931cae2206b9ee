/**
 * The native request for Responses providers: the client's request, without items that only ModelMesh and other models
 * know.
 * @module
 */
import { countVendorTools, findTier } from "../../pipeline/estimate.ts";
import type { JsonObject } from "../../contracts/openai.ts";
import { isObject } from "../../util/is_object.ts";
import type { Translation } from "../dialect.ts";
import { findLoweredLimit } from "../native_limit.ts";
import { withoutOwn } from "./_carried.ts";
import type { ResponsesNativeOnly } from "./_native_only.ts";

/** Sampling parameters that chat shares, and that some models reject. */
const sampling: readonly string[] = ["temperature", "top_p"];

/**
 * The native request.
 *
 * @param body The validated body.
 * @param nativeOnly What only native providers support.
 */
export function createNativeResponses(body: JsonObject, { error, pinned }: ResponsesNativeOnly): Translation["native"] {
  const { input, reasoning } = body;
  const cleaned = Array.isArray(input) ? withoutOwn(input) : input;
  const own = cleaned === input ? {} : { input: cleaned };
  const isReasoned = isObject(reasoning) && typeof reasoning.effort === "string";
  return {
    edits: (model, reworded) => ({
      model,
      ...own,
      ...(isReasoned && "reasoning_effort" in reworded
        ? { reasoning: withEffort(reasoning, reworded.reasoning_effort) }
        : {}),
      ...withLimit(findLoweredLimit(body.max_output_tokens, reworded)),
      ...Object.fromEntries(sampling.filter((name) => name in reworded).map((name) => [name, reworded[name]])),
    }),
    names: { max_tokens: "max_output_tokens", reasoning_effort: "reasoning" },
    headers: {},
    fees: { ...countVendorTools(body), ...findTier(body) },
    only: error,
    pinned,
  };
}

/** A model that rejects the effort rejects the whole member. */
function withEffort(reasoning: JsonObject, effort: unknown): JsonObject | undefined {
  return effort === undefined ? undefined : { ...reasoning, effort };
}

function withLimit(max_output_tokens: number | undefined): JsonObject {
  return max_output_tokens === undefined ? {} : { max_output_tokens };
}

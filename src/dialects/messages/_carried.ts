/**
 * Vendor-bound state of tool calls, which chat has as `extra_content`. Messages has no member for it; but clients return a
 * `redacted_thinking` block unchanged and in its position, so that the state travels in one before its call.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { fromBase64, toBase64 } from "../../util/base64.ts";
import { isObject } from "../../util/is_object.ts";

/** Sets our blocks apart from those that a model minted. */
const prefix = "mesh:";

/** The block that carries a call's state. */
export function carrierOf(state: JsonObject): JsonObject {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  return { type: "redacted_thinking", data: prefix + toBase64(bytes) };
}

/** The state that a block carries; undefined for a block of another origin, and for a damaged one. */
export function carriedBy({ type, data }: JsonObject): JsonObject | undefined {
  if (type !== "redacted_thinking" || typeof data !== "string" || !data.startsWith(prefix)) return undefined;
  try {
    const state: unknown = JSON.parse(new TextDecoder().decode(fromBase64(data.slice(prefix.length))));
    return isObject(state) ? state : undefined;
  } catch {
    return undefined;
  }
}

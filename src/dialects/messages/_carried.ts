/**
 * Vendor-bound state of tool calls, which chat has as `extra_content`. Messages has no member for it; but clients return a
 * `redacted_thinking` block unchanged and in its position, so that the state travels in one before its call.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { fromBase64Json, toBase64Json } from "../../util/json_base64.ts";

/** Sets our blocks apart from those that a model minted. */
const prefix = "mesh:";

/** The block that carries a call's state. */
export function carrierOf(state: JsonObject): JsonObject {
  return { type: "redacted_thinking", data: prefix + toBase64Json(state) };
}

/** The state that a block carries; undefined for a block of another origin, and for a damaged one. */
export function carriedBy({ type, data }: JsonObject): JsonObject | undefined {
  if (type !== "redacted_thinking" || typeof data !== "string" || !data.startsWith(prefix)) return undefined;
  return fromBase64Json(data.slice(prefix.length));
}

/**
 * Carries vendor-specific state: `extra_content` of tool calls and `reasoning_details` of messages in chat. Messages has
 * no members for it, but clients return `redacted_thinking` blocks unchanged and in place: the state is encoded in such
 * a block, before its call or before the text.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { fromBase64Json, toBase64Json } from "../../util/json_base64.ts";

/** Prefix that distinguishes these blocks from those of a model. */
const prefix = "mesh:";

/** The block that carries the state of a call, or as `{ reasoning_details }` that of the message. */
export function createCarrier(state: JsonObject): JsonObject {
  return { type: "redacted_thinking", data: prefix + toBase64Json(state) };
}

/** The state that a block carries; undefined for other blocks, and if it is damaged. */
export function carriedBy({ type, data }: JsonObject): JsonObject | undefined {
  if (type !== "redacted_thinking" || typeof data !== "string" || !data.startsWith(prefix)) return undefined;
  return fromBase64Json(data.slice(prefix.length));
}

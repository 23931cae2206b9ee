/**
 * Carries vendor-specific state of tool calls, `extra_content` in chat. Gemini's equivalent is the thought signature of
 * a part, which clients return unchanged: state of other vendors is encoded in a signature as well.
 * @module
 */
import type { JsonObject, ToolCall } from "../../contracts/openai.ts";
import { isObject } from "../../util/is_object.ts";
import { fromBase64Json, toBase64Json } from "../../util/json_base64.ts";

/** Base64 prefix of `{"mesh":{`, which distinguishes these signatures from those of a model. */
const prefix = "eyJtZXNoIjp7";

/** The signature that carries a call's state; undefined if it has none. */
export function signatureOf({ extra_content: state }: Pick<ToolCall, "extra_content">): string | undefined {
  if (!isObject(state)) return undefined;
  const own = isObject(state.google) ? state.google.thought_signature : undefined;
  return typeof own === "string" && Object.keys(state).length === 1 ? own : toBase64Json({ mesh: state });
}

/** The state that a signature carries; undefined if it is damaged. */
export function stateIn(signature: string): JsonObject | undefined {
  if (!isForeign(signature)) return { google: { thought_signature: signature } };
  const encoded = fromBase64Json(signature)?.mesh;
  return isObject(encoded) ? encoded : undefined;
}

/** Whether a signature carries state of another vendor, which Gemini would reject. */
export function isForeign(signature: unknown): boolean {
  return typeof signature === "string" && signature.startsWith(prefix);
}

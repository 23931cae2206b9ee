/**
 * Vendor-bound state of tool calls, which chat has as `extra_content`. Gemini's own is the signature of a part, which clients
 * return unchanged: so the state of other vendors travels in one too.
 * @module
 */
import type { JsonObject, ToolCall } from "../../contracts/openai.ts";
import { isObject } from "../../util/is_object.ts";
import { fromBase64Json, toBase64Json } from "../../util/json_base64.ts";

/** How Base64 of `{"mesh":{` begins: it sets our signatures apart from those that a model minted. */
const prefix = "eyJtZXNoIjp7";

/** The signature that carries a call's state; undefined where it has none. */
export function signatureOf({ extra_content: state }: Pick<ToolCall, "extra_content">): string | undefined {
  if (!isObject(state)) return undefined;
  const own = isObject(state.google) ? state.google.thought_signature : undefined;
  return typeof own === "string" && Object.keys(state).length === 1 ? own : toBase64Json({ mesh: state });
}

/** The state that a signature carries; undefined for a damaged one. */
export function stateIn(signature: string): JsonObject | undefined {
  if (!isForeign(signature)) return { google: { thought_signature: signature } };
  const carried = fromBase64Json(signature)?.mesh;
  return isObject(carried) ? carried : undefined;
}

/** Whether a signature is one of ours, which Gemini would refuse. */
export function isForeign(signature: unknown): boolean {
  return typeof signature === "string" && signature.startsWith(prefix);
}

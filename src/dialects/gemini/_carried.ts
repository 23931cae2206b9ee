/**
 * Carries vendor-specific state: `extra_content` of tool calls and `reasoning_details` of messages in chat. Gemini's
 * equivalent is the thought signature of a part, which clients return unchanged: state of other vendors is encoded in a
 * signature as well, that of a message in the signature of its first text or call.
 * @module
 */
import type { JsonObject, ToolCall } from "../../contracts/openai.ts";
import { isObject } from "../../util/is_object.ts";
import { fromBase64Json, toBase64Json } from "../../util/json_base64.ts";

/** Base64 prefix of `{"mesh":{`, which distinguishes these signatures from those of a model. */
const prefix = "eyJtZXNoIjp7";

/**
 * The member of a part with the signature that carries state; empty if there is none.
 *
 * @param state State of a call or an image.
 * @param details Reasoning details of the message; they are removed from the list.
 */
export function attachSignature(
  state: JsonObject | undefined,
  details: JsonObject[] = [],
): { thoughtSignature?: string } {
  const own = isObject(state?.google) ? state.google.thought_signature : undefined;
  const reasoning_details = details.splice(0);
  const mesh = { ...isObject(state) ? state : {}, ...(reasoning_details.length === 0 ? {} : { reasoning_details }) };
  const names = Object.keys(mesh);
  if (names.length === 0) return {};
  return { thoughtSignature: typeof own === "string" && names.length === 1 ? own : toBase64Json({ mesh }) };
}

/** The state that a signature carries; none if it is damaged. */
export function toCarriedState(signature: string | undefined): Pick<ToolCall, "extra_content"> & { details?: unknown } {
  if (signature === undefined) return {};
  if (!isForeignSignature(signature)) return { extra_content: { google: { thought_signature: signature } } };
  const encoded = fromBase64Json(signature)?.mesh;
  if (!isObject(encoded)) return {};
  const { reasoning_details: details, ...state } = encoded;
  return { details, ...(Object.keys(state).length === 0 ? {} : { extra_content: state }) };
}

/** Whether a signature carries state of another vendor, which Gemini would reject. */
export function isForeignSignature(signature: unknown): boolean {
  return typeof signature === "string" && signature.startsWith(prefix);
}

/**
 * JSON in Base64, to carry an object in a string member of another API.
 * @module
 */
import type { JsonObject } from "../contracts/openai.ts";
import { fromBase64, toBase64 } from "./base64.ts";
import { isObject } from "./is_object.ts";

/** Encodes an object. */
export function toBase64Json(value: JsonObject): string {
  return toBase64(new TextEncoder().encode(JSON.stringify(value)));
}

/**
 * Decodes an object.
 *
 * @param text Base64 or base64url, since clients that re-encode it choose either alphabet.
 * @returns Undefined when it is not an encoded object.
 */
export function fromBase64Json(text: string): JsonObject | undefined {
  try {
    const plain = text.replaceAll("-", "+").replaceAll("_", "/");
    const value: unknown = JSON.parse(new TextDecoder().decode(fromBase64(plain)));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

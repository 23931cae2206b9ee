/**
 * JSON in Base64: state for a member of another API that has no room for an object.
 * @module
 */
import type { JsonObject } from "../contracts/openai.ts";
import { fromBase64, toBase64 } from "./base64.ts";
import { isObject } from "./is_object.ts";

/** Writes an object. */
export function toBase64Json(value: JsonObject): string {
  return toBase64(new TextEncoder().encode(JSON.stringify(value)));
}

/**
 * Reads an object.
 *
 * @param text In either alphabet of Base64: clients that decode and encode again choose their own.
 * @returns Undefined for what is none.
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

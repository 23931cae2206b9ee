/**
 * The arguments of tool calls.
 * @module
 */
import type { JsonObject } from "../contracts/openai.ts";
import { parseBoundedJson } from "./bounded_json.ts";
import { isObject } from "./is_object.ts";

/**
 * Parses the arguments of a tool call. What is not a JSON object, such as the text of a response that was cut off,
 * becomes the member `INVALID_JSON` of one, so that a model or a client can still read it.
 *
 * Source: https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming
 *
 * @param value JSON, or its text. Missing and blank text mean no arguments.
 */
export function parseArguments(value: unknown): JsonObject {
  if (value === undefined || value === null) return {};
  if (typeof value === "string" && value.trim() === "") return {};
  return findObject(value) ?? { INVALID_JSON: value };
}

/**
 * Writes the arguments of a tool call that a vendor sends as JSON.
 *
 * @param value Usually an object; the text of one stays as it is.
 */
export function formatArguments(value: unknown): string {
  return typeof value === "string" && findObject(value) !== undefined ? value : JSON.stringify(value ?? {});
}

/**
 * Parses a JSON object.
 *
 * @param value JSON, or its text.
 * @returns Undefined if it is anything else.
 */
export function findObject(value: unknown): JsonObject | undefined {
  if (typeof value !== "string") return isObject(value) ? value : undefined;
  try {
    const parsed = parseBoundedJson(value);
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

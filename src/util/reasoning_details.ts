/**
 * Reasoning details of a message: vendor-specific state in OpenRouter's form, which is sent back with the message.
 *
 * Source: https://openrouter.ai/docs/use-cases/reasoning-tokens, preserving reasoning.
 * @module
 */
import type { JsonObject } from "../contracts/openai.ts";
import { isObject } from "./is_object.ts";
import { toText } from "./to_text.ts";

/** Members whose text arrives in fragments. */
const texts: readonly string[] = ["text", "summary"];

/**
 * Adds details of a message or a delta. A fragment of a text continues the last detail of the same type and index.
 *
 * @param details The details so far, modified in place.
 * @param added The member as it came.
 */
export function addDetails(details: JsonObject[], added: unknown): void {
  if (!Array.isArray(added)) return;
  const last = details.at(-1);
  added.filter(isObject).forEach((detail, position) => {
    const isNext = position === 0 && last !== undefined && "type" in detail && texts.some((name) => name in last) &&
      last.type === detail.type && last.index === detail.index;
    if (isNext) join(last, detail);
    else details.push({ ...detail });
  });
}

function join(target: JsonObject, fragment: JsonObject): void {
  for (const [name, value] of Object.entries(fragment)) {
    const before = target[name];
    if (texts.includes(name) && typeof before === "string") target[name] = before + toText(value);
    else if (value !== null) target[name] = value;
  }
}

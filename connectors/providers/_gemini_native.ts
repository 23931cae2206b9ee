/**
 * Pass-through of native Gemini requests and responses.
 *
 * Source: https://ai.google.dev/gemini-api/docs/thought-signatures, read 2026-11-23.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { CompletionChunk } from "../../src/contracts/provider.ts";
import { editMembers } from "../../src/util/json_members.ts";
import { demandsSignatures } from "./gemini.ts";
import { signatureStandIn } from "./_gemini_messages.ts";
import type { GeminiStream } from "./_gemini_stream.ts";
import { asObjects } from "./_gemini_wire.ts";

/**
 * The client's JSON. If the model requires a signature for a call that another model made, the documented placeholder
 * is inserted.
 *
 * @param model The model id.
 * @param text A JSON object.
 */
export function toNativeText(model: string, text: string): string {
  if (!demandsSignatures(model) || !/"function_?[cC]all"/.test(text)) return text;
  const contents = asObjects((JSON.parse(text) as JsonObject).contents);
  const signed = contents.map(withSignature);
  return signed.some((content, index) => content !== contents[index]) ? editMembers(text, { contents: signed }) : text;
}

/** Of parallel calls, only the first carries a signature. */
function withSignature(content: JsonObject): JsonObject {
  const parts = asObjects(content.parts);
  const first = parts.find(({ functionCall, function_call = functionCall }) => function_call !== undefined);
  if (first === undefined || first.thoughtSignature !== undefined || first.thought_signature !== undefined) {
    return content;
  }
  return {
    ...content,
    parts: parts.map((part) => part === first ? { ...part, thoughtSignature: signatureStandIn } : part),
  };
}

/**
 * A native event together with its translation.
 *
 * @param stream Translates the event.
 */
export function toNativeChunk(event: JsonObject, text: string, stream: GeminiStream): CompletionChunk {
  const values = stream.push(event);
  const [first = stream.emptyChunk] = values;
  // clients read the data of an event from a single line; an array is not an event
  const line = /^\s*\[|[\r\n]/.test(text) ? JSON.stringify(event) : text;
  return { value: { ...first, choices: values.flatMap(({ choices }) => choices) }, native: `data: ${line}\n\n` };
}

/**
 * Converts OpenAI's messages to turns of the Gemini API.
 *
 * Sources, read 2026-11-21: https://ai.google.dev/gemini-api/docs/function-calling, /thought-signatures.
 * @module
 */
import type { ChatMessage, JsonObject, ToolCall } from "../../src/contracts/openai.ts";
import type { UpstreamError } from "../../src/errors.ts";
import { appendAll } from "../../src/util/append_all.ts";
import { findObject, parseArguments } from "../../src/util/call_arguments.ts";
import { createRequestFault } from "./_gemini_fault.ts";
import { generatedImages, joinTextParts, toGeminiParts } from "./_gemini_parts.ts";
import { asObject, asText, type Content, type GeminiPart } from "./_gemini_wire.ts";

/** The documented placeholder for the signature of a call that another model made, or that is synthetic. */
export const signatureStandIn = "skip_thought_signature_validator";

/**
 * Function results sent as a string. The API rejects a `$ref`, which it treats as a file reference; large numbers would
 * lose precision when parsed and serialized.
 */
const betterAsText = /"\$ref"|\d{16}/;

/**
 * Translates a conversation. Adjacent messages of the same role are merged into one turn, as are the results of
 * parallel calls. Text that follows results stays a separate turn, since the API requires as many result parts as
 * calls.
 *
 * @param messages The messages, oldest first.
 * @param signed Whether calls must carry a thought signature.
 * @throws {UpstreamError} `request` if a message cannot be expressed.
 */
export function toGeminiContents(messages: readonly ChatMessage[], signed: boolean): {
  /** The turns, oldest first; at least one. */
  readonly contents: readonly Content[];
  /** The system prompt, if any. */
  readonly systemInstruction?: { readonly parts: readonly GeminiPart[] };
} {
  const turns = new GeminiTurns();
  const system: GeminiPart[] = [];
  messages.forEach((message, index) => {
    const param = `messages[${index}]`;
    switch (message.role) {
      case "system":
      case "developer": {
        const text = joinTextParts(message.content, `${param}.content`);
        if (text !== "") system.push({ text });
        break;
      }
      case "user":
        turns.add("user", atLeastNothing(toGeminiParts(message.content, `${param}.content`)));
        break;
      case "assistant":
        turns.add("model", [
          ...toTextParts(message, param),
          ...generatedImages(message.images, `${param}.images`),
          ...turns.calls(message, signed, param),
        ]);
        break;
      case "tool":
        turns.add("user", [turns.result(message, param)]);
        break;
      default:
        throw unsupportedRole(message.role, param);
    }
  });
  const contents = startsWithCall(turns.contents[0]) ? [opening, ...turns.contents] : turns.contents;
  return contents.length > 0
    ? { contents, ...(system.length === 0 ? {} : { systemInstruction: { parts: system } }) }
    // the API requires at least one turn
    : { contents: [{ role: "user", parts: atLeastNothing(system) }] };
}

function unsupportedRole(role: string, param: string): UpstreamError {
  const accepted = "the API accepts system, developer, user, assistant and tool";
  return createRequestFault(`Cannot send a message with the role "${role}": ${accepted}`, `${param}.role`);
}

/** A function call must follow a turn of the user (gemini-cli#11814). */
const opening: Content = { role: "user", parts: [{ text: "..." }] };

function startsWithCall(first: Content | undefined): boolean {
  return first?.role === "model" && first.parts.some(({ functionCall }) => functionCall !== undefined);
}

class GeminiTurns {
  readonly contents: Content[] = [];
  /** Function names by call id; results contain only the id. */
  readonly #names = new Map<string, string>();
  /** Whether the last turn contains results. */
  #hasResults = false;

  add(role: Content["role"], parts: readonly GeminiPart[]): void {
    if (parts.length === 0) return;
    const last = this.contents.at(-1);
    const hasResults = parts.some(({ functionResponse }) => functionResponse !== undefined);
    if (last?.role === role && this.#hasResults === hasResults) appendAll(last.parts, parts);
    else this.contents.push({ role, parts: [...parts] });
    this.#hasResults = hasResults;
  }

  calls({ tool_calls: calls }: ChatMessage, signed: boolean, param: string): GeminiPart[] {
    if (!Array.isArray(calls)) return [];
    return calls.map((call, index) => {
      const functionCall = toGeminiCall(call, `${param}.tool_calls[${index}]`);
      if (functionCall.id !== undefined) this.#names.set(functionCall.id, functionCall.name);
      // of parallel calls, only the first carries a signature
      const signature = findSignature(call) ?? (signed && index === 0 ? signatureStandIn : undefined);
      return { functionCall, ...(signature === undefined ? {} : { thoughtSignature: signature }) };
    });
  }

  result({ tool_call_id: id, content, name: functionName }: ChatMessage, param: string): GeminiPart {
    const name = this.#names.get(id ?? "") ?? asText(functionName);
    if (name === undefined) {
      throw createRequestFault(`Cannot find the call "${id}" among those of earlier messages`, `${param}.tool_call_id`);
    }
    const response = toFunctionResult(joinTextParts(content, `${param}.content`));
    return { functionResponse: { ...(asText(id) === undefined ? {} : { id }), name, response } };
  }
}

function atLeastNothing(parts: GeminiPart[]): GeminiPart[] {
  return parts.length === 0 ? [{ text: "" }] : parts;
}

function toTextParts({ content, refusal }: ChatMessage, param: string): GeminiPart[] {
  const parts = toGeminiParts(content, `${param}.content`);
  const refused = asText(refusal);
  return parts.length === 0 && refused !== undefined ? [{ text: refused }] : parts;
}

function toGeminiCall(call: ToolCall, param: string): NonNullable<GeminiPart["functionCall"]> {
  const name = asText(call?.function?.name);
  if (name === undefined) throw createRequestFault("Cannot send a tool call that is not of a named function", param);
  const id = asText(call.id);
  return { ...(id === undefined ? {} : { id }), name, args: parseArguments(call.function.arguments) };
}

function toFunctionResult(text: string): JsonObject {
  const json = text.trimStart().startsWith("{") && !betterAsText.test(text) ? findObject(text) : undefined;
  return json ?? { result: text };
}

function findSignature(call: ToolCall): string | undefined {
  return asText(asObject(call.extra_content?.google)?.thought_signature);
}

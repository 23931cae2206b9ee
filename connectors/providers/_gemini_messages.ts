/**
 * A conversation in OpenAI's dialect as turns of the Gemini API.
 *
 * Sources, read 2026-11-21: https://ai.google.dev/gemini-api/docs/function-calling, /thought-signatures.
 * @module
 */
import type { ChatMessage, JsonObject, ToolCall } from "../../src/contracts/openai.ts";
import { requestFault } from "./_gemini_fault.ts";
import { partsOf, textOf } from "./_gemini_parts.ts";
import { asObject, asText, type Content, type Part } from "./_gemini_wire.ts";

/** The documented stand-in for the signature of a call that another model made, or that is invented. */
export const signatureStandIn = "skip_thought_signature_validator";

/**
 * A result with a `$ref` is refused, as the API looks for a file of that name; a number of so many digits would
 * not survive being read and written again.
 */
const betterAsText = /"\$ref"|\d{16}/;

/** A conversation in Gemini's terms. */
interface Conversation {
  /** The turns, oldest first; at least one. */
  readonly contents: readonly Content[];
  /** The system prompt, when there is one. */
  readonly systemInstruction?: { readonly parts: readonly Part[] };
}

/**
 * Translates a conversation. Neighbouring messages of one side become one turn, and so do the results of calls
 * made at once; words that follow results stay a turn of their own, since the API counts the parts of results.
 *
 * @param messages The messages, oldest first.
 * @param signed Whether calls have to carry a signature.
 * @throws {UpstreamError} `request` for what cannot be expressed.
 */
export function conversationOf(messages: readonly ChatMessage[], signed: boolean): Conversation {
  const turns = new Turns();
  const system: Part[] = [];
  messages.forEach((message, place) => {
    const param = `messages[${place}]`;
    switch (message.role) {
      case "system":
      case "developer": {
        const text = textOf(message.content, `${param}.content`);
        if (text !== "") system.push({ text });
        break;
      }
      case "user":
        turns.add("user", atLeastNothing(partsOf(message.content, `${param}.content`)));
        break;
      case "assistant":
        turns.add("model", [...spokenParts(message, param), ...turns.calls(message, signed, param)]);
        break;
      case "tool":
        turns.add("user", [turns.result(message, param)]);
        break;
      default:
        throw requestFault(
          `Cannot send a message of the role "${message.role}": it takes system, developer, user, assistant and tool`,
          `${param}.role`,
        );
    }
  });
  return turns.contents.length > 0
    ? { contents: turns.contents, ...(system.length === 0 ? {} : { systemInstruction: { parts: system } }) }
    // the API wants at least one turn
    : { contents: [{ role: "user", parts: atLeastNothing(system) }] };
}

class Turns {
  readonly contents: Content[] = [];
  /** Names of functions by the ids of their calls; results carry only the id. */
  readonly #names = new Map<string, string>();

  add(role: Content["role"], parts: readonly Part[]): void {
    if (parts.length === 0) return;
    const last = this.contents.at(-1);
    if (last?.role === role && hasResults(last.parts) === hasResults(parts)) last.parts.push(...parts);
    else this.contents.push({ role, parts: [...parts] });
  }

  calls({ tool_calls: calls }: ChatMessage, signed: boolean, param: string): Part[] {
    if (!Array.isArray(calls)) return [];
    return calls.map((call, place) => {
      const functionCall = functionCallOf(call, `${param}.tool_calls[${place}]`);
      if (functionCall.id !== undefined) this.#names.set(functionCall.id, functionCall.name);
      // of calls made at once only the first bears a signature
      const signature = signatureOf(call) ?? (signed && place === 0 ? signatureStandIn : undefined);
      return { functionCall, ...(signature === undefined ? {} : { thoughtSignature: signature }) };
    });
  }

  result({ tool_call_id: id, content, name: given }: ChatMessage, param: string): Part {
    const name = this.#names.get(id ?? "") ?? asText(given);
    if (name === undefined) {
      throw requestFault(`Cannot find the call "${id}" among those of earlier messages`, `${param}.tool_call_id`);
    }
    const response = resultOf(textOf(content, `${param}.content`));
    return { functionResponse: { ...(asText(id) === undefined ? {} : { id }), name, response } };
  }
}

function atLeastNothing(parts: Part[]): Part[] {
  return parts.length === 0 ? [{ text: "" }] : parts;
}

function hasResults(parts: readonly Part[]): boolean {
  return parts.some(({ functionResponse }) => functionResponse !== undefined);
}

function spokenParts({ content, refusal }: ChatMessage, param: string): Part[] {
  const parts = partsOf(content, `${param}.content`);
  const refused = asText(refusal);
  return parts.length === 0 && refused !== undefined ? [{ text: refused }] : parts;
}

function functionCallOf(call: ToolCall, param: string): NonNullable<Part["functionCall"]> {
  const name = asText(call?.function?.name);
  if (name === undefined) throw requestFault("Cannot send a tool call that is not of a named function", param);
  const id = asText(call.id);
  const args = argumentsOf(call.function.arguments, `${param}.function.arguments`);
  return { ...(id === undefined ? {} : { id }), name, args };
}

function argumentsOf(text: unknown, param: string): JsonObject {
  if (text === undefined || text === null || (typeof text === "string" && text.trim() === "")) return {};
  const args = asObject(typeof text === "string" ? jsonOf(text) : text);
  if (args === undefined) throw requestFault("Cannot send arguments that are no JSON object", param);
  return args;
}

function resultOf(text: string): JsonObject {
  const json = text.trimStart().startsWith("{") && !betterAsText.test(text) ? asObject(jsonOf(text)) : undefined;
  return json ?? { result: text };
}

function signatureOf(call: ToolCall): string | undefined {
  return asText(asObject(call.extra_content?.google)?.thought_signature);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Normalizes complete chat responses.
 * @module
 */
import type { ChatCompletion } from "../contracts/openai.ts";
import type { CompletionRequest } from "../contracts/provider.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { UpstreamError } from "../errors.ts";
import { isObject } from "./is_object.ts";
import {
  createId,
  normalizeFinishReason,
  normalizeLists,
  normalizeText,
  normalizeUsage,
  readSources,
  toArguments,
  toCalls,
  toSourceAnnotations,
} from "./normalize_message.ts";
import { toText } from "./to_text.ts";

/** What fills in members that a response lacks. */
export interface CompletionDefaults {
  /** The upstream model id. */
  readonly model: string;
  /** Whether the client uses the older `functions`, and expects `function_call`. */
  readonly keepsFunctionCall: boolean;
  /** A source of randomness, 0 to 1. */
  readonly random: () => number;
  /** The time, ms since 1970. */
  readonly now: () => number;
}

/**
 * Returns what fills in the responses to a request.
 *
 * @param runtime Clock and randomness.
 */
export function createDefaults(
  { model, body }: Pick<CompletionRequest, "model" | "body">,
  { random, clock }: Pick<Runtime, "random" | "clock">,
): CompletionDefaults {
  return { model: model.id, keepsFunctionCall: body.functions !== undefined, random, now: () => clock.now() };
}

/**
 * Converts a vendor's variation of a chat response to OpenAI's shape: null becomes absent, an object of arguments
 * becomes JSON text, missing arguments become `{}`, missing ids are created, and sources become annotations.
 *
 * @param body The response; modified in place.
 * @param defaults What fills in missing members.
 * @returns Whether it was modified.
 * @throws {UpstreamError} `invalid_response` if a choice has no message, or a tool call no function.
 */
export function normalizeCompletion(body: ChatCompletion, defaults: CompletionDefaults): boolean {
  if (!Array.isArray(body.choices)) throw createInvalidResponse("has no choices");
  let isChanged = fillHead(body as Record<string, unknown>, defaults);
  isChanged = normalizeUsage(body) || isChanged;
  const sources = readSources(body);
  for (let position = 0; position < body.choices.length; position++) {
    const choice: unknown = body.choices[position];
    if (!isObject(choice) || !isObject(choice.message)) throw createInvalidResponse("has a choice without a message");
    isChanged = normalizeChoice(choice as UncheckedCompletionChoice, position, defaults) || isChanged;
    if (sources.length === 0 || Array.isArray(choice.message.annotations)) continue;
    choice.message.annotations = toSourceAnnotations(sources, toText(choice.message.content));
    isChanged = true;
  }
  return isChanged;
}

type UncheckedCompletionChoice = Record<string, unknown> & { message: Record<string, unknown> };

function fillHead(body: Record<string, unknown>, { model, random, now }: CompletionDefaults): boolean {
  let isChanged = false;
  if (!isFilledString(body.id)) isChanged = setMember(body, "id", createId("chatcmpl-", random));
  if (body.object !== "chat.completion") isChanged = setMember(body, "object", "chat.completion");
  if (!Number.isInteger(body.created)) isChanged = setMember(body, "created", Math.floor(now() / 1000));
  if (!isFilledString(body.model)) isChanged = setMember(body, "model", model);
  return isChanged;
}

function normalizeChoice(choice: UncheckedCompletionChoice, position: number, defaults: CompletionDefaults): boolean {
  const { message } = choice;
  const { keepsFunctionCall } = defaults;
  let isChanged = choice.index !== position && setMember(choice, "index", position);
  isChanged = normalizeText(message) || isChanged;
  isChanged = normalizeLists(message) || isChanged;
  if (message.role !== "assistant") isChanged = setMember(message, "role", "assistant");
  if (message.content === undefined) isChanged = setMember(message, "content", null);
  isChanged = convertFunctionCall(message, keepsFunctionCall) || isChanged;
  isChanged = normalizeCalls(message, defaults) || isChanged;
  const hasCalls = Array.isArray(message.tool_calls);
  isChanged = normalizeFinishReason(choice, { hasCalls, keepsFunctionCall }) || isChanged;
  const isEnded = choice.finish_reason !== null && choice.finish_reason !== undefined;
  return isEnded ? isChanged : setMember(choice, "finish_reason", hasCalls ? "tool_calls" : "stop");
}

/** Sets a member. Returns true: the object was modified. */
function setMember(target: Record<string, unknown>, name: string, value: unknown): true {
  target[name] = value;
  return true;
}

/** The older form of a single tool call. */
function convertFunctionCall(message: Record<string, unknown>, isRetained: boolean): boolean {
  const { function_call: call } = message;
  if (call === undefined) return false;
  if (isRetained && isObject(call)) {
    const text = toArguments(call.arguments);
    if (text === call.arguments) return false;
    message.function_call = { ...call, arguments: text };
    return true;
  }
  delete message.function_call;
  if (isObject(call) && !Array.isArray(message.tool_calls)) message.tool_calls = [{ type: "function", function: call }];
  return true;
}

/** Removes a value that is not a list of tool calls, and completes each call of one. Each has an id of its own. */
function normalizeCalls(message: Record<string, unknown>, { random }: CompletionDefaults): boolean {
  const { tool_calls: rawCalls } = message;
  if (rawCalls === undefined) return false;
  const calls = toCalls(rawCalls);
  if (calls === undefined) {
    delete message.tool_calls;
    return true;
  }
  let isChanged = calls !== rawCalls;
  message.tool_calls = calls;
  const ids = new Set<string>();
  for (const [position, call] of calls.entries()) {
    if (!isObject(call)) throw createInvalidResponse("has an unreadable tool call");
    const isCustom = call.type === "custom" && isObject(call.custom);
    const isUnique = isFilledString(call.id) && !ids.has(call.id);
    if (isUnique) ids.add(call.id as string);
    if (!isUnique) isChanged = setMember(call, "id", createId(`call_${position}`, random));
    if (call.index !== undefined && call.index !== position) { // some servers number all 0
      isChanged = setMember(call, "index", position);
    }
    if (!isCustom && call.type !== "function") isChanged = setMember(call, "type", "function");
    if (!isCustom) isChanged = normalizeFunction(call.function) || isChanged;
  }
  return isChanged;
}

function normalizeFunction(fn: unknown): boolean {
  if (!isObject(fn) || !isFilledString(fn.name)) throw createInvalidResponse("has a tool call without a function");
  const text = toArguments(fn.arguments);
  if (text === fn.arguments) return false;
  fn.arguments = text;
  return true;
}

function isFilledString(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function createInvalidResponse(what: string): UpstreamError {
  return new UpstreamError(`The provider's response ${what}`, { kind: "invalid_response" });
}

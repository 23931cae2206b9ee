/**
 * Converts a Responses request to a chat request.
 * @module
 */
import type { ChatCompletionRequest, JsonObject } from "../../contracts/openai.ts";
import { bodyChecker, checkOptional, isNonNegativeInteger, wrongType } from "../../pipeline/check_body.ts";
import { isObject } from "../../util/is_object.ts";
import { quoteValue, readStringAt } from "./_content.ts";
import { convertInput } from "./_conversation.ts";
import { ResponsesNativeOnly } from "./_native_only.ts";
import { readResponsesTools, type ResponsesTooling } from "./_tools.ts";

/** Members that chat supports, that have no effect on other models, or that {@linkcode ResponsesNativeOnly} collects. */
const ownMembers: readonly string[] = [
  ...["input", "instructions", "stream", "stream_options", "temperature", "top_p", "top_logprobs", "max_output_tokens"],
  ...["tools", "tool_choice", "parallel_tool_calls", "text", "reasoning", "include", "metadata", "service_tier"],
  ...["user", "safety_identifier", "prompt_cache_key", "prompt_cache_retention"],
  ...["store", "background", "previous_response_id", "conversation", "prompt"],
];

const translated: ReadonlySet<string> = new Set([...ownMembers, "model", "models", "mesh"]);

const checkMembers = bodyChecker(ownMembers);

/** Maximum length of `user` in chat APIs, characters. */
const maxUserChars = 64;

/** A chat request, and what it cannot express. */
interface ResponsesForm extends Pick<ResponsesTooling, "table" | "search"> {
  readonly chat: ChatCompletionRequest;
  readonly session: string | undefined;
  readonly dropped: readonly string[];
  /** What only providers of the Responses API support. */
  readonly nativeOnly: ResponsesNativeOnly;
}

/**
 * Converts a request.
 *
 * @param value The parsed body, unvalidated.
 * @param searches Whether the proxy runs searches.
 * @throws {UnsupportedRequestError} If it is malformed.
 */
export function convertResponsesRequest(value: unknown, searches = false): ResponsesForm {
  const body = checkMembers(value);
  checkPlain(body);
  const nativeOnly = new ResponsesNativeOnly();
  rejectStored(body, nativeOnly);
  const { model, models, mesh, max_output_tokens: max_tokens, stream, temperature, top_p, user } = body;
  const session = [body.prompt_cache_key, body.safety_identifier, user].find(isName);
  const plain = { model, models, mesh, max_tokens, stream, temperature, top_p };
  const tools = readResponsesTools(body, nativeOnly);
  const messages = convertInput(body.instructions, body.input, { nativeOnly, table: tools.table });
  const output = convertOutput(body, nativeOnly);
  const { chat: tooling, table, search, dropped } = tools.toTooling(body, searches);
  const chat = omitEmptyMembers({
    ...plain,
    messages,
    ...tooling,
    ...output,
    user: isName(user) && user.length <= maxUserChars ? user : undefined,
  }) as unknown as ChatCompletionRequest;
  return { chat, session, dropped: [...listDropped(body), ...dropped], nativeOnly, table, search };
}

function checkPlain(body: JsonObject): void {
  for (const name of ["temperature", "top_p"]) {
    checkOptional(body, { name, expected: "a number", isValid: Number.isFinite });
  }
  for (const name of ["stream", "store", "background", "parallel_tool_calls"]) {
    checkOptional(body, { name, expected: "a boolean", isValid: (value) => typeof value === "boolean" });
  }
  for (const name of ["text", "reasoning", "metadata", "stream_options"]) {
    checkOptional(body, { name, expected: "an object", isValid: isObject });
  }
  checkOptional(body, { name: "instructions", expected: "a string", isValid: (value) => typeof value === "string" });
  checkOptional(body, { name: "include", expected: "an array", isValid: Array.isArray });
  for (const [name, least] of [["max_output_tokens", 1], ["top_logprobs", 0]] as const) {
    const isInRange = (value: unknown) => isNonNegativeInteger(value) && value >= least;
    checkOptional(body, { name, expected: `an integer of at least ${least}`, isValid: isInRange });
  }
}

/** ModelMesh stores nothing between requests, and has no background responses. */
function rejectStored(
  { previous_response_id, conversation, prompt, background, store }: JsonObject,
  nativeOnly: ResponsesNativeOnly,
): void {
  for (const [name, value] of Object.entries({ previous_response_id, conversation })) {
    if (value === undefined || value === null) continue;
    nativeOnly.addStored(name, {
      what: "refers to a conversation that the provider stores",
      instead: 'send all of it in "input"',
    });
  }
  if (prompt !== undefined && prompt !== null) {
    nativeOnly.addStored("prompt", {
      what: "refers to a prompt that the provider stores",
      instead: 'send its text in "instructions" and "input"',
    });
  }
  if (background === true) {
    nativeOnly.addPinned("background", {
      what: "is true",
      instead: "remove it, and wait for the response or stream it",
    });
  }
  if (store === true) {
    nativeOnly.addPinned("store", {
      what: "is true",
      instead: 'remove it, and send the complete conversation in "input"',
    });
  }
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Reasoning effort and response format. */
function convertOutput(
  { reasoning, text, include, top_logprobs: top }: JsonObject,
  nativeOnly: ResponsesNativeOnly,
): Partial<ChatCompletionRequest> {
  const { effort } = isObject(reasoning) ? reasoning : {};
  if (effort !== undefined && effort !== null && typeof effort !== "string") {
    throw wrongType("reasoning.effort", "a string", effort);
  }
  const { format } = isObject(text) ? text : {};
  const isScored = isNonNegativeInteger(top) && top > 0 ||
    Array.isArray(include) && include.includes("message.output_text.logprobs");
  return {
    reasoning_effort: effort as string | undefined,
    response_format: format === undefined || format === null ? undefined : convertTextFormat(format, nativeOnly),
    ...(isScored ? { logprobs: true, top_logprobs: top ?? undefined } : {}),
  };
}

function convertTextFormat(format: unknown, nativeOnly: ResponsesNativeOnly): ChatCompletionRequest["response_format"] {
  if (!isObject(format)) throw wrongType("text.format", "an object", format);
  const { type, schema, strict, description } = format;
  if (type === "text") return undefined;
  if (type === "json_object") return { type };
  if (type !== "json_schema") {
    nativeOnly.addLack("text.format.type", {
      what: `is ${quoteValue(type)}`,
      instead: 'use "text", "json_object" or "json_schema"',
    });
    return undefined;
  }
  if (!isObject(schema)) throw wrongType("text.format.schema", "an object", schema);
  const name = readStringAt(format, "name", "text.format");
  return { type, json_schema: omitEmptyMembers({ name, description, schema, strict }) };
}

function listDropped(body: JsonObject): string[] {
  const names = Object.keys(body).filter((name) => !translated.has(name) && body[name] !== null);
  const { verbosity } = isObject(body.text) ? body.text : {};
  return verbosity === undefined || verbosity === null ? names : [...names, "text.verbosity"];
}

function omitEmptyMembers(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null));
}

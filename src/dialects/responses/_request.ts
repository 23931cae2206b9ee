/**
 * Converts a Responses request to a chat request.
 * @module
 */
import type { ChatCompletionRequest, JsonObject, Tool } from "../../contracts/openai.ts";
import {
  bodyChecker,
  checkCount,
  checkOptional,
  isNonNegativeInteger,
  maxTools,
  wrongType,
} from "../../pipeline/check_body.ts";
import { isObject } from "../../util/is_object.ts";
import { quoteValue, readStringAt } from "./_content.ts";
import { convertInput } from "./_conversation.ts";
import { ResponsesNativeOnly } from "./_native_only.ts";

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
interface ResponsesForm {
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
 * @throws {UnsupportedRequestError} If it is malformed.
 */
export function convertResponsesRequest(value: unknown): ResponsesForm {
  const body = checkMembers(value);
  checkPlain(body);
  const nativeOnly = new ResponsesNativeOnly();
  rejectStored(body, nativeOnly);
  const { model, models, mesh, max_output_tokens: max_tokens, stream, temperature, top_p, user } = body;
  const session = [body.prompt_cache_key, body.safety_identifier, user].find(isName);
  const plain = { model, models, mesh, max_tokens, stream, temperature, top_p };
  const chat = omitEmptyMembers({
    ...plain,
    messages: convertInput(body.instructions, body.input, nativeOnly),
    ...convertResponsesTools(body, nativeOnly),
    ...convertOutput(body, nativeOnly),
    user: isName(user) && user.length <= maxUserChars ? user : undefined,
  }) as unknown as ChatCompletionRequest;
  return { chat, session, dropped: listDropped(body), nativeOnly };
}

function checkPlain(body: JsonObject): void {
  for (const name of ["temperature", "top_p"]) {
    checkOptional(body, { name, expected: "a number", isValid: Number.isFinite });
  }
  for (const name of ["stream", "store", "background", "parallel_tool_calls"]) {
    checkOptional(body, { name, expected: "a boolean", isValid: (given) => typeof given === "boolean" });
  }
  for (const name of ["text", "reasoning", "metadata", "stream_options"]) {
    checkOptional(body, { name, expected: "an object", isValid: isObject });
  }
  checkOptional(body, { name: "instructions", expected: "a string", isValid: (given) => typeof given === "string" });
  checkOptional(body, { name: "include", expected: "an array", isValid: Array.isArray });
  for (const [name, least] of [["max_output_tokens", 1], ["top_logprobs", 0]] as const) {
    const isInRange = (given: unknown) => isNonNegativeInteger(given) && given >= least;
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

/** The tool parameters of a chat request. */
type ResponsesTooling = Pick<ChatCompletionRequest, "tools" | "tool_choice" | "parallel_tool_calls">;

/**
 * Converts tools and tool choice.
 *
 * @param nativeOnly Collects hosted tools.
 * @throws {UnsupportedRequestError} If it is malformed.
 */
function convertResponsesTools(
  { tools, tool_choice, parallel_tool_calls: parallel }: JsonObject,
  nativeOnly: ResponsesNativeOnly,
): ResponsesTooling {
  if (tools === undefined || tools === null) return {};
  if (!Array.isArray(tools)) throw wrongType("tools", "an array", tools);
  checkCount(tools, "tools", maxTools);
  const functions = tools.flatMap((tool, index) => convertResponsesTool(tool, `tools[${index}]`, nativeOnly));
  const { allowed, choice } = convertResponsesChoice(tool_choice, nativeOnly);
  const allowedTools = allowed === undefined ? functions : functions.filter((one) => allowed.has(one.function!.name));
  if (allowedTools.length === 0) return {};
  return {
    tools: allowedTools,
    ...(choice === undefined ? {} : { tool_choice: choice }),
    ...(typeof parallel === "boolean" ? { parallel_tool_calls: parallel } : {}),
  };
}

function convertResponsesTool(tool: unknown, where: string, nativeOnly: ResponsesNativeOnly): Tool[] {
  if (!isObject(tool)) throw wrongType(where, "an object", tool);
  const { type, description, parameters, strict } = tool;
  if (type !== "function") {
    nativeOnly.addLack(`${where}.type`, {
      what: `is ${quoteValue(type)}`,
      instead: 'describe a tool of your own, of the type "function"',
    });
    return [];
  }
  if (parameters !== undefined && parameters !== null && !isObject(parameters)) {
    throw wrongType(`${where}.parameters`, "an object", parameters);
  }
  return [{
    type: "function",
    function: {
      name: readStringAt(tool, "name", where),
      ...(typeof description === "string" ? { description } : {}),
      ...(isObject(parameters) ? { parameters } : {}),
      ...(typeof strict === "boolean" ? { strict } : {}),
    },
  }];
}

/** The tool choice in chat's terms, and the allowed tools, if the request restricts them. */
interface ResponsesToolChoice {
  readonly choice?: ChatCompletionRequest["tool_choice"];
  readonly allowed?: ReadonlySet<unknown>;
}

function convertResponsesChoice(choice: unknown, nativeOnly: ResponsesNativeOnly): ResponsesToolChoice {
  if (choice === undefined || choice === null) return {};
  if (choice === "none" || choice === "auto" || choice === "required") return { choice };
  if (typeof choice === "string") {
    nativeOnly.addLack("tool_choice", {
      what: `is ${quoteValue(choice)}`,
      instead: 'use "none", "auto", "required" or an object',
    });
    return {};
  }
  if (!isObject(choice)) throw wrongType("tool_choice", "a string or an object", choice);
  if (choice.type === "function") {
    return { choice: { type: "function", function: { name: readStringAt(choice, "name", "tool_choice") } } };
  }
  if (choice.type === "allowed_tools" && Array.isArray(choice.tools)) {
    const allowed = new Set(choice.tools.map((tool: unknown) => isObject(tool) ? tool.name : undefined));
    return { choice: choice.mode === "required" ? "required" : "auto", allowed };
  }
  nativeOnly.addLack("tool_choice.type", {
    what: `is ${quoteValue(choice.type)}`,
    instead: 'use "function" or "allowed_tools"',
  });
  return {};
}

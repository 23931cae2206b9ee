/**
 * Converts a Messages request to a chat request.
 * @module
 */
import type { ChatCompletionRequest, JsonObject } from "../../contracts/openai.ts";
import {
  bodyChecker,
  checkOptional,
  invalid,
  isNonNegativeInteger,
  missing,
  wrongType,
} from "../../pipeline/check_body.ts";
import { isObject } from "../../util/is_object.ts";
import { NativeOnly } from "../native_only.ts";
import type { WebSearchTool } from "../web_search.ts";
import { convertTurns } from "./_conversation.ts";
import { convertMessagesTools } from "./_tools.ts";

const ownMembers: readonly string[] = [
  ...["messages", "max_tokens", "system", "stream", "metadata", "stop_sequences", "temperature", "top_p", "top_k"],
  ...["tools", "tool_choice", "thinking", "output_config", "service_tier", "container", "mcp_servers"],
];

/** Members that chat supports, or that have no effect on other models. */
const translated: ReadonlySet<string> = new Set([...ownMembers, "model", "models", "mesh", "cache_control"]);

const checkMembers = bodyChecker(ownMembers);

/** Maximum length of `user` in chat APIs, characters. */
const maxUserChars = 64;

/**
 * Converts a request.
 *
 * @param value The parsed body, unvalidated.
 * @param searches Whether the proxy runs searches.
 * @throws {UnsupportedRequestError} If it is malformed.
 */
export function convertMessagesRequest(value: unknown, searches = false): {
  readonly chat: ChatCompletionRequest;
  readonly session: string | undefined;
  readonly dropped: readonly string[];
  /** What only models of the API support. */
  readonly nativeOnly: NativeOnly;
  /** The search tool that the proxy runs. */
  readonly search: WebSearchTool | undefined;
} {
  const body = checkMembers(value);
  checkPlainMembers(body);
  const nativeOnly = new NativeOnly();
  addHosted(body, nativeOnly);
  const { model, models, mesh, max_tokens, stream, temperature, top_p, top_k, stop_sequences, cache_control } = body;
  if (max_tokens === undefined || max_tokens === null) throw missing("max_tokens");
  if (!isNonNegativeInteger(max_tokens) || max_tokens === 0) {
    throw invalid('"max_tokens" has to be an integer of at least 1', "max_tokens");
  }
  const session = readUser(body.metadata);
  const plain = { model, models, mesh, max_tokens, stream, temperature, top_p, top_k, cache_control };
  const conversation = convertTurns(body.system, body.messages, nativeOnly);
  const output = convertOutputConfig(body, nativeOnly);
  const { chat: tooling, search, dropped } = convertMessagesTools(body, { nativeOnly, searches });
  const names = Object.keys(body).filter((name) => !translated.has(name) && body[name] !== null);
  return {
    chat: omitEmpty({
      ...plain,
      messages: conversation,
      ...tooling,
      stop: readStopSequences(stop_sequences),
      ...output,
      user: session !== undefined && session.length <= maxUserChars ? session : undefined,
    }) as unknown as ChatCompletionRequest,
    session,
    dropped: [...names, ...dropped],
    nativeOnly,
    search,
  };
}

function checkPlainMembers(body: JsonObject): void {
  for (const name of ["temperature", "top_p", "top_k"]) {
    checkOptional(body, { name, expected: "a number", isValid: Number.isFinite });
  }
  checkOptional(body, { name: "stream", expected: "a boolean", isValid: (value) => typeof value === "boolean" });
  for (const name of ["metadata", "thinking", "output_config"]) {
    checkOptional(body, { name, expected: "an object", isValid: isObject });
  }
}

function addHosted(body: JsonObject, nativeOnly: NativeOnly): void {
  for (const name of ["container", "mcp_servers"]) {
    const member = body[name];
    if (member === undefined || member === null || Array.isArray(member) && member.length === 0) continue;
    nativeOnly.add(name, `"${name}" is not supported by models of other APIs: remove it`);
  }
}

function readUser(metadata: unknown): string | undefined {
  const id = isObject(metadata) ? metadata.user_id : undefined;
  return typeof id === "string" && id !== "" ? id : undefined;
}

function readStopSequences(stops: unknown): string[] | undefined {
  if (stops === undefined || stops === null) return undefined;
  if (!Array.isArray(stops)) throw wrongType("stop_sequences", "an array", stops);
  stops.forEach((stop, index) => {
    if (typeof stop !== "string") throw wrongType(`stop_sequences[${index}]`, "a string", stop);
  });
  return stops.length === 0 ? undefined : stops;
}

/** Reasoning effort and response format. */
function convertOutputConfig(
  { thinking, output_config: config }: JsonObject,
  nativeOnly: NativeOnly,
): Partial<ChatCompletionRequest> {
  const { effort, format } = isObject(config) ? config : {};
  return {
    reasoning_effort: convertThinking(isObject(thinking) ? thinking : {}, effort, nativeOnly),
    response_format: isObject(format) ? convertOutputFormat(format, nativeOnly) : undefined,
  };
}

/** Without thinking, no effort is set: not every model supports the parameter. */
function convertThinking(
  { type, budget_tokens: budget }: JsonObject,
  effort: unknown,
  nativeOnly: NativeOnly,
): string | undefined {
  if (type === "disabled") return undefined;
  if (typeof effort === "string") return effort === "max" ? "xhigh" : effort;
  if (type !== "enabled") return undefined;
  if (typeof budget !== "number") {
    nativeOnly.add("thinking.budget_tokens", '"thinking.budget_tokens" has to be a number for models of other APIs');
    return undefined;
  }
  return budget <= 2_048 ? "low" : budget <= 8_192 ? "medium" : "high";
}

function convertOutputFormat(
  { type, schema }: JsonObject,
  nativeOnly: NativeOnly,
): ChatCompletionRequest["response_format"] {
  if (type === "json_schema" && isObject(schema)) {
    return { type: "json_schema", json_schema: { name: "response", schema, strict: true } };
  }
  nativeOnly.add("output_config.format", '"output_config.format" has to have the type "json_schema" and a schema');
  return undefined;
}

function omitEmpty(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null));
}

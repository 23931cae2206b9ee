/**
 * Converts a Messages request to a chat request.
 * @module
 */
import type { ChatCompletionRequest, JsonObject, Tool } from "../../contracts/openai.ts";
import type { UnsupportedRequestError } from "../../errors.ts";
import {
  bodyChecker,
  checkCount,
  checkOptional,
  invalid,
  isNonNegativeInteger,
  maxTools,
  missing,
  wrongType,
} from "../../pipeline/check_body.ts";
import { isObject } from "../../util/is_object.ts";
import { toText } from "../../util/to_text.ts";
import { NativeOnly } from "../native_only.ts";
import { findMark, stringAt } from "./_content.ts";
import { convertTurns } from "./_conversation.ts";

const ownMembers: readonly string[] = [
  ...["messages", "max_tokens", "system", "stream", "metadata", "stop_sequences", "temperature", "top_p", "top_k"],
  ...["tools", "tool_choice", "thinking", "output_config", "service_tier", "container", "mcp_servers"],
];

/** Members that chat supports, or that have no effect on other models. */
const translated: ReadonlySet<string> = new Set([...ownMembers, "model", "models", "mesh", "cache_control"]);

const checkMembers = bodyChecker(ownMembers);

/** Maximum length of `user` in chat APIs, characters. */
const maxUserChars = 64;

/** A chat request, and what it cannot express. */
interface MessagesForm {
  readonly chat: ChatCompletionRequest;
  readonly session: string | undefined;
  readonly dropped: readonly string[];
  /** The error if no model with native support is eligible; undefined if chat can express the request. */
  readonly nativeOnly: UnsupportedRequestError | undefined;
}

/**
 * Converts a request.
 *
 * @param value The parsed body, unvalidated.
 * @throws {UnsupportedRequestError} If it is malformed.
 */
export function convertMessagesRequest(value: unknown): MessagesForm {
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
  return {
    chat: omitEmpty({
      ...plain,
      messages: convertTurns(body.system, body.messages, nativeOnly),
      ...convertMessagesTools(body, nativeOnly),
      stop: readStopSequences(stop_sequences),
      ...convertOutputConfig(body, nativeOnly),
      user: session !== undefined && session.length <= maxUserChars ? session : undefined,
    }) as unknown as ChatCompletionRequest,
    session,
    dropped: Object.keys(body).filter((name) => !translated.has(name) && body[name] !== null),
    nativeOnly: nativeOnly.error,
  };
}

function checkPlainMembers(body: JsonObject): void {
  for (const name of ["temperature", "top_p", "top_k"]) {
    checkOptional(body, { name, expected: "a number", isValid: Number.isFinite });
  }
  checkOptional(body, { name: "stream", expected: "a boolean", isValid: (given) => typeof given === "boolean" });
  for (const name of ["metadata", "thinking", "output_config"]) {
    checkOptional(body, { name, expected: "an object", isValid: isObject });
  }
}

function addHosted(body: JsonObject, nativeOnly: NativeOnly): void {
  for (const name of ["container", "mcp_servers"]) {
    const given = body[name];
    if (given === undefined || given === null || Array.isArray(given) && given.length === 0) continue;
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

/** The tool parameters of a chat request. */
type MessagesTooling = Pick<ChatCompletionRequest, "tools" | "tool_choice" | "parallel_tool_calls">;

/**
 * Converts tools and tool choice.
 *
 * @param nativeOnly Collects tools that the API defines.
 * @throws {UnsupportedRequestError} If it is malformed.
 */
function convertMessagesTools(
  { tools, tool_choice: choice }: JsonObject,
  nativeOnly: NativeOnly,
): MessagesTooling {
  if (tools === undefined || tools === null) return {};
  if (!Array.isArray(tools)) throw wrongType("tools", "an array", tools);
  checkCount(tools, "tools", maxTools);
  if (tools.length === 0) return {};
  const functions = tools.flatMap((tool, index) => convertMessagesTool(tool, `tools[${index}]`, nativeOnly));
  const chosen = convertToolChoice(choice, nativeOnly);
  return functions.length === 0 ? {} : { tools: functions, ...chosen };
}

function convertMessagesTool(tool: unknown, where: string, nativeOnly: NativeOnly): Tool[] {
  if (!isObject(tool)) throw wrongType(where, "an object", tool);
  const { type = "custom", description, input_schema: schema, strict } = tool;
  if (type !== "custom" && type !== null) {
    const shown = JSON.stringify(toText(type).slice(0, 80));
    nativeOnly.add(
      `${where}.type`,
      `"${where}.type" is ${shown}, a tool that models of other APIs do not have: ` +
        "describe a tool of your own by name and input_schema",
    );
    return [];
  }
  if (schema === undefined) throw missing(`${where}.input_schema`);
  if (!isObject(schema)) throw wrongType(`${where}.input_schema`, "an object", schema);
  return [{
    type: "function",
    function: {
      name: stringAt(tool, "name", where),
      ...(typeof description === "string" ? { description } : {}),
      parameters: schema,
      ...(typeof strict === "boolean" ? { strict } : {}),
    },
    ...findMark(tool),
  }];
}

function convertToolChoice(choice: unknown, nativeOnly: NativeOnly): MessagesTooling {
  if (choice === undefined || choice === null) return {};
  if (!isObject(choice)) throw wrongType("tool_choice", "an object", choice);
  const single = choice.disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {};
  switch (choice.type) {
    case "auto":
      return { tool_choice: "auto", ...single };
    case "any":
      return { tool_choice: "required", ...single };
    case "none":
      return { tool_choice: "none" };
    case "tool":
      return {
        tool_choice: { type: "function", function: { name: stringAt(choice, "name", "tool_choice") } },
        ...single,
      };
    default:
      nativeOnly.add("tool_choice.type", '"tool_choice.type" has to be "auto", "any", "tool" or "none"');
      return {};
  }
}

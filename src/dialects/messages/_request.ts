/**
 * From a request of Messages to one of chat.
 * @module
 */
import type { ChatCompletionRequest, JsonObject } from "../../contracts/openai.ts";
import { bodyChecker, checkOptional, invalid, isWhole, missing, wrongType } from "../../pipeline/check_body.ts";
import { isObject } from "../../util/is_object.ts";
import { chatMessagesOf } from "./_conversation.ts";
import { toolingOf } from "./_tools.ts";

const ownMembers: readonly string[] = [
  ...["messages", "max_tokens", "system", "stream", "metadata", "stop_sequences", "temperature", "top_p", "top_k"],
  ...["tools", "tool_choice", "thinking", "output_config", "service_tier", "container", "mcp_servers"],
];

/** Members that have words in chat, or mean nothing to other models. */
const translated: ReadonlySet<string> = new Set([...ownMembers, "model", "models", "mesh", "cache_control"]);

const checkMembers = bodyChecker(ownMembers);

/** The longest `user` that chat APIs take, characters. */
const maxUserChars = 64;

/** A request in chat's words, and what those leave out. */
interface ChatForm {
  readonly chat: ChatCompletionRequest;
  readonly session: string | undefined;
  readonly dropped: readonly string[];
}

/**
 * Translates a request.
 *
 * @param value Anything.
 * @throws {UnsupportedRequestError} For what is malformed, or has no words in chat.
 */
export function chatRequestOf(value: unknown): ChatForm {
  const body = checkMembers(value);
  checkPlain(body);
  const { model, models, mesh, max_tokens, stream, temperature, top_p, top_k, stop_sequences, cache_control } = body;
  if (max_tokens === undefined || max_tokens === null) throw missing("max_tokens");
  if (!isWhole(max_tokens) || max_tokens === 0) {
    throw invalid('"max_tokens" has to be a whole number of at least 1', "max_tokens");
  }
  const session = userOf(body.metadata);
  const plain = { model, models, mesh, max_tokens, stream, temperature, top_p, top_k, cache_control };
  return {
    chat: withoutEmpty({
      ...plain,
      messages: chatMessagesOf(body.system, body.messages),
      ...toolingOf(body),
      stop: stopsOf(stop_sequences),
      ...outputOf(body),
      user: session !== undefined && session.length <= maxUserChars ? session : undefined,
    }) as unknown as ChatCompletionRequest,
    session,
    dropped: Object.keys(body).filter((name) => !translated.has(name) && body[name] !== null),
  };
}

function checkPlain(body: JsonObject): void {
  for (const name of ["temperature", "top_p", "top_k"]) {
    checkOptional(body, { name, what: "a number", fits: Number.isFinite });
  }
  checkOptional(body, { name: "stream", what: "a boolean", fits: (given) => typeof given === "boolean" });
  for (const name of ["metadata", "thinking", "output_config"]) {
    checkOptional(body, { name, what: "an object", fits: isObject });
  }
  for (const name of ["container", "mcp_servers"]) {
    const given = body[name];
    if (given === undefined || given === null || Array.isArray(given) && given.length === 0) continue;
    throw invalid(`"${name}" is nothing that models of other APIs have: leave it out`, name);
  }
}

function userOf(metadata: unknown): string | undefined {
  const id = isObject(metadata) ? metadata.user_id : undefined;
  return typeof id === "string" && id !== "" ? id : undefined;
}

function stopsOf(stops: unknown): string[] | undefined {
  if (stops === undefined || stops === null) return undefined;
  if (!Array.isArray(stops)) throw wrongType("stop_sequences", "an array", stops);
  stops.forEach((stop, index) => {
    if (typeof stop !== "string") throw wrongType(`stop_sequences[${index}]`, "a string", stop);
  });
  return stops.length === 0 ? undefined : stops;
}

/** How much to think, and the form of the answer. */
function outputOf({ thinking, output_config: config }: JsonObject): Partial<ChatCompletionRequest> {
  const { effort, format } = isObject(config) ? config : {};
  return {
    reasoning_effort: effortOf(isObject(thinking) ? thinking : {}, effort),
    response_format: isObject(format) ? formatOf(format) : undefined,
  };
}

/** Without thinking nothing is said of effort: not every model takes a word for it. */
function effortOf({ type, budget_tokens: budget }: JsonObject, effort: unknown): string | undefined {
  if (type === "disabled") return undefined;
  if (typeof effort === "string") return effort === "max" ? "xhigh" : effort;
  if (type !== "enabled") return undefined;
  if (typeof budget !== "number") throw wrongType("thinking.budget_tokens", "a number", budget);
  return budget <= 2_048 ? "low" : budget <= 8_192 ? "medium" : "high";
}

function formatOf({ type, schema }: JsonObject): ChatCompletionRequest["response_format"] {
  if (type === "json_schema" && isObject(schema)) {
    return { type: "json_schema", json_schema: { name: "response", schema, strict: true } };
  }
  throw invalid('"output_config.format" has to have the type "json_schema" and a schema', "output_config.format");
}

function withoutEmpty(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null));
}

/**
 * Adapts the tools of a chat request, and the calls of its conversation, to a model. Imported for models with such rules.
 * @module
 */
import type { ChatCompletionRequest, ChatMessage, JsonObject } from "../../contracts/openai.ts";
import type { ParameterRules } from "../../contracts/provider.ts";
import { type ClientNames, replaceNames } from "../client_names.ts";
import { completeSchema } from "../../util/complete_schema.ts";
import { isObject } from "../../util/is_object.ts";
import { mapItems, mapMembers } from "../../util/map_members.ts";
import { mergeParameters } from "../../util/merge_parameters.ts";
import { findObject, parseArguments } from "../../util/call_arguments.ts";

/**
 * Adapts tools and calls.
 *
 * @returns The members that differ; the client's names, if others are sent.
 */
export function adaptTools(
  body: ChatCompletionRequest,
  rules: ParameterRules,
): { readonly edits: JsonObject; readonly clientNames?: ClientNames } {
  const messages = withCalls(body.messages, rules);
  const edits = { ...(messages === body.messages ? {} : { messages }), ...adaptSchemas(body, rules) };
  const replaced = replaceNames({ ...body, ...edits }, rules);
  return { ...replaced, edits: { ...edits, ...replaced.edits } };
}

/**
 * Merges combined parameters of tools, and completes schemas, as the model's rules require.
 *
 * @returns The members that differ.
 */
function adaptSchemas(
  body: ChatCompletionRequest,
  { combined_parameters: mayBeCombined, incomplete_schemas: mayBeIncomplete }: Pick<
    ParameterRules,
    "combined_parameters" | "incomplete_schemas"
  >,
): JsonObject {
  const complete = (schema: unknown) => mayBeIncomplete === false ? completeSchema(schema) : schema;
  const merge = (schema: unknown) => {
    if (mayBeCombined !== false || !isObject(schema)) return schema;
    const merged = mergeParameters(schema);
    return mayBeIncomplete === false ? asObject(merged) : merged;
  };
  const inFunction = (fn: unknown) => mapMembers(fn, { parameters: (schema) => complete(merge(schema)) });
  const { tools, functions, response_format: format } = body;
  const adapted: JsonObject = {
    tools: mapItems(tools, (tool) => mapMembers(tool, { function: inFunction })),
    functions: mapItems(functions, inFunction),
    response_format: mapMembers(format, { json_schema: (named) => mapMembers(named, { schema: complete }) }),
  };
  return Object.fromEntries(Object.entries(adapted).filter(([name, value]) => value !== body[name]));
}

/** Parameters are an object with properties, none if a tool has no parameters; other types are the client's fault. */
function asObject(schema: JsonObject): JsonObject {
  const { type = "object", properties = {} } = schema;
  const isComplete = type === schema.type && properties === schema.properties;
  return isComplete || type !== "object" || "$ref" in schema ? schema : { ...schema, type, properties };
}

/** Stands between the results of tools and a user message. */
const acknowledgement: ChatMessage = { role: "assistant", content: "OK." };

/**
 * Inserts an assistant message where a user message follows results, and replaces repeated ids of calls and arguments
 * that are not a JSON object, as the model's rules require.
 *
 * @returns The same list if nothing changes.
 */
export function withCalls(
  messages: ChatMessage[],
  { user_after_tool: mayFollow, invalid_arguments: mayBeInvalid, repeated_call_ids: mayRepeat }: Pick<
    ParameterRules,
    "user_after_tool" | "invalid_arguments" | "repeated_call_ids"
  >,
): ChatMessage[] {
  const ordered = mayFollow === false && messages.some(followsResult) ? messages.flatMap(separated) : messages;
  const distinct = mayRepeat === false ? withDistinctIds(ordered) : ordered;
  return mayBeInvalid === false ? mapItems(distinct, withArguments) as ChatMessage[] : distinct;
}

function followsResult({ role }: ChatMessage, index: number, messages: readonly ChatMessage[]): boolean {
  return role !== "tool" && role !== "assistant" && messages[index - 1]?.role === "tool";
}

function separated(message: ChatMessage, index: number, messages: readonly ChatMessage[]): readonly ChatMessage[] {
  return followsResult(message, index, messages) ? [acknowledgement, message] : [message];
}

function withArguments(message: unknown): unknown {
  const inFunction = (fn: unknown) => mapMembers(fn, { arguments: toValid });
  return mapMembers(message, {
    tool_calls: (calls) => mapItems(calls, (call) => mapMembers(call, { function: inFunction })),
    function_call: inFunction,
  });
}

function toValid(value: unknown): unknown {
  const isValid = typeof value === "string" && findObject(value) !== undefined;
  return isValid ? value : JSON.stringify(parseArguments(value));
}

/**
 * Replaces the ids of calls that repeat an earlier one, and those of their results.
 *
 * @returns The same list if no id is repeated.
 */
function withDistinctIds(messages: ChatMessage[]): ChatMessage[] {
  const ids = new DistinctIds();
  return mapItems(messages, (message) =>
    mapMembers(message, {
      tool_calls: (calls) => mapItems(calls, (call) => mapMembers(call, { id: (id) => ids.add(id, message) })),
      tool_call_id: (id) => ids.find(id),
    })) as ChatMessage[];
}

class DistinctIds {
  readonly #taken = new Set<string>();
  /** Number of calls with each id. */
  readonly #counts = new Map<string, number>();
  readonly #latest = new Map<string, {
    readonly message: unknown;
    readonly ids: string[];
    /** Number of results so far. */
    results: number;
  }>();

  add(id: unknown, message: unknown): unknown {
    if (typeof id !== "string") return id;
    let count = (this.#counts.get(id) ?? 0) + 1;
    let own = count === 1 ? id : `${id}_${count}`;
    while (this.#taken.has(own)) own = `${id}_${++count}`;
    this.#counts.set(id, count);
    this.#taken.add(own);
    const latest = this.#latest.get(id);
    if (latest !== undefined && latest.message === message) latest.ids.push(own);
    else this.#latest.set(id, { message, ids: [own], results: 0 });
    return own;
  }

  /** Results of calls with one id follow in the order of the calls. */
  find(id: unknown): unknown {
    const latest = typeof id === "string" ? this.#latest.get(id) : undefined;
    return latest === undefined ? id : latest.ids[Math.min(latest.results++, latest.ids.length - 1)];
  }
}

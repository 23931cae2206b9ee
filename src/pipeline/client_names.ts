/**
 * Replaces names of tools and ids of their calls that a model rejects, and restores them in its responses.
 * @module
 */
import type { ChatCompletionRequest, JsonObject } from "../contracts/openai.ts";
import type { IdentifierRule, ParameterRules } from "../contracts/provider.ts";
import { isObject } from "../util/is_object.ts";
import { mapItems, mapMembers } from "../util/map_members.ts";
import { isAccepted, renameIdentifiers } from "../util/rename_identifiers.ts";

/** Names or ids that are replaced, with their replacements; or the reverse. */
type Replacements = ReadonlyMap<string, string>;

/** Maps the name of a tool, and the id of a call; both receive any value. */
interface NameMap {
  readonly toName: (name: unknown) => unknown;
  readonly toId: (id: unknown) => unknown;
}

/**
 * Replaces the names and ids of a request that a model rejects.
 *
 * @param rules The names and ids that the model accepts.
 * @returns The members that differ; the client's names, if any do.
 */
export function replaceNames(
  body: ChatCompletionRequest,
  { tool_names, tool_call_ids }: Pick<ParameterRules, "tool_names" | "tool_call_ids">,
): { readonly edits: JsonObject; readonly clientNames?: ClientNames } {
  if (tool_names === undefined && tool_call_ids === undefined) return { edits: {} };
  const names = new Set<string>();
  const ids = new Set<string>();
  mapRequest(body, { toName: collector(names), toId: collector(ids) });
  const tools = tool_names === undefined ? new Map() : renameIdentifiers(acceptedFirst(names, tool_names), tool_names);
  const calls = tool_call_ids === undefined ? new Map() : renameIdentifiers(ids, tool_call_ids);
  if (tools.size + calls.size === 0) return { edits: {} };
  const renamed = mapRequest(body, toNameMap(tools, calls)) as JsonObject;
  const changed = Object.keys(renamed).filter((name) => renamed[name] !== body[name]);
  return {
    edits: Object.fromEntries(changed.map((name) => [name, renamed[name]])),
    clientNames: new ClientNames(tools, calls),
  };
}

/** The client's own names and ids, by those that a model receives. */
export class ClientNames {
  readonly #names: NameMap;

  /**
   * @param tools The replacements of names.
   * @param calls The replacements of ids.
   */
  constructor(tools: Replacements, calls: Replacements) {
    this.#names = toNameMap(invert(tools), invert(calls));
  }

  /**
   * Restores the names in a response.
   *
   * @param response A complete response, or a chunk.
   * @param part The member of a choice that has the calls.
   * @returns The same object if it has none of the replacements.
   */
  restore<T>(response: T, part: "message" | "delta"): T {
    const toMessage = (message: unknown) => mapMessage(message, this.#names);
    return mapMembers(response, {
      choices: (choices) => mapItems(choices, (choice) => mapMembers(choice, { [part]: toMessage })),
    }) as T;
  }

  /**
   * Restores the names of tools in a request whose response cannot be restored.
   *
   * @param body The request with replaced names.
   */
  restoreTools<T>(body: T): T {
    return mapRequest(body, { ...this.#names, toId: (id) => id }) as T;
  }
}

function mapRequest(body: unknown, names: NameMap): unknown {
  const { toName } = names;
  const toTools = (tools: unknown) => mapItems(tools, (tool) => mapTool(tool, toName));
  const toNamed = (value: unknown) => mapMembers(value, { name: toName });
  return mapMembers(body, {
    tools: toTools,
    functions: (functions) => mapItems(functions, toNamed),
    messages: (messages) => mapItems(messages, (message) => mapMessage(message, names)),
    tool_choice: (choice) =>
      mapMembers(mapTool(choice, toName), { allowed_tools: (allowed) => mapMembers(allowed, { tools: toTools }) }),
    function_call: toNamed,
  });
}

/** A message, or the delta of one. The name of a result is that of its tool, any other that of a participant. */
function mapMessage(message: unknown, names: NameMap): unknown {
  const { toName, toId } = names;
  const hasTool = isObject(message) && (message.role === "tool" || message.role === "function");
  return mapMembers(message, {
    tool_calls: (calls) => mapItems(calls, (call) => mapMembers(mapTool(call, toName), { id: toId })),
    function_call: (call) => mapMembers(call, { name: toName }),
    tool_call_id: toId,
    ...(hasTool ? { name: toName } : {}),
  });
}

/** A tool, the choice of one, or a call: its name is a member of the function, or of the custom tool. */
function mapTool(tool: unknown, toName: NameMap["toName"]): unknown {
  const toNamed = (value: unknown) => mapMembers(value, { name: toName });
  return mapMembers(tool, { function: toNamed, custom: toNamed });
}

function toNameMap(tools: Replacements, calls: Replacements): NameMap {
  const findIn = (map: Replacements) => (value: unknown) => typeof value === "string" ? map.get(value) ?? value : value;
  return { toName: findIn(tools), toId: findIn(calls) };
}

function collector(found: Set<string>): (value: unknown) => unknown {
  return (value) => {
    if (typeof value === "string") found.add(value);
    return value;
  };
}

/** Accepted names stay, whatever their order. */
function acceptedFirst(names: ReadonlySet<string>, rule: IdentifierRule): readonly string[] {
  const all = [...names];
  return [...all.filter((name) => isAccepted(name, rule)), ...all.filter((name) => !isAccepted(name, rule))];
}

function invert(map: Replacements): Replacements {
  return new Map([...map].map(([from, to]) => [to, from]));
}

/**
 * Converts tools of Messages to chat tools.
 * @module
 */
import type { ChatCompletionRequest, JsonObject, Tool } from "../../contracts/openai.ts";
import { checkCount, maxTools, missing, wrongType } from "../../pipeline/check_body.ts";
import { isObject } from "../../util/is_object.ts";
import { toText } from "../../util/to_text.ts";
import type { NativeOnly } from "../native_only.ts";
import { decideSearch, findDomains, findMaxUses, type RequestedSearch, type WebSearchTool } from "../web_search.ts";
import { findMark, stringAt } from "./_content.ts";
import { findDefinedTool } from "./_defined_tools.ts";

/** Tools that find other tools, of which all are sent. */
const toolSearches = /^tool_search_tool_/;

const webSearches = /^web_search_\d{8}$/;

/**
 * Converts tools and tool choice.
 *
 * @throws {UnsupportedRequestError} If it is malformed.
 */
export function convertMessagesTools(
  { tools, tool_choice: choice }: JsonObject,
  { nativeOnly, searches }: {
    /** Collects tools that only the API's own models have. */
    readonly nativeOnly: NativeOnly;
    /** Whether the proxy runs searches. */
    readonly searches: boolean;
  },
): {
  readonly chat: Pick<ChatCompletionRequest, "tools" | "tool_choice" | "parallel_tool_calls">;
  /** The search tool that the proxy runs. */
  readonly search?: WebSearchTool | undefined;
  /** Tools that the chat form lacks. */
  readonly dropped: readonly string[];
} {
  if (tools === undefined || tools === null) return { chat: {}, dropped: [] };
  if (!Array.isArray(tools)) throw wrongType("tools", "an array", tools);
  checkCount(tools, "tools", maxTools);
  if (tools.length === 0) return { chat: {}, dropped: [] };
  const functions: Tool[] = [];
  let requested: NamedSearch | undefined;
  tools.forEach((tool: unknown, index) => {
    const where = `tools[${index}]`;
    if (!isObject(tool)) throw wrongType(where, "an object", tool);
    if (typeof tool.type === "string" && webSearches.test(tool.type)) requested ??= readWebSearch(tool, where);
    else functions.push(...convertTool(tool, where, nativeOnly));
  });
  const chosen = convertToolChoice(choice, nativeOnly);
  const name = requested?.name;
  const { search, function: added, dropped } = decideSearch(requested, {
    name: name ?? "",
    isServed: searches && nativeOnly.error === undefined,
    isEssential: functions.length === 0 || isObject(choice) && choice.type === "tool" && choice.name === name,
    nativeOnly,
  });
  const offered = added === undefined ? functions : [...functions, added];
  return { chat: offered.length === 0 ? {} : { tools: offered, ...chosen }, search, dropped };
}

/** A search tool, and its name, which its calls have. */
interface NamedSearch extends RequestedSearch {
  readonly name: string;
}

function readWebSearch(tool: JsonObject, where: string): NamedSearch {
  const { type, name, max_uses, allowed_domains, blocked_domains } = tool;
  return {
    name: typeof name === "string" && name !== "" ? name : "web_search",
    param: `${where}.type`,
    shown: JSON.stringify(type),
    droppedName: `tools.${type as string}`,
    maxUses: findMaxUses(max_uses),
    allowedDomains: findDomains(allowed_domains),
    blockedDomains: findDomains(blocked_domains),
  };
}

function convertTool(tool: JsonObject, where: string, nativeOnly: NativeOnly): Tool[] {
  const { type = "custom", description, input_schema: schema, strict } = tool;
  if (typeof type === "string" && toolSearches.test(type)) return [];
  const defined = findDefinedTool(type);
  if (defined !== undefined) {
    return [{ type: "function", function: { name: stringAt(tool, "name", where), ...defined }, ...findMark(tool) }];
  }
  if (type !== "custom" && type !== null) {
    const shown = JSON.stringify(toText(type).slice(0, 80));
    nativeOnly.add(
      `${where}.type`,
      `"${where}.type" is ${shown}, a tool that models of other APIs do not have: ` +
        "describe a tool of your own by name and input_schema, or ask a model whose provider has the Messages API",
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

function convertToolChoice(
  choice: unknown,
  nativeOnly: NativeOnly,
): Pick<ChatCompletionRequest, "tool_choice" | "parallel_tool_calls"> {
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

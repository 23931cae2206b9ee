/**
 * Converts tools of Messages to chat tools.
 * @module
 */
import type { ChatCompletionRequest, JsonObject, Tool } from "../../contracts/openai.ts";
import { checkCount, maxTools, missing, wrongType } from "../../pipeline/check_body.ts";
import { isObject } from "../../util/is_object.ts";
import type { NativeOnly } from "../native_only.ts";
import { findMark, stringAt } from "./_content.ts";
import { toText } from "../../util/to_text.ts";

/** The tool parameters of a chat request. */
type MessagesTooling = Pick<ChatCompletionRequest, "tools" | "tool_choice" | "parallel_tool_calls">;

/**
 * Converts tools and tool choice.
 *
 * @param nativeOnly Collects tools that the API defines.
 * @throws {UnsupportedRequestError} If it is malformed.
 */
export function convertMessagesTools(
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

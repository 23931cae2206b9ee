/**
 * Converts tools of Responses to chat tools.
 * @module
 */
import type { ChatCompletionRequest, JsonObject, Tool } from "../../contracts/openai.ts";
import { checkCount, maxTools, wrongType } from "../../pipeline/check_body.ts";
import { isObject } from "../../util/is_object.ts";
import type { ResponsesNativeOnly } from "./_native_only.ts";
import { quoteValue, readStringAt } from "./_content.ts";

/** The tool parameters of a chat request. */
type ResponsesTooling = Pick<ChatCompletionRequest, "tools" | "tool_choice" | "parallel_tool_calls">;

/**
 * Converts tools and tool choice.
 *
 * @param nativeOnly Collects hosted tools.
 * @throws {UnsupportedRequestError} If it is malformed.
 */
export function convertResponsesTools(
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

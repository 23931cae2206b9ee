/**
 * Converts OpenAI's tools and tool choice to those of the Messages API.
 *
 * Source: https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools
 * @module
 */
import type { ChatCompletionRequest, JsonObject, Tool } from "../../src/contracts/openai.ts";
import { readCacheControl } from "./_anthropic_content.ts";
import { requestFault } from "./_anthropic_fault.ts";
import type { Generation } from "./anthropic.ts";
import type { AnthropicTurn } from "./_anthropic_messages.ts";
import { closedSchema } from "./_anthropic_schema.ts";

/** Tools and tool choice of a request. */
interface AnthropicTooling {
  /** The `tools` field. */
  readonly tools?: readonly JsonObject[];
  /** The `tool_choice` field. */
  readonly choice?: JsonObject;
  /** Whether the response must be a tool call. */
  readonly forced: boolean;
}

/** A tool choice, independent of the API. */
interface ToolChoice {
  readonly mode: "none" | "auto" | "required";
  /** The only tool that may be called. */
  readonly name?: string;
  /** The tools that may be called. */
  readonly allowed?: ReadonlySet<string>;
}

/**
 * Translates tools and tool choice.
 *
 * @param generation Features of the model.
 * @param turns The conversation; tools of earlier calls must be declared.
 * @throws {UpstreamError} `request` for a hosted tool, or a tool choice that the model does not support.
 */
export function toTooling(
  body: ChatCompletionRequest,
  generation: Generation,
  turns: readonly AnthropicTurn[],
): AnthropicTooling {
  const tools = (body.tools ?? []).map((tool, index) => toAnthropicTool(tool, `tools[${index}]`, generation));
  if (tools.length === 0) return earlierTools(turns);
  const { mode, name, allowed } = readToolChoice(body.tool_choice ?? "auto");
  const forced = mode === "required";
  if (forced && !generation.forcedTools) {
    throw requestFault("This model cannot be forced to call a tool: use the tool_choice auto", "tool_choice");
  }
  const single = body.parallel_tool_calls === false && mode !== "none" ? { disable_parallel_tool_use: true } : {};
  const type = mode === "none" ? "none" : mode === "auto" ? "auto" : name === undefined ? "any" : "tool";
  const isPlain = type === "auto" && body.parallel_tool_calls !== false && !body.tool_choice;
  return {
    tools: allowed === undefined ? tools : tools.filter((tool) => allowed.has(tool.name as string)),
    ...(isPlain ? {} : { choice: { type, ...(type === "tool" ? { name } : {}), ...single } }),
    forced,
  };
}

/** The API requires the tools of earlier calls to be declared, even if none may be called any more. */
function earlierTools(turns: readonly AnthropicTurn[]): AnthropicTooling {
  const names = new Set<unknown>();
  for (const { content } of turns) for (const { type, name } of content) if (type === "tool_use") names.add(name);
  if (names.size === 0) return { forced: false };
  return {
    tools: [...names].map((name) => ({ name, input_schema: { type: "object" } })),
    choice: { type: "none" },
    forced: false,
  };
}

function toAnthropicTool(tool: Tool, where: string, { schemas }: Generation): JsonObject {
  const definition = tool?.function;
  if (tool?.type !== "function" || typeof definition?.name !== "string") {
    throw requestFault(
      `Cannot translate ${where}: a tool needs the type "function" and a function with a name, not the type "${tool?.type}"`,
      where,
    );
  }
  const strict = definition.strict === true && schemas;
  const parameters = { type: "object", ...definition.parameters };
  const cacheControl = readCacheControl(tool.cache_control ?? (definition as JsonObject).cache_control);
  return {
    name: definition.name,
    ...(definition.description === undefined ? {} : { description: definition.description }),
    input_schema: strict ? closedSchema(parameters) : parameters,
    ...(strict ? { strict } : {}),
    ...(cacheControl === undefined ? {} : { cache_control: cacheControl }),
  };
}

function readToolChoice(choice: NonNullable<ChatCompletionRequest["tool_choice"]>): ToolChoice {
  if (choice === "none" || choice === "auto" || choice === "required") return { mode: choice };
  if (typeof choice === "object") {
    const { type, function: named, allowed_tools } = choice as JsonObject & { function?: { name?: string } };
    if (type === "function" && typeof named?.name === "string") return { mode: "required", name: named.name };
    if (type === "allowed_tools") return readAllowed(allowed_tools);
  }
  throw requestFault("The tool_choice must be none, auto, required, a function or allowed_tools", "tool_choice");
}

function readAllowed(value: unknown): ToolChoice {
  const { mode, tools } = (value ?? {}) as { mode?: unknown; tools?: readonly Tool[] };
  return {
    mode: mode === "required" ? "required" : "auto",
    allowed: new Set((Array.isArray(tools) ? tools : []).map((tool) => tool?.function?.name ?? "")),
  };
}

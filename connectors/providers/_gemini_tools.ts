/**
 * Converts OpenAI's tools and tool choice to the Gemini API's.
 *
 * Source: https://ai.google.dev/gemini-api/docs/function-calling, read 2026-11-21.
 * @module
 */
import type { ChatCompletionRequest, JsonObject, Tool } from "../../src/contracts/openai.ts";
import { createRequestFault } from "./_gemini_fault.ts";
import { cleanSchema } from "./_gemini_schema.ts";
import {
  asObject,
  asObjects,
  asText,
  type FunctionCallingConfig,
  type FunctionDeclaration,
  type GenerateContentRequest,
} from "./_gemini_wire.ts";
import { toText } from "../../src/util/to_text.ts";

const modes: Readonly<Record<string, FunctionCallingConfig["mode"]>> = { none: "NONE", auto: "AUTO", required: "ANY" };

/**
 * Translates `tools` and `tool_choice`.
 *
 * @returns An empty object if it has no tools.
 * @throws {UpstreamError} `request` for tools other than functions, and for an unknown choice.
 */
export function toGeminiTools(
  { tools, tool_choice: choice }: ChatCompletionRequest,
): Pick<GenerateContentRequest, "tools" | "toolConfig"> {
  if (!Array.isArray(tools) || tools.length === 0) return {};
  const declarations = tools.map((tool, index) => toFunctionDeclaration(tool, `tools[${index}]`));
  const allowed = allowedNames(choice);
  const offered = allowed === undefined ? declarations : declarations.filter(({ name }) => allowed.has(name));
  const config = toCallingConfig(choice);
  return {
    tools: [{ functionDeclarations: offered }],
    ...(config === undefined ? {} : { toolConfig: { functionCallingConfig: config } }),
  };
}

function toFunctionDeclaration({ type, function: described }: Tool, param: string): FunctionDeclaration {
  const name = asText(described?.name);
  if (type !== "function" || name === undefined) {
    throw createRequestFault(`Cannot use a tool of the type "${toText(type)}": the API accepts named functions`, param);
  }
  const description = asText(described?.description);
  const parameters = asObject(described?.parameters);
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(hasNoParameters(parameters)
      ? {}
      : { parametersJsonSchema: { type: "object", ...cleanSchema(parameters!, `${param}.function.parameters`) } }),
  };
}

/** The API rejects an object schema without properties, and accepts omitted parameters instead. */
function hasNoParameters(schema: JsonObject | undefined): boolean {
  if (schema === undefined) return true;
  const properties = asObject(schema.properties);
  const others = ["$ref", "allOf", "anyOf", "oneOf", "additionalProperties"].filter((name) =>
    schema[name] !== undefined && schema[name] !== false
  );
  return others.length === 0 && (properties === undefined || Object.keys(properties).length === 0);
}

function toCallingConfig(choice: ChatCompletionRequest["tool_choice"]): FunctionCallingConfig | undefined {
  if (choice === undefined || choice === null) return undefined;
  const named = asText(asObject(asObject(choice)?.function)?.name);
  if (named !== undefined) return { mode: "ANY", allowedFunctionNames: [named] };
  const word = typeof choice === "string" ? choice : asText(asObject(asObject(choice)?.allowed_tools)?.mode) ?? "";
  if (Object.hasOwn(modes, word)) return { mode: modes[word]! };
  throw createRequestFault(
    "Cannot read the tool_choice: it must be none, auto, required, one function, or allowed_tools",
    "tool_choice",
  );
}

/** The names in `allowed_tools`. Only those are declared, which is equivalent in every mode. */
function allowedNames(choice: ChatCompletionRequest["tool_choice"]): ReadonlySet<string> | undefined {
  const allowed = asObject(asObject(choice)?.allowed_tools);
  return allowed === undefined
    ? undefined
    : new Set(asObjects(allowed.tools).flatMap((tool) => asText(asObject(tool.function)?.name) ?? []));
}

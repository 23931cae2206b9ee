/**
 * Converts Gemini's tools to chat tools.
 * @module
 */
import type { ChatCompletionRequest, JsonObject, Tool } from "../../contracts/openai.ts";
import { invalid } from "../../pipeline/check_body.ts";
import type { Position } from "./_position.ts";
import { convertSchema } from "./_schema.ts";

/** The tool parameters of a chat request. */
const noNames: ReadonlySet<unknown> = new Set();

type GeminiTooling = Pick<ChatCompletionRequest, "tools" | "tool_choice">;

/**
 * Converts tools and tool configuration. Chat cannot express hosted tools.
 *
 * @param body Members of the request.
 * @param position Path of the request.
 */
export function convertGeminiTools({ tools, toolConfig }: JsonObject, position: Position): GeminiTooling {
  const at = position.member("tools");
  const functions = at.list(tools).flatMap((tool, index) => readFunctions(tool, at.item(index)));
  if (functions.length === 0) return {};
  const { choice, allowed = noNames } = readCallingMode(toolConfig ?? {}, position.member("toolConfig"));
  if (choice === undefined) return { tools: functions };
  if (allowed.size === 0) return { tools: functions, tool_choice: choice };
  // only the allowed functions are declared, which is equivalent
  const offered = functions.filter(({ function: { name } = { name: "" } }) => allowed.has(name));
  if (offered.length === 0) {
    const where = `${position.path}toolConfig.functionCallingConfig.allowedFunctionNames`;
    throw invalid(`"${where}" names none of the functions in "tools"`, where);
  }
  const named: ChatCompletionRequest["tool_choice"] = {
    type: "function",
    function: { name: offered[0]!.function!.name },
  };
  return { tools: offered, tool_choice: choice === "required" && offered.length === 1 ? named : choice };
}

function readFunctions(tool: unknown, position: Position): Tool[] {
  const { functionDeclarations: declared, ...hosted } = position.fields(tool);
  for (const name of Object.keys(hosted)) position.member(name).addInexpressible();
  const at = position.member("functionDeclarations");
  return at.list(declared).map((one, index) => readFunction(one, at.item(index)));
}

function readFunction(declaration: unknown, position: Position): Tool {
  const { name, description, parameters, parametersJsonSchema: schema } = position.fields(declaration);
  const described = position.member("description").text(description);
  return {
    type: "function",
    function: {
      name: position.member("name").required(name),
      ...(described === undefined ? {} : { description: described }),
      parameters: schema !== undefined
        ? convertSchema(position.member("parametersJsonSchema").object(schema))
        : parameters !== undefined
        ? convertSchema(position.member("parameters").object(parameters))
        : { type: "object", properties: {} },
    },
  };
}

const choices: Readonly<Record<string, string | undefined>> = {
  AUTO: "auto",
  VALIDATED: "auto",
  MODE_UNSPECIFIED: undefined,
  ANY: "required",
  NONE: "none",
};

function readCallingMode(
  toolConfig: unknown,
  position: Position,
): { choice?: string | undefined; allowed?: ReadonlySet<unknown> } {
  const { functionCallingConfig: config } = position.fields(toolConfig);
  if (config === undefined) return {};
  const at = position.member("functionCallingConfig");
  const { mode = "AUTO", allowedFunctionNames: names } = at.fields(config);
  const word = at.member("mode").required(mode).toUpperCase();
  if (!Object.hasOwn(choices, word)) {
    at.member("mode").addInexpressible(`"${at.path}.mode" has to be AUTO, ANY, NONE or VALIDATED`);
    return {};
  }
  return { choice: choices[word], allowed: new Set(at.member("allowedFunctionNames").list(names)) };
}

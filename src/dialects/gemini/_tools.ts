/**
 * Converts Gemini's tools to chat tools.
 * @module
 */
import type { ChatCompletionRequest, JsonObject, Tool } from "../../contracts/openai.ts";
import { invalid } from "../../pipeline/check_body.ts";
import { decideSearch, findDomains, type RequestedSearch, type WebSearchTool } from "../web_search.ts";
import type { Position } from "./_position.ts";
import { convertSchema } from "./_schema.ts";

const noNames: ReadonlySet<unknown> = new Set();

/** The tools of a request. */
interface GeminiTooling {
  readonly chat: Pick<ChatCompletionRequest, "tools" | "tool_choice">;
  /** The search tool that the proxy runs. */
  readonly search?: WebSearchTool | undefined;
  /** Tools that the chat form lacks. */
  readonly dropped: readonly string[];
}

/** Members that search the web. */
const searching: ReadonlySet<string> = new Set(["googleSearch", "googleSearchRetrieval", "enterpriseWebSearch"]);

/**
 * Converts tools and tool configuration.
 *
 * @param body Members of the request.
 * @param position Path of the request.
 * @param searches Whether the proxy runs searches.
 */
export function convertGeminiTools(
  { tools, toolConfig }: JsonObject,
  position: Position,
  { searches }: { readonly searches: boolean },
): GeminiTooling {
  const at = position.member("tools");
  const read = at.list(tools).map((tool, index) => readTool(tool, at.item(index)));
  const functions = read.flatMap((tool) => tool.functions);
  const names = new Set(functions.map((tool) => tool.function!.name));
  let name = "web_search";
  while (names.has(name)) name += "_";
  const { search, function: added, dropped } = decideSearch(read.find((tool) => tool.search !== undefined)?.search, {
    name,
    isServed: searches && position.nativeOnly.error === undefined,
    isEssential: functions.length === 0,
    nativeOnly: position.nativeOnly,
  });
  const chosen = chooseFunctions(functions, toolConfig, position);
  if (added === undefined) return { chat: chosen, dropped };
  return { chat: { ...chosen, tools: [...chosen.tools ?? [], added] }, search, dropped };
}

/** Only the allowed functions are declared, which is equivalent. */
function chooseFunctions(functions: Tool[], toolConfig: unknown, position: Position): GeminiTooling["chat"] {
  if (functions.length === 0) return {};
  const { choice, allowed = noNames } = readCallingMode(toolConfig ?? {}, position.member("toolConfig"));
  if (choice === undefined) return { tools: functions };
  if (allowed.size === 0) return { tools: functions, tool_choice: choice };
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

function readTool(tool: unknown, position: Position): { functions: Tool[]; search: RequestedSearch | undefined } {
  const { functionDeclarations: declared, ...hosted } = position.fields(tool);
  let search: RequestedSearch | undefined;
  for (const [name, options] of Object.entries(hosted)) {
    if (searching.has(name)) search ??= readSearch(name, options, position.member(name));
    else position.member(name).addInexpressible();
  }
  const at = position.member("functionDeclarations");
  return {
    functions: at.list(declared).map((declaration, index) => readFunction(declaration, at.item(index))),
    search,
  };
}

function readSearch(name: string, options: unknown, position: Position): RequestedSearch {
  const { excludeDomains } = position.fields(options);
  return {
    param: position.path,
    droppedName: `tools.${name}`,
    blockedDomains: findDomains(excludeDomains),
  };
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

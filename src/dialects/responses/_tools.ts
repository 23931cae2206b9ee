/**
 * Converts tools of Responses to chat tools. Tools that the client runs become functions; those of the provider remain
 * its own.
 * @module
 */
import type { ChatCompletionRequest, JsonObject } from "../../contracts/openai.ts";
import { checkCount, maxTools, wrongType } from "../../pipeline/check_body.ts";
import { isObject } from "../../util/is_object.ts";
import { decideSearch, findDomains, findMaxUses, type RequestedSearch, type WebSearchTool } from "../web_search.ts";
import {
  type CallKind,
  customCalls,
  type Declaration,
  definedTools,
  functionCalls,
  type NamedTool,
} from "./_call_kinds.ts";
import { quoteValue, readStringAt } from "./_content.ts";
import type { ResponsesNativeOnly } from "./_native_only.ts";
import { ToolTable } from "./_tool_table.ts";

/** The tools of a request. */
export interface ResponsesTooling {
  readonly chat: Pick<ChatCompletionRequest, "tools" | "tool_choice" | "parallel_tool_calls">;
  readonly table: ToolTable;
  /** The search tool that the proxy runs. */
  readonly search: WebSearchTool | undefined;
  /** Tools that the chat form lacks. */
  readonly dropped: readonly string[];
}

/** Items that contain tools in their member `tools`: what a search for tools has found, and later additions. */
const toolItems: ReadonlySet<unknown> = new Set(["tool_search_output", "additional_tools"]);

/**
 * Reads the tools of a request, those that its conversation adds included.
 *
 * @param nativeOnly Collects tools of the provider.
 * @throws {UnsupportedRequestError} If they are malformed.
 */
export function readResponsesTools({ tools, input }: JsonObject, nativeOnly: ResponsesNativeOnly): ResponsesTools {
  const read = new ResponsesTools(nativeOnly);
  if (tools !== undefined && tools !== null) read.addAll(tools, "tools");
  if (Array.isArray(input)) {
    input.forEach((item, index) => {
      if (isObject(item) && toolItems.has(item.type)) read.addAll(item.tools, `input[${index}].tools`);
    });
  }
  return read;
}

/** Types of tools that search the web. */
const searching = /^web_search(_preview)?(_\d{4}_\d\d_\d\d)?$/;

/** The tools of a request, so far. */
class ResponsesTools {
  readonly table: ToolTable = new ToolTable();
  readonly #nativeOnly: ResponsesNativeOnly;
  /** The first search tool. */
  #search: RequestedSearch | undefined;

  constructor(nativeOnly: ResponsesNativeOnly) {
    this.#nativeOnly = nativeOnly;
  }

  /**
   * Converts the tools and the tool choice.
   *
   * @param searches Whether the proxy runs searches.
   */
  toTooling(
    { tool_choice, parallel_tool_calls: parallel, max_tool_calls }: JsonObject,
    searches: boolean,
  ): ResponsesTooling {
    const { choice, allowed, isSearch = false } = this.#toChoice(tool_choice);
    const functions = this.table.functions.filter((tool) => allowed?.has(tool.function!.name) ?? true);
    const name = this.table.toChatName(webSearch);
    const isOffered = allowed?.has(name) ?? true;
    const { search, function: added, dropped } = decideSearch(isOffered ? this.#search : undefined, {
      name,
      isServed: searches && this.#nativeOnly.error === undefined && this.#nativeOnly.pinned === undefined,
      isEssential: isSearch || functions.length === 0,
      nativeOnly: this.#nativeOnly,
    });
    const tools = added === undefined ? functions : [...functions, added];
    const chat = {
      tools,
      ...(choice === undefined ? {} : { tool_choice: choice }),
      ...(typeof parallel === "boolean" ? { parallel_tool_calls: parallel } : {}),
    };
    return {
      chat: tools.length === 0 ? {} : chat,
      table: this.table,
      search: search && { ...search, maxUses: findMaxUses(max_tool_calls) },
      dropped,
    };
  }

  addAll(tools: unknown, where: string, namespace?: string): void {
    if (!Array.isArray(tools)) throw wrongType(where, "an array", tools);
    checkCount(tools, where, maxTools);
    tools.forEach((tool, index) => this.#add(tool, `${where}[${index}]`, namespace));
  }

  #add(tool: unknown, where: string, namespace: string | undefined): void {
    if (!isObject(tool)) throw wrongType(where, "an object", tool);
    const { type } = tool;
    if (type === "function") {
      return this.#describe(functionCalls, readFunction(tool, where), { tool, where, namespace });
    }
    if (type === "custom") return this.#describe(customCalls, readCustom(tool, where), { tool, where, namespace });
    if (namespace !== undefined) return this.#addLack(type, where);
    if (type === "namespace") return this.addAll(tool.tools, `${where}.tools`, readStringAt(tool, "name", where));
    if (type === "tool_search") return this.#addToolSearch(tool);
    if (isWebSearch(type)) return this.#addWebSearch(tool, `${where}.type`);
    const defined = definedTools.get(type);
    if (defined?.kind.declaration === undefined) return this.#addLack(type, where);
    const { environment } = tool;
    if (!isObject(environment) || environment.type === "local") {
      return this.table.add(defined, defined.kind.declaration);
    }
    this.#nativeOnly.addLack(`${where}.environment.type`, {
      what: `is ${quoteValue(environment.type)}, a machine of the provider`,
      instead: 'use "local"',
    });
  }

  #describe(
    kind: CallKind,
    declaration: Declaration,
    { tool, where, namespace }: { tool: JsonObject; where: string; namespace: string | undefined },
  ): void {
    this.table.add({ kind, name: readStringAt(tool, "name", where), namespace }, declaration);
  }

  /** All tools are sent, so that only the client can have others. */
  #addToolSearch({ execution, description, parameters }: JsonObject): void {
    if (execution !== "client") return;
    this.table.add(definedTools.get("tool_search")!, {
      ...(typeof description === "string" ? { description } : {}),
      parameters: isObject(parameters) ? parameters : searchParameters,
    });
  }

  #addWebSearch({ type, filters }: JsonObject, param: string): void {
    const { allowed_domains, blocked_domains } = isObject(filters) ? filters : {};
    this.#search ??= {
      param,
      shown: quoteValue(type),
      droppedName: `tools.${type as string}`,
      allowedDomains: findDomains(allowed_domains),
      blockedDomains: findDomains(blocked_domains),
    };
  }

  #addLack(type: unknown, where: string): void {
    this.#nativeOnly.addLack(`${where}.type`, {
      what: `is ${quoteValue(type)}`,
      instead: 'describe a tool of your own, of the type "function" or "custom"',
    });
  }

  #toChoice(choice: unknown): {
    readonly choice?: ChatCompletionRequest["tool_choice"];
    readonly allowed?: ReadonlySet<string>;
    /** Whether the model has to search the web. */
    readonly isSearch?: boolean;
  } {
    if (choice === undefined || choice === null) return {};
    if (choice === "none" || choice === "auto" || choice === "required") return { choice };
    if (typeof choice === "string") {
      this.#nativeOnly.addLack("tool_choice", {
        what: `is ${quoteValue(choice)}`,
        instead: 'use "none", "auto", "required" or an object',
      });
      return {};
    }
    if (!isObject(choice)) throw wrongType("tool_choice", "a string or an object", choice);
    if (choice.type === "allowed_tools" && Array.isArray(choice.tools)) {
      const allowed = new Set(choice.tools.flatMap((tool: unknown) => isObject(tool) ? this.#findNames(tool) : []));
      return { choice: choice.mode === "required" ? "required" : "auto", allowed };
    }
    const { type } = choice;
    if (type === "function" || type === "custom") readStringAt(choice, "name", "tool_choice");
    const [name] = type === "namespace" ? [] : this.#findNames(choice);
    if (name !== undefined) return { choice: { type: "function", function: { name } }, isSearch: isWebSearch(type) };
    this.#nativeOnly.addLack("tool_choice.type", {
      what: `is ${quoteValue(type)}`,
      instead: 'use "function", "custom" or "allowed_tools"',
    });
    return {};
  }

  /** The names in chat of the tools that a choice means. */
  #findNames({ type = "function", name, namespace }: JsonObject): readonly string[] {
    const owner = typeof namespace === "string" ? namespace : undefined;
    if (isWebSearch(type)) return this.#search === undefined ? [] : [this.table.toChatName(webSearch)];
    const defined = definedTools.get(type);
    if (defined !== undefined) return [this.table.toChatName(defined)];
    if (typeof name !== "string") return [];
    if (type === "namespace") return this.table.listNamespace(name);
    if (type === "custom") return [this.table.toChatName({ kind: customCalls, name, namespace: owner })];
    return type === "function" ? [this.table.toChatName({ kind: functionCalls, name, namespace: owner })] : [];
  }
}

/** The web search, whose calls the proxy runs. */
const webSearch: NamedTool = { kind: { ...functionCalls, abbreviation: "ws" }, name: "web_search" };

const searchParameters = { type: "object", properties: { query: { type: "string" } }, required: ["query"] };

function readFunction(tool: JsonObject, where: string): Declaration {
  const { description, parameters, strict } = tool;
  if (parameters !== undefined && parameters !== null && !isObject(parameters)) {
    throw wrongType(`${where}.parameters`, "an object", parameters);
  }
  return {
    ...(typeof description === "string" ? { description } : {}),
    ...(isObject(parameters) ? { parameters } : {}),
    ...(typeof strict === "boolean" ? { strict } : {}),
  };
}

/** Languages of grammars, by the name in the API. */
const languages: ReadonlyMap<unknown, string> = new Map(
  Object.entries({ lark: "this Lark grammar", regex: "this regular expression" }),
);

/** A tool whose input is text: a function of one string, with the grammar of the text in its description. */
function readCustom({ description, format }: JsonObject, where: string): Declaration {
  if (format !== undefined && format !== null && !isObject(format)) {
    throw wrongType(`${where}.format`, "an object", format);
  }
  const { type, syntax, definition } = format ?? {};
  const grammar = type === "grammar" && typeof definition === "string"
    ? [`"input" has to match ${languages.get(syntax) ?? "this grammar"}:\n${definition}`]
    : [];
  const described = typeof description === "string" && description !== "" ? [description] : [];
  return {
    ...(described.length + grammar.length === 0 ? {} : { description: [...described, ...grammar].join("\n\n") }),
    parameters: {
      type: "object",
      properties: { input: { type: "string", description: "The input of the tool, as it is." } },
      required: ["input"],
      additionalProperties: false,
    },
  };
}

function isWebSearch(type: unknown): boolean {
  return typeof type === "string" && searching.test(type);
}

/**
 * Calls of tools that the client runs: each kind of tool has items of its own, which are function calls in chat.
 *
 * Source: https://platform.openai.com/docs/guides/tools and the types of `openai` 7.55.0.
 * @module
 */
import type { JsonObject, Tool } from "../../contracts/openai.ts";
import { wrongType } from "../../pipeline/check_body.ts";
import { findObject } from "../../util/call_arguments.ts";
import { isObject } from "../../util/is_object.ts";
import { toText } from "../../util/to_text.ts";
import { readStringAt } from "./_content.ts";

/** A function without its name. */
export type Declaration = Omit<NonNullable<Tool["function"]>, "name">;

/** A kind of call. */
export interface CallKind {
  /** Type of the item of a call. */
  readonly itemType: string;
  /** The API's abbreviation in ids of such items. */
  readonly abbreviation: string;
  /**
   * Converts the arguments of a call to members of its item.
   *
   * @param text The arguments; any text, since models write them, and empty at the start of a stream.
   */
  toMembers(text: string): JsonObject;
  /**
   * Converts an item of a conversation to arguments.
   *
   * @param where Path of the item, for error messages.
   */
  toArguments(item: JsonObject, where: string): string;
  /** Whether items of calls name the tool. */
  readonly isNamed?: true;
  /** The function for a tool that requests do not describe. */
  readonly declaration?: Declaration;
}

const text = (description: string) => ({ type: "string", description });
const texts = (description: string) => ({ type: "array", items: { type: "string" }, description });

/** Calls of functions. */
export const functionCalls: CallKind = {
  itemType: "function_call",
  abbreviation: "fc",
  isNamed: true,
  toMembers: (arguments_) => ({ arguments: arguments_ }),
  toArguments: (item, where) => readStringAt(item, "arguments", where),
};

/** Calls of tools whose input is text. */
export const customCalls: CallKind = {
  itemType: "custom_tool_call",
  abbreviation: "ctc",
  isNamed: true,
  toMembers: (text) => {
    const { input } = findObject(text) ?? {};
    return { input: typeof input === "string" ? input : text };
  },
  toArguments: (item, where) => JSON.stringify({ input: readStringAt(item, "input", where) }),
};

/** Calls of a shell that runs one program. */
const localShellCalls: CallKind = {
  itemType: "local_shell_call",
  abbreviation: "lsh",
  toMembers: (text) => {
    const { command, env, ...options } = findObject(text) ?? {};
    const words = typeof command === "string" ? ["bash", "-lc", command] : toTexts(command);
    return { action: { ...options, type: "exec", command: words, env: isObject(env) ? env : {} } };
  },
  toArguments: (item, where) => {
    const { type: _, ...action } = readObjectAt(item, "action", where);
    return JSON.stringify(omitNull(action));
  },
  declaration: {
    description: "Runs a program on the user's machine, and returns its output.",
    parameters: {
      type: "object",
      properties: {
        command: texts('The program and its arguments, such as ["bash", "-lc", "ls"].'),
        env: { type: "object", additionalProperties: { type: "string" }, description: "Environment variables to set." },
        working_directory: text("The directory to run it in."),
        timeout_ms: { type: "integer", description: "The time limit in milliseconds." },
        user: text("The user to run it as."),
      },
      required: ["command"],
    },
  },
};

/** Calls of a shell that runs lines of commands. */
const shellCalls: CallKind = {
  itemType: "shell_call",
  abbreviation: "sh",
  toMembers: (text) => {
    const { commands, timeout_ms, max_output_length } = findObject(text) ?? {};
    const lines = typeof commands === "string" ? [commands] : toTexts(commands);
    const limits = { timeout_ms: toNumber(timeout_ms), max_output_length: toNumber(max_output_length) };
    return { action: { commands: lines, ...limits }, environment: { type: "local" } };
  },
  toArguments: (item, where) => JSON.stringify(omitNull(readObjectAt(item, "action", where))),
  declaration: {
    description: "Runs commands in a shell on the user's machine, and returns the output of each.",
    parameters: {
      type: "object",
      properties: {
        commands: texts("The command lines, which may run at the same time."),
        timeout_ms: { type: "integer", description: "The time limit of the commands in milliseconds." },
        max_output_length: { type: "integer", description: "The maximum number of characters of output to return." },
      },
      required: ["commands"],
    },
  },
};

const operations: readonly unknown[] = ["create_file", "update_file", "delete_file"];

/** Calls that change a file. */
const patchCalls: CallKind = {
  itemType: "apply_patch_call",
  abbreviation: "apc",
  toMembers: (text) => {
    const { type, path, diff } = findObject(text) ?? {};
    const operation = { type: operations.includes(type) ? type : "update_file", path: toText(path) };
    return { operation: type === "delete_file" ? operation : { ...operation, diff: toText(diff) } };
  },
  toArguments: (item, where) => JSON.stringify(readObjectAt(item, "operation", where)),
  declaration: {
    description: "Creates, changes or deletes one file.",
    parameters: {
      type: "object",
      properties: {
        type: { type: "string", enum: [...operations], description: "What to do with the file." },
        path: text("The path of the file."),
        diff: text(
          "A diff in the V4A format, unless the file is deleted: lines that begin with @@ and name a place, and lines " +
            "with the prefix +, - or a space. Of a new file every line has the prefix +.",
        ),
      },
      required: ["type", "path"],
    },
  },
};

/** Calls that search for tools, which the client runs. */
const toolSearches: CallKind = {
  itemType: "tool_search_call",
  abbreviation: "tsc",
  toMembers: (text) => ({ execution: "client", arguments: findObject(text) ?? {} }),
  toArguments: ({ arguments: value }) => JSON.stringify(findObject(value) ?? {}),
};

/** A tool as the API knows it. */
export interface NamedTool {
  readonly kind: CallKind;
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** Tools that the API defines and the client runs, by their type. */
export const definedTools: ReadonlyMap<unknown, NamedTool> = new Map(
  Object.entries({
    local_shell: localShellCalls,
    shell: shellCalls,
    apply_patch: patchCalls,
    tool_search: toolSearches,
  })
    .map(([name, kind]) => [name, { kind, name }]),
);

/** The kinds of calls of tools that requests describe, by the type of their items. */
const describedKinds: ReadonlyMap<unknown, CallKind> = new Map(
  [functionCalls, customCalls].map((kind) => [kind.itemType, kind]),
);

/** The tools that the API defines, by the type of the items of their calls. */
const definedCalls: ReadonlyMap<unknown, NamedTool> = new Map(
  [...definedTools.values()].map((tool) => [tool.kind.itemType, tool]),
);

/**
 * The tool that an item of a conversation calls.
 *
 * @param where Path of the item, for error messages.
 * @returns Undefined if the item is not a call that a client runs.
 */
export function findCalledTool(item: JsonObject, where: string): NamedTool | undefined {
  const kind = describedKinds.get(item.type);
  if (kind === undefined) return definedCalls.get(item.type);
  const namespace = typeof item.namespace === "string" ? item.namespace : undefined;
  return { kind, name: readStringAt(item, "name", where), namespace };
}

function readObjectAt(item: JsonObject, name: string, where: string): JsonObject {
  const value = item[name];
  if (!isObject(value)) throw wrongType(`${where}.${name}`, "an object", value);
  return value;
}

function omitNull(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}

function toTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(toText) : [];
}

function toNumber(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

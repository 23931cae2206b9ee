/**
 * Results of calls that the client has run.
 * @module
 */
import type { ChatMessage, ContentPart, JsonObject } from "../../contracts/openai.ts";
import { wrongType } from "../../pipeline/check_body.ts";
import { isObject } from "../../util/is_object.ts";
import { toText } from "../../util/to_text.ts";
import { inputParts, quoteValue, readStringAt } from "./_content.ts";
import type { ResponsesNativeOnly } from "./_native_only.ts";

type Reader = (item: JsonObject, where: string, nativeOnly: ResponsesNativeOnly) => ContentPart[];

const readOutput: Reader = (item, where, nativeOnly) => inputParts(item.output, `${where}.output`, nativeOnly);

/** The readers of results, by the type of their items. */
const readers: ReadonlyMap<unknown, Reader> = new Map<unknown, Reader>([
  ["function_call_output", readOutput],
  ["custom_tool_call_output", readOutput],
  ["local_shell_call_output", (item, where) => toParts(readStringAt(item, "output", where))],
  ["shell_call_output", readShellOutput],
  ["apply_patch_call_output", ({ status, output }) => toParts([toText(status), toText(output)])],
  ["tool_search_output", readFoundTools],
]);

/** Whether an item is the result of a call that the client has run. The provider's search for tools has no id. */
export function isCallResult({ type, call_id }: JsonObject): boolean {
  return readers.has(type) && (type !== "tool_search_output" || typeof call_id === "string");
}

/** A result, and its position in the conversation. */
export interface CallResult {
  readonly index: number;
  readonly id: string;
  readonly message: ChatMessage;
  readonly files: readonly ContentPart[];
}

/**
 * Converts a result.
 *
 * @param item A result.
 * @param index Its index in the conversation.
 * @param nativeOnly Collects what chat cannot express.
 * @throws {UnsupportedRequestError} If it is malformed.
 */
export function readCallResult(item: JsonObject, index: number, nativeOnly: ResponsesNativeOnly): CallResult {
  const where = `input[${index}]`;
  const id = readStringAt(item, "call_id", where);
  const parts = readers.get(item.type)!(item, where, nativeOnly);
  const strings = parts.flatMap(({ type, text }) => type === "text" ? [text!] : []);
  const files = parts.filter(({ type }) => type !== "text");
  if (files.length > 0) strings.push(`(${files.length} more in the next message)`);
  return {
    index,
    id,
    message: { role: "tool", tool_call_id: id, content: strings.join("\n") },
    files: files.length === 0 ? [] : [{ type: "text", text: `Of the result of the tool call ${id}:` }, ...files],
  };
}

/** Reports a result without a call. */
export function addUnmatched({ index, id }: CallResult, nativeOnly: ResponsesNativeOnly): void {
  const param = `input[${index}].call_id`;
  nativeOnly.add(
    param,
    `"${param}" is ${quoteValue(id)}, but "input" has no function_call for it, nor another call: send that as well`,
  );
}

function readShellOutput({ output }: JsonObject, where: string): ContentPart[] {
  if (typeof output === "string") return toParts(output);
  if (!Array.isArray(output)) throw wrongType(`${where}.output`, "an array", output);
  return toParts(
    output.filter(isObject).flatMap(({ stdout, stderr, outcome }) => {
      const { type, exit_code } = isObject(outcome) ? outcome : {};
      const end = type === "timeout"
        ? "(timed out)"
        : exit_code === undefined
        ? ""
        : `(exit code ${toText(exit_code)})`;
      return [toText(stdout), toText(stderr), end];
    }),
  );
}

/** The tools themselves are sent with the request. */
function readFoundTools({ tools }: JsonObject): ContentPart[] {
  const names = (Array.isArray(tools) ? tools.filter(isObject) : []).map(({ name, type }) => toText(name ?? type));
  return toParts(names.length === 0 ? "No tools were found." : `These tools can be called now: ${names.join(", ")}`);
}

function toParts(text: string | readonly string[]): ContentPart[] {
  const lines = typeof text === "string" ? text : text.filter((line) => line !== "").join("\n");
  return lines === "" ? [] : [{ type: "text", text: lines }];
}

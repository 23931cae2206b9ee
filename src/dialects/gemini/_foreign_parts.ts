/**
 * Parts of a conversation that only the API's own models have: they become text for all others.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { isObject } from "../../util/is_object.ts";
import { toText } from "../../util/to_text.ts";

/** Calls of tools that the provider runs, and their results, by the member of the part. */
const hosted = { toolCall: "[Called a tool:]", toolResponse: "[Its result:]" };

/**
 * Converts a part to text.
 *
 * @param fields Members of the part.
 * @returns Undefined if the part is of another kind.
 */
export function describePart(
  { executableCode: code, codeExecutionResult: result, ...others }: JsonObject,
): string | undefined {
  if (isObject(code)) return `\n[Ran code:]\n${toText(code.code)}\n`;
  if (isObject(result)) return `[Its output:]\n${toText(result.output)}\n`;
  const kind = Object.keys(hosted).find((name) => isObject(others[name])) as keyof typeof hosted | undefined;
  return kind && `\n${hosted[kind]}\n${JSON.stringify(others[kind])}\n`;
}

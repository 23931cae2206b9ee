/**
 * Tools that vendors run themselves, such as a web search, for a fee that no price of a model covers.
 * @module
 */
import { isObject } from "../util/is_object.ts";

/** Types of tools that the client runs, or that cost only the tokens they produce. */
const withoutFee: ReadonlySet<unknown> = new Set([
  ...["function", "custom", "mcp", "namespace", "tool_search"],
  ...["computer", "computer_use_preview", "local_shell", "apply_patch"],
]);

/** Members other than `tools` that request such a tool. */
const requesting: readonly string[] = ["web_search_options", "search_parameters", "plugins"];

/**
 * Whether a request for chat or responses lets the vendor run tools for a fee.
 *
 * @param body The request; malformed members count as none.
 */
export function usesVendorTools(body: Readonly<Record<string, unknown>>): boolean {
  const { tools } = body;
  if (Array.isArray(tools) && tools.some(isRunByVendor)) return true;
  return requesting.some((name) => isRequested(body[name]));
}

function isRunByVendor(tool: unknown): boolean {
  return isObject(tool) && typeof tool.type === "string" && !withoutFee.has(tool.type);
}

function isRequested(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return value === true || isObject(value) && value.mode !== "off";
}

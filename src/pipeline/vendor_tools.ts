/**
 * Tools that vendors run themselves, such as a web search, for a fee besides the tokens.
 * @module
 */
import type { BilledUsage } from "../contracts/usage.ts";
import { isObject } from "../util/is_object.ts";

/** The most calls of such tools that a request allows, and the service tier that it requests. */
export type VendorFees = Pick<BilledUsage, "searches" | "toolCalls" | "tier">;

/** Types of tools that the client runs, or that cost only the tokens they produce. */
const withoutFee: ReadonlySet<unknown> = new Set([
  ...["function", "custom", "mcp", "namespace", "tool_search"],
  ...["computer", "computer_use_preview", "local_shell", "apply_patch"],
]);

/** Types of tools that search. */
const searching = /^(web|browser|x|news)_search/;

/**
 * Counts the calls of tools that a request for chat or responses lets the vendor run.
 *
 * @param body The request; malformed members count as none.
 * @returns Undefined if it lets the vendor run none.
 */
export function countVendorTools(body: Readonly<Record<string, unknown>>): VendorFees | undefined {
  const { tools, web_search_options: options, search_parameters: parameters, plugins, max_tool_calls: limit } = body;
  const types = Array.isArray(tools) ? tools.filter(isRunByVendor) : [];
  const extensions = Array.isArray(plugins) ? plugins : [];
  const searches = types.filter(({ type }) => searching.test(type));
  const web = extensions.filter((plugin) => isObject(plugin) && plugin.id === "web");
  const others = [
    ...types.filter((tool) => !searches.includes(tool)),
    ...extensions.filter((one) => !web.includes(one)),
  ];
  const once = isRequested(options) ? 1 : 0; // a search model searches before it answers
  const unbounded = isRequested(parameters) ? Infinity : 0;
  return toFees({
    searches: sumCalls([...searches, ...web], limit) + once + unbounded,
    toolCalls: sumCalls(others, limit),
  });
}

/** Calls of tools: those that they allow (`max_uses`), else those that the request allows; Infinity without a limit. */
export function sumCalls(tools: readonly unknown[], limit?: unknown): number {
  return tools.reduce<number>((sum, tool) => sum + callsUpTo(Object(tool).max_uses ?? limit), 0);
}

/** The fees; undefined if there are none. */
export function toFees({ searches = 0, toolCalls = 0 }: VendorFees): VendorFees | undefined {
  if (searches + toolCalls === 0) return undefined;
  return { ...(searches > 0 && { searches }), ...(toolCalls > 0 && { toolCalls }) };
}

function callsUpTo(limit: unknown): number {
  return Number.isSafeInteger(limit) && limit as number > 0 ? limit as number : Infinity;
}

function isRunByVendor(tool: unknown): tool is { readonly type: string } {
  return isObject(tool) && typeof tool.type === "string" && !withoutFee.has(tool.type);
}

function isRequested(value: unknown): boolean {
  return value === true || isObject(value) && value.mode !== "off";
}

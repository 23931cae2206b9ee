/**
 * The rounds of a response with searches: what the model is asked again, after the proxy has run its searches.
 * @module
 */
import type {
  AssistantMessage,
  ChatCompletionRequest,
  ChatMessage,
  CompletionUsage,
  ToolCall,
} from "../../contracts/openai.ts";
import { formatSources, type WebSearch } from "../../dialects/web_search_results.ts";
import type { RunSearch, Searches } from "./searches.ts";

/** What a model has written in a round, as far as the next one needs it. */
export interface RoundMessage extends Pick<AssistantMessage, "content" | "reasoning_content" | "reasoning_details"> {
  readonly tool_calls: readonly ToolCall[];
}

/**
 * The request of the next round.
 *
 * @param body The request of this round.
 * @param message The response to it, which only calls searches.
 * @param done These searches, and whether more are possible.
 */
export function toNextRequest(
  body: ChatCompletionRequest,
  { content, reasoning_content, reasoning_details, tool_calls }: RoundMessage,
  { run, searches }: { readonly run: readonly RunSearch[]; readonly searches: Searches },
): ChatCompletionRequest {
  const turn: ChatMessage = {
    role: "assistant",
    content: content ?? null,
    ...(reasoning_content ? { reasoning_content } : {}),
    ...(reasoning_details?.length ? { reasoning_details } : {}),
    tool_calls: [...tool_calls],
  };
  const results = run.map(({ call, search }): ChatMessage => ({
    role: "tool",
    tool_call_id: call.id,
    content: formatResult(search),
  }));
  return { ...body, messages: [...body.messages, turn, ...results], ...toNextTools(body, searches) };
}

/** A model that had to call a tool has done so. Without further searches, it gets only the other tools. */
function toNextTools(
  { tools = [], tool_choice: choice }: ChatCompletionRequest,
  searches: Searches,
): Pick<ChatCompletionRequest, "tools" | "tool_choice"> {
  const isForced = choice === "required" || typeof choice === "object";
  const next = isForced ? { tool_choice: "auto" } : {};
  if (!searches.isExhausted) return next;
  const others = tools.filter((tool) => !searches.isSearch(tool.function?.name));
  return others.length === 0 ? { tool_choice: "none" } : { tools: others, ...next };
}

function formatResult({ query, sources, fault }: WebSearch): string {
  switch (fault) {
    case "invalid_tool_input":
      return 'The search failed: the arguments have to be {"query": "…"}.';
    case "max_uses_exceeded":
      return "No further search is possible: answer with what you have found.";
    case "unavailable":
      return "The search failed: no search engine could be reached.";
    default:
      if (sources.length === 0) return `Nothing was found for "${query}".`;
      return `Pages found for "${query}":\n\n${formatSources(sources)}\n\n` +
        "Where you use a page, cite it as a Markdown link to its address: [title](address).";
  }
}

/** Adds the usage of two rounds. */
export function addUsages(
  first: CompletionUsage | null | undefined,
  second: CompletionUsage | null | undefined,
): CompletionUsage | undefined {
  if (!first || !second) return first ?? second ?? undefined;
  return addNumbers(first, second) as CompletionUsage;
}

function addNumbers(left: unknown, right: unknown): unknown {
  if (typeof left === "number" && typeof right === "number") return left + right;
  if (typeof left !== "object" || left === null || typeof right !== "object" || right === null) return right ?? left;
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  const [first, second] = [left, right] as Record<string, unknown>[];
  return Object.fromEntries([...names].map((name) => [name, addNumbers(first![name], second![name])]));
}

/**
 * The response object, except for its output.
 * @module
 */
import type { ChatCompletion, CompletionUsage, JsonObject } from "../../contracts/openai.ts";
import { isObject } from "../../util/is_object.ts";
import { ownId } from "./_carried.ts";
import type { ToolTable } from "./_tool_table.ts";
import { toText } from "../../util/to_text.ts";

/** What is known at the start of a response. */
export type ResponsesHead = Pick<ChatCompletion, "id" | "model" | "created">;

/** A request, as its response needs it. */
export interface ResponseContext {
  readonly body: JsonObject;
  /** The tools of the request. */
  readonly table: ToolTable;
  /** The unique part of the ids of its items; derived from the chat id by default. */
  readonly name?: string | undefined;
}

/** The unique part of a response's item ids. */
export function getUniquePart({ id }: Pick<ResponsesHead, "id">): string {
  return toText(id).replace(/^chatcmpl-/, "").replace(/[^A-Za-z0-9_-]/g, "").slice(0, 40);
}

/**
 * The response object without output.
 *
 * @param body The request, parts of which it repeats.
 * @param head The start of the response.
 */
export function formatResponse(body: JsonObject, head: ResponsesHead): JsonObject {
  const { instructions, max_output_tokens, metadata, parallel_tool_calls, reasoning, temperature, text, top_p } = body;
  return {
    id: ownId("resp", getUniquePart(head)),
    object: "response",
    created_at: head.created,
    status: "in_progress",
    background: false,
    error: null,
    incomplete_details: null,
    instructions: instructions ?? null,
    max_output_tokens: max_output_tokens ?? null,
    metadata: metadata ?? {},
    model: head.model,
    output: [],
    parallel_tool_calls: parallel_tool_calls ?? true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null, ...isObject(reasoning) ? reasoning : {} },
    store: false,
    temperature: temperature ?? null,
    text: { format: { type: "text" }, ...isObject(text) ? text : {} },
    tool_choice: body.tool_choice ?? "auto",
    tools: Array.isArray(body.tools) ? body.tools.map(formatTool) : [],
    top_p: top_p ?? null,
    truncation: "disabled",
  };
}

/** Status of a response, and why it is incomplete. */
export function formatStatus({ reason, hasRefused }: {
  readonly reason: string | null;
  /** Whether the response is a refusal. */
  readonly hasRefused: boolean;
}): JsonObject {
  if (reason === "length") return { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
  if (reason === "content_filter" && !hasRefused) {
    return { status: "incomplete", incomplete_details: { reason: "content_filter" } };
  }
  return { status: "completed" };
}

/** The member `usage`, if the provider reports token counts. */
export function formatResponseUsage(usage: CompletionUsage | null | undefined): JsonObject {
  if (usage === null || usage === undefined) return {};
  const { prompt_tokens = 0, completion_tokens = 0, prompt_tokens_details, completion_tokens_details } = usage;
  const { cached_tokens = 0, cache_write_tokens = 0 } = prompt_tokens_details ?? {};
  return {
    usage: {
      input_tokens: prompt_tokens,
      input_tokens_details: { cached_tokens: cached_tokens ?? 0, cache_write_tokens: cache_write_tokens ?? 0 },
      output_tokens: completion_tokens,
      output_tokens_details: { reasoning_tokens: completion_tokens_details?.reasoning_tokens ?? 0 },
      total_tokens: usage.total_tokens ?? prompt_tokens + completion_tokens,
    },
  };
}

/** A tool with default members filled in, as the API returns it. */
function formatTool(tool: JsonObject): JsonObject {
  return tool.type === "function" ? { parameters: null, strict: null, ...tool } : removeSecrets(tool);
}

/** A tool without the secrets that a provider needs to use it: they are part of every request, and of no response. */
export function removeSecrets(tool: JsonObject): JsonObject {
  if (!isObject(tool) || tool.type !== "mcp") return tool;
  const { authorization: _, headers, ...others } = tool;
  return headers === undefined ? others : { ...others, headers: null };
}

/**
 * Compaction: a summary takes the place of a conversation. The item that carries it is opaque to clients.
 *
 * Source: https://platform.openai.com/docs/api-reference/responses/compact
 * @module
 */
import type { ChatCompletion, JsonObject } from "../../contracts/openai.ts";
import { isObject } from "../../util/is_object.ts";
import { formatResponseUsage, getUniquePart } from "./_response.ts";
import { ownId } from "./_carried.ts";

/** What a model is asked for. */
const instruction =
  "Summarize the conversation so far, so that you can continue the work from the summary alone. State the " +
  "user's goals and constraints, what was done and decided, the facts that were found (names, paths, values, errors) " +
  "exactly, and the next steps. Answer with the summary only.";

/** Precedes a summary in the conversation that continues. */
const heading = "Summary of the conversation so far:\n\n";

/** The members of a request to compact that hold for the request of the summary, too. */
const keptMembers = [
  ...["model", "models", "mesh", "instructions", "prompt_cache_key", "reasoning", "service_tier"],
  ...["previous_response_id", "conversation"], // checked as in any request
];

/** Tools that the client runs: the summary needs those whose calls are in the conversation, and runs none. */
const clientTools: ReadonlySet<unknown> = new Set([
  ...["function", "custom", "namespace", "local_shell", "shell", "apply_patch"],
]);

/**
 * Converts a request to compact a conversation to one for its summary.
 *
 * @param body The request; its input is validated with the returned one.
 */
export function toSummaryRequest(body: JsonObject): JsonObject {
  const { input } = body;
  const tools = Array.isArray(body.tools) ? body.tools.filter((tool) => clientTools.has(tool?.type)) : [];
  const kept = Object.fromEntries(keptMembers.filter((name) => name in body).map((name) => [name, body[name]]));
  const items = typeof input === "string" ? [createMessage(input)] : input;
  return {
    ...kept,
    ...(tools.length > 0 ? { tools, tool_choice: "none" } : {}),
    input: Array.isArray(items) && items.length > 0 ? [...items, createMessage(instruction)] : items,
    store: false,
  };
}

/** Converts a summary to an item of the conversation that continues. */
export function toSummaryItem(summary: string): JsonObject {
  return createMessage(heading + summary);
}

/** The text of a response with a summary. */
export function readSummary({ choices }: ChatCompletion): string {
  const content = choices[0]?.message.content;
  return typeof content === "string" ? content.trim() : "";
}

/**
 * Formats the compacted conversation.
 *
 * @param completion The response with the summary.
 * @param encrypted_content The sealed summary.
 */
export function formatCompaction(completion: ChatCompletion, encrypted_content: string): JsonObject {
  const name = getUniquePart(completion);
  return {
    id: ownId("resp", name),
    object: "response.compaction",
    created_at: completion.created,
    output: [{ id: ownId("cmp", name), type: "compaction", encrypted_content }],
    ...formatResponseUsage(completion.usage),
  };
}

/** Whether an item carries a summary or the state of a vendor's model in place of a conversation. */
export function isCompaction(item: unknown): item is JsonObject {
  return isObject(item) && item.type === "compaction";
}

function createMessage(content: string): JsonObject {
  return { type: "message", role: "user", content };
}

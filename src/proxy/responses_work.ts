/**
 * Bodies of Responses requests: the conversation to which they refer is loaded, and what this mesh has sealed in them is
 * opened.
 * @module
 */
import { isCompaction, toSummaryItem } from "../dialects/responses/compaction.ts";
import { isSealedSummary, openSummary } from "../infrastructure/compaction.ts";
import { invalid } from "../pipeline/check_body.ts";
import { isObject } from "../util/is_object.ts";
import { editMembers } from "../util/json_members.ts";
import { readWork } from "./body.ts";
import type { Exchange } from "./exchange.ts";
import type { TurnWork } from "./responses/conversation_turn.ts";

/**
 * Reads the body of a request. If the proxy stores responses, it gets the conversation before it. Summaries in its input
 * are replaced by their text.
 *
 * @throws {HttpError} If there is no such conversation.
 * @throws {UnsupportedRequestError} `invalid_value` for a summary of another mesh or client, or one that was changed.
 */
export async function readResponsesWork(exchange: Exchange): Promise<TurnWork> {
  const work = await readTurn(exchange);
  const { value } = work;
  if (!isObject(value) || !Array.isArray(value.input) || !value.input.some(isSealed)) return work;
  const input = await openItems(value.input, exchange).catch((error) => {
    work.release?.();
    throw error;
  });
  const { text } = work;
  return { ...work, value: { ...value, input }, ...(text === undefined ? {} : { text: editMembers(text, { input }) }) };
}

async function readTurn(exchange: Exchange): Promise<TurnWork> {
  const work = await readWork(exchange);
  if (!exchange.proxy.responses.state) return work;
  const { resumeConversation } = await import("./responses/conversation_turn.ts");
  return await resumeConversation(work, exchange);
}

function isSealed(item: unknown): boolean {
  return isCompaction(item) && isSealedSummary(item.encrypted_content);
}

/** Each summary is opened once, and the first one that cannot be opened ends it: signatures take time. */
async function openItems(items: readonly unknown[], { mesh, client }: Exchange): Promise<unknown[]> {
  const opened = new Map<unknown, unknown>();
  const input: unknown[] = [];
  for (const [index, item] of items.entries()) {
    if (!isCompaction(item) || !isSealedSummary(item.encrypted_content)) {
      input.push(item);
      continue;
    }
    const { encrypted_content: content } = item;
    const summary = opened.has(content) ? undefined : await openSummary(content, { client }, mesh);
    if (summary !== undefined) opened.set(content, toSummaryItem(summary));
    if (!opened.has(content)) throw rejectCompaction(index);
    input.push(opened.get(content));
  }
  return input;
}

function rejectCompaction(index: number): Error {
  const message = `"input[${index}]" is a compaction that was changed, or not created by this proxy for this client: ` +
    "send the conversation itself";
  return invalid(message, `input[${index}]`);
}

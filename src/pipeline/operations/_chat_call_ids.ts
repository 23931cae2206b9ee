/**
 * Gives each tool call of a conversation an id of its own, for models that accept no id twice. Some servers number the
 * calls of every response from 0.
 * @module
 */
import type { ChatMessage } from "../../contracts/openai.ts";
import { mapItems, mapMembers } from "../../util/map_members.ts";

/** The calls of one message with one id. */
interface SameCalls {
  readonly message: unknown;
  readonly ids: string[];
  /** Number of results so far. */
  results: number;
}

/**
 * Replaces the ids of calls that repeat an earlier one, and those of their results.
 *
 * @returns The same list if no id is repeated.
 */
export function withDistinctIds(messages: ChatMessage[]): ChatMessage[] {
  const ids = new DistinctIds();
  return mapItems(messages, (message) =>
    mapMembers(message, {
      tool_calls: (calls) => mapItems(calls, (call) => mapMembers(call, { id: (id) => ids.add(id, message) })),
      tool_call_id: (id) => ids.find(id),
    })) as ChatMessage[];
}

class DistinctIds {
  readonly #taken = new Set<string>();
  /** Number of calls with each id. */
  readonly #counts = new Map<string, number>();
  readonly #latest = new Map<string, SameCalls>();

  add(id: unknown, message: unknown): unknown {
    if (typeof id !== "string") return id;
    let count = (this.#counts.get(id) ?? 0) + 1;
    let own = count === 1 ? id : `${id}_${count}`;
    while (this.#taken.has(own)) own = `${id}_${++count}`;
    this.#counts.set(id, count);
    this.#taken.add(own);
    const latest = this.#latest.get(id);
    if (latest !== undefined && latest.message === message) latest.ids.push(own);
    else this.#latest.set(id, { message, ids: [own], results: 0 });
    return own;
  }

  /** Results of calls with one id follow in the order of the calls. */
  find(id: unknown): unknown {
    const latest = typeof id === "string" ? this.#latest.get(id) : undefined;
    return latest === undefined ? id : latest.ids[Math.min(latest.results++, latest.ids.length - 1)];
  }
}

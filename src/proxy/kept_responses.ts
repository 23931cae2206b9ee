/**
 * The conversations of one connection, so that a request may continue a response by its id. They are kept as text, for
 * as long as the connection lasts.
 * @module
 */
import type { JsonObject } from "../contracts/openai.ts";
import { findCreationTime } from "../dialects/responses/stored_response.ts";
import { isObject } from "../util/is_object.ts";
import { editMembers, repeatedMember } from "../util/json_members.ts";
import { formatInput, formatOutput, joinItems, replaceInput } from "./responses/conversation_text.ts";

/** A conversation up to a response. */
interface KeptResponse {
  /** The stored response at which it begins, if any. */
  readonly start: string | undefined;
  /** Its further items as JSON, without the brackets of an array. */
  readonly items: string;
  readonly release: () => void;
}

/** Reserves memory, bytes; undefined if there is none left. */
type Reserve = (bytes: number) => (() => void) | undefined;

export class KeptResponses {
  readonly #maxChars: number;
  readonly #reserve: Reserve;
  /** By the id of the response, the oldest first. */
  readonly #kept = new Map<string, KeptResponse>();
  #chars = 0;

  /** @param maxChars Of all conversations together; the oldest ones are dropped. */
  constructor(maxChars: number, reserve: Reserve) {
    this.#maxChars = maxChars;
    this.#reserve = reserve;
  }

  /**
   * Returns the body of a request, in which the items of an earlier response of this connection replace its id. Another id
   * remains: the proxy may have stored that response.
   *
   * @param text The request, a JSON object.
   * @param value The same, parsed.
   */
  toRequest(text: string, value: JsonObject): {
    /** The body, JSON. */
    readonly body: string;
    /** Keeps the response to it. */
    readonly keep: (response: unknown) => void;
  } {
    if (repeatedMember(text) !== undefined) return { body: text, keep: () => {} }; // will be rejected
    const { previous_response_id: id, input, store } = value;
    const previous = typeof id === "string" ? this.#kept.get(id) : undefined;
    const added = formatInput(text, input);
    const start = previous === undefined && isStored(id) ? id : previous?.start;
    const isComplete = previous !== undefined || start !== undefined || id === undefined || id === null;
    const edits = { type: undefined, stream: true };
    if (added === undefined || !isComplete) return { body: editMembers(text, edits), keep: () => {} };
    const items = joinItems(previous?.items ?? "", added);
    const keep = (response: unknown) => this.#keep(response, { start, items }, store === false);
    if (previous === undefined) return { body: editMembers(text, edits), keep };
    return { body: replaceInput(text, items, { ...edits, previous_response_id: start }), keep };
  }

  /** Drops everything. */
  clear(): void {
    for (const id of [...this.#kept.keys()]) this.#drop(id);
  }

  #keep(response: unknown, { start, items: requested }: Omit<KeptResponse, "release">, isUnstored: boolean): void {
    if (!isObject(response) || typeof response.id !== "string" || !Array.isArray(response.output)) return;
    if (response.store === true && isStored(response.id)) return; // requests refer to what the proxy has stored
    const items = joinItems(requested, formatOutput(response.output, isUnstored || isStored(response.id)));
    this.#drop(response.id);
    if (items.length > this.#maxChars) return;
    for (const id of [...this.#kept.keys()]) if (this.#chars + items.length > this.#maxChars) this.#drop(id);
    const release = this.#reserve(items.length);
    if (release === undefined) return this.clear(); // clients send the whole conversation then
    this.#kept.set(response.id, { start, items, release });
    this.#chars += items.length;
  }

  #drop(id: string): void {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    this.#kept.delete(id);
    this.#chars -= kept.items.length;
    kept.release();
  }
}

/** Whether the id is that of a response of a proxy that stores responses, although maybe not this one. */
function isStored(id: unknown): id is string {
  return findCreationTime(id) !== undefined;
}

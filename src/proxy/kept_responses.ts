/**
 * The conversations of one connection, so that a request may continue a response by its id. They are kept as text, for
 * as long as the connection lasts.
 * @module
 */
import type { JsonObject } from "../contracts/openai.ts";
import { isObject } from "../util/is_object.ts";
import { editMembers, memberText, repeatedMember } from "../util/json_members.ts";

/** A conversation up to a response: its items as JSON, without the brackets of an array. */
interface KeptResponse {
  readonly items: string;
  readonly release: () => void;
}

/** A request with its whole conversation. */
interface CompleteRequest {
  /** The body, JSON. */
  readonly body: string;
  /** Keeps the response to it. */
  readonly keep: (response: unknown) => void;
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
   * remains.
   *
   * @param text The request, a JSON object.
   * @param value The same, parsed.
   */
  toRequest(text: string, value: JsonObject): CompleteRequest {
    if (repeatedMember(text) !== undefined) return { body: text, keep: () => {} }; // will be rejected
    const { previous_response_id: id, input, store } = value;
    const previous = typeof id === "string" ? this.#kept.get(id) : undefined;
    const added = toItemsText(text, input);
    const isComplete = previous !== undefined || id === undefined || id === null;
    const edits = { type: undefined, stream: true };
    if (added === undefined || !isComplete) return { body: editMembers(text, edits), keep: () => {} };
    const items = joinItems(previous?.items ?? "", added);
    const keep = (response: unknown) => this.#keep(response, items, store === false);
    if (previous === undefined) return { body: editMembers(text, edits), keep };
    const rest = editMembers(text, { ...edits, previous_response_id: undefined, input: undefined });
    return { body: `${rest.slice(0, -1)},"input":[${items}]}`, keep };
  }

  /** Drops everything. */
  clear(): void {
    for (const id of [...this.#kept.keys()]) this.#drop(id);
  }

  #keep(response: unknown, requested: string, isUnstored: boolean): void {
    if (!isObject(response) || typeof response.id !== "string" || !Array.isArray(response.output)) return;
    const output = isUnstored ? response.output.filter((item) => !isUnreadable(item)) : response.output;
    const items = joinItems(requested, JSON.stringify(output).slice(1, -1));
    this.#drop(response.id);
    if (items.length > this.#maxChars) return;
    for (const id of [...this.#kept.keys()]) if (this.#chars + items.length > this.#maxChars) this.#drop(id);
    const release = this.#reserve(items.length);
    if (release === undefined) return this.clear(); // clients send the whole conversation then
    this.#kept.set(response.id, { items, release });
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

/** The items of an input, without the brackets; undefined if it is invalid. */
function toItemsText(text: string, input: unknown): string | undefined {
  if (input === undefined || input === null) return "";
  if (Array.isArray(input)) return memberText(text, "input").slice(1, -1).trim();
  return typeof input === "string" ? JSON.stringify({ type: "message", role: "user", content: input }) : undefined;
}

function joinItems(...lists: readonly string[]): string {
  return lists.filter((items) => items !== "").join(",");
}

/** Reasoning that its provider has not stored, and of which there is nothing but an id. */
function isUnreadable(item: unknown): boolean {
  if (!isObject(item) || item.type !== "reasoning" || item.encrypted_content) return false;
  return ![item.summary, item.content].some((parts) => Array.isArray(parts) && parts.length > 0);
}

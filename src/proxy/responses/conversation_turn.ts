/**
 * A request as a turn of a stored conversation: it becomes one with the whole conversation, which any provider can serve.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { checkOptional, invalid } from "../../pipeline/check_body.ts";
import { isObject } from "../../util/is_object.ts";
import { editMembers } from "../../util/json_members.ts";
import type { Work } from "../body.ts";
import { HttpError, waitHeaders } from "../error_body.ts";
import type { Exchange } from "../exchange.ts";
import { formatInput, formatOutput, joinItems, replaceInput } from "./conversation_text.ts";
import { isOwnReference, resolveReferences } from "./item_references.ts";
import { type Conversation, findOwner, openMemory, type ResponseMemory, withStorageErrors } from "./response_memory.ts";

/** What a request adds to its conversation. */
export interface Turn {
  readonly memory: ResponseMemory;
  /** The hash of its client's identity. */
  readonly owner: string;
  readonly previousId: string | null;
  /** The last responses before it, oldest first. */
  readonly ancestors: readonly string[];
  /** Number of items before it. */
  readonly count: number;
  /** Its own items, as received. */
  readonly input: readonly JsonObject[];
  /** Whether its response is stored. */
  readonly isStored: boolean;
  /** Whether its work goes on without a connection. */
  readonly isBackground: boolean;
}

/** A request with its whole conversation. */
export interface TurnWork extends Work {
  /** Undefined if the request is malformed, and will be rejected. */
  readonly turn?: Turn;
  /** The unique part of the ids of the response's items. */
  readonly itemsName?: string;
  /** Releases the memory of the conversation. */
  readonly release?: () => void;
}

/**
 * Replaces references to an earlier response and to items by what is stored. Providers store nothing.
 *
 * @throws {UnsupportedRequestError} If one of these members is malformed.
 * @throws {HttpError} 404 for an unknown response or item, 503 if the storage fails.
 */
export async function resumeConversation(work: Work, exchange: Exchange): Promise<TurnWork> {
  const { value } = work;
  if (!isObject(value)) return work;
  checkMembers(value);
  const source = { memory: openMemory(exchange), owner: findOwner(exchange), exchange };
  if (!Array.isArray(value.input) || !value.input.some(isOwnReference)) return await resume(work, source);
  const complete = await addItems(work, source);
  try {
    return await resume(complete, source);
  } catch (error) {
    complete.release();
    throw error;
  }
}

/** Where conversations are loaded from. */
interface TurnSource {
  readonly memory: ResponseMemory;
  readonly owner: string;
  readonly exchange: Exchange;
}

/** Replaces references to items. */
async function addItems(work: Work, { memory, owner, exchange }: TurnSource) {
  const { value, text = "" } = work;
  const body = value as JsonObject & { readonly input: JsonObject[] };
  const { bodyLimit: maxChars } = exchange.proxy;
  const input = await withStorageErrors(() => resolveReferences(body.input, { memory, owner, maxChars }));
  const items = JSON.stringify(input).slice(1, -1);
  const release = reserve(items.length, exchange);
  return { ...work, value: { ...body, input }, text: replaceInput(text, items, {}), release };
}

async function resume(work: TurnWork, { memory, owner, exchange }: TurnSource): Promise<TurnWork> {
  const { text = "" } = work;
  const value = work.value as JsonObject;
  const { previous_response_id: previousId, store: requested, background, ...others } = value;
  const added = formatInput(text, value.input);
  if (added === undefined) return work;
  const own = toItems(value.input);
  const isBackground = background === true;
  const facts = { memory, owner, input: own, isStored: requested !== false, isBackground };
  const edits = { previous_response_id: undefined, background: undefined, store: false };
  if (typeof previousId !== "string") {
    const turn = { ...facts, previousId: null, ancestors: [], count: 0 };
    return { ...work, value: { ...others, store: false }, text: editMembers(text, edits), turn };
  }
  const { bodyLimit } = exchange.proxy;
  const ref = { owner, id: previousId };
  const { ancestors, turns } = await withStorageErrors(() => memory.loadConversation(ref, bodyLimit));
  const before = joinItems(...turns.flatMap(formatTurn));
  const releaseBefore = reserve(before.length, exchange);
  const release = () => {
    releaseBefore();
    work.release?.();
  };
  const earlier = JSON.parse(`[${before}]`);
  const input = [...earlier, ...own];
  const turn = { ...facts, previousId, ancestors, count: earlier.length };
  const complete = replaceInput(text, joinItems(before, added), edits);
  return { ...work, value: { ...others, store: false, input }, text: complete, turn, release };
}

function checkMembers(body: JsonObject): void {
  checkOptional(body, {
    name: "previous_response_id",
    expected: "a string",
    isValid: (value) => typeof value === "string",
  });
  for (const name of ["store", "background"]) {
    checkOptional(body, { name, expected: "a boolean", isValid: (value) => typeof value === "boolean" });
  }
  if (isPresent(body.previous_response_id) && isPresent(body.conversation)) {
    throw invalid('"previous_response_id" and "conversation" exclude each other', "previous_response_id");
  }
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function toItems(input: unknown): readonly JsonObject[] {
  if (Array.isArray(input)) return input;
  return typeof input === "string" ? [{ type: "message", role: "user", content: input }] : [];
}

function formatTurn({ input, response }: Conversation["turns"][number]): string[] {
  return [JSON.stringify(input).slice(1, -1), formatOutput(response.output as unknown[] ?? [], true)];
}

/** The conversation counts like a body. */
function reserve(bytes: number, { reserve = () => undefined }: Exchange): () => void {
  const release = reserve(bytes);
  if (release !== undefined) return release;
  throw new HttpError("The proxy has no memory left for request bodies (proxy.body_memory)", {
    status: 503,
    type: "server_error",
    code: "overloaded",
    headers: waitHeaders(1000, false),
  });
}

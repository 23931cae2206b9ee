/**
 * Items of the input that refer to those of stored responses by their ids, as some clients send them by default.
 * @module
 */
import { findItemResponse } from "../../dialects/responses/stored_response.ts";
import type { JsonObject } from "../../contracts/openai.ts";
import { isObject } from "../../util/is_object.ts";
import { HttpError } from "../error_body.ts";
import { quoteId, type ResponseMemory, tooLong } from "./response_memory.ts";

/** Responses that are loaded at once. */
const concurrency = 32;

/** Where items are looked for. */
interface ItemSource {
  readonly memory: ResponseMemory;
  readonly owner: string;
  /** Maximum length of all items that replace references, as JSON. */
  readonly maxChars: number;
}

/** Whether an item refers to one of a stored response. */
export function isOwnReference(item: unknown): item is JsonObject & { readonly id: string } {
  if (!isObject(item)) return false;
  const isReference = item.type === "item_reference" || (item.type ?? item.role ?? item.content) === undefined;
  return isReference && findItemResponse(item.id) !== undefined;
}

/**
 * Replaces references by the items.
 *
 * @throws {HttpError} 404 if the client has no such item, 413 if they are too long.
 * @throws {ConnectorError} If the storage fails.
 */
export async function resolveReferences(items: readonly JsonObject[], source: ItemSource): Promise<JsonObject[]> {
  const found = await loadItems(items.filter(isOwnReference).map(({ id }) => id), source);
  let chars = 0;
  return items.map((item, index) => {
    if (!isOwnReference(item)) return item;
    const stored = found.get(item.id);
    if (stored === undefined) throw itemNotFound(item.id, index);
    chars += JSON.stringify(stored).length;
    if (chars > source.maxChars) throw tooLong(`input[${index}]`);
    return stored;
  });
}

/** The items of the responses that the ids are part of, by their ids. */
async function loadItems(ids: readonly string[], { memory, owner }: ItemSource): Promise<Map<unknown, JsonObject>> {
  const responses = [...new Set(ids.map((id) => findItemResponse(id)!))];
  const wanted: ReadonlySet<unknown> = new Set(ids);
  const found = new Map<unknown, JsonObject>();
  for (let at = 0; at < responses.length; at += concurrency) {
    const batch = responses.slice(at, at + concurrency).map((id) => memory.records.load({ owner, id }));
    for (const record of await Promise.all(batch)) {
      const output = record?.response.output;
      if (!Array.isArray(output)) continue;
      for (const item of output) if (isObject(item) && wanted.has(item.id)) found.set(item.id, item);
    }
  }
  return found;
}

function itemNotFound(id: string, index: number): HttpError {
  const message = `Item with id ${quoteId(id)} not found`;
  return new HttpError(message, { status: 404, code: "item_not_found", param: `input[${index}].id` });
}

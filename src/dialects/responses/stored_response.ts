/**
 * Responses that the proxy stores: their ids, and their items as input of later requests.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { isObject } from "../../util/is_object.ts";
import { newId } from "../../util/request_id.ts";
import { ownId } from "./_carried.ts";
import { removeSecrets } from "./_response.ts";

const storedId = /^resp_mesh_([\da-f]{11})[\da-f]{32}$/;
const storedItemId = /^[a-z]+_mesh_([\da-f]{43})_\d+$/;

/**
 * Creates the id of a response. Ids sort by the time in them, and cannot be guessed.
 *
 * @param createdAt Wall clock, ms.
 */
export function createResponseId(createdAt: number): string {
  return ownId("resp", createdAt.toString(16).padStart(11, "0") + newId().replaceAll("-", ""));
}

/** The unique part of the ids of the items of a stored response, by which {@linkcode findItemResponse} finds it. */
export function toItemsName(responseId: string): string {
  return responseId.slice(ownId("resp", "").length);
}

/** The response that has an item in its output, by the item's id; undefined if the id is not one of the proxy's. */
export function findItemResponse(id: unknown): string | undefined {
  const name = typeof id === "string" ? storedItemId.exec(id)?.[1] : undefined;
  return name === undefined ? undefined : ownId("resp", name);
}

/** When a response was created, by its id, ms since 1970; undefined for other ids. */
export function findCreationTime(id: unknown): number | undefined {
  const digits = typeof id === "string" ? storedId.exec(id)?.[1] : undefined;
  return digits === undefined ? undefined : parseInt(digits, 16);
}

/** A response without the secrets that its provider may have repeated from the request. */
export function formatStored(response: JsonObject): JsonObject {
  const { tools } = response;
  return Array.isArray(tools) ? { ...response, tools: tools.map(removeSecrets) } : response;
}

/** Reasoning that its provider has not stored, and of which there is nothing but an id. */
export function isUnreadable(item: unknown): boolean {
  if (!isObject(item) || item.type !== "reasoning" || item.encrypted_content) return false;
  return ![item.summary, item.content].some((parts) => Array.isArray(parts) && parts.length > 0);
}

/** The kinds of ids of items, by their type, where the API's abbreviation is not the type itself. */
const abbreviations: Readonly<Record<string, string>> = {
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
  function_call_output: "fco",
  custom_tool_call: "ctc",
  custom_tool_call_output: "ctco",
};

/**
 * Formats an item of the input as the API lists it: with an id, and the content of a message as parts.
 *
 * @param item An item as the client has sent it.
 * @param name The unique part of its id, if it has none.
 */
export function formatInputItem(item: JsonObject, name: string): JsonObject {
  const { type = "message", role, content } = item;
  const id = item.id ?? ownId(Object.hasOwn(abbreviations, String(type)) ? abbreviations[String(type)]! : "item", name);
  if (type !== "message") return { ...item, id };
  const isOutput = role === "assistant";
  const part = isOutput ? { type: "output_text", annotations: [], logprobs: [] } : { type: "input_text" };
  return {
    ...item,
    id,
    type,
    status: item.status ?? "completed",
    content: typeof content === "string" ? [{ ...part, text: content }] : content,
  };
}

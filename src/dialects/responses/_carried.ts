/**
 * Carries vendor-specific state: `extra_content` of tool calls and `reasoning_details` of messages in chat. Clients return
 * `reasoning` items unchanged: the state is encoded in such an item, that of a call with its id.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { isObject } from "../../util/is_object.ts";
import { fromBase64Json, toBase64Json } from "../../util/json_base64.ts";
import { describeItem } from "./_foreign_items.ts";

/** Prefix that distinguishes this state from encrypted content of a model. */
const prefix = "mesh:";

/** Marks item ids created here, which no provider knows. */
const mark = "mesh_";

/**
 * Creates an id of an item or a response.
 *
 * @param kind The API's abbreviation of the type, such as `msg`.
 * @param name The unique part.
 */
export function ownId(kind: string, name: string): string {
  return `${kind}_${mark}${name}`;
}

/** Name of the state of a message, which is a list; that of a call is an object, under its id. */
const ofMessage = "reasoning_details";

/** The `encrypted_content` that carries the state of a message, or of a call with this id. */
export function contentFor(state: JsonObject | JsonObject[], call: string = ofMessage): string {
  return prefix + toBase64Json({ [call]: state });
}

/** The reasoning details that an item carries. */
export function detailsIn({ encrypted_content: content }: JsonObject): unknown {
  return isCarried(content) ? fromBase64Json(content.slice(prefix.length))?.[ofMessage] : undefined;
}

/** The state that the items of a conversation carry, by call id. */
export function statesIn(items: readonly JsonObject[]): Readonly<Record<string, JsonObject>> {
  const states: Record<string, JsonObject> = Object.create(null);
  for (const { type, encrypted_content } of items) {
    if (type !== "reasoning" || !isCarried(encrypted_content)) continue;
    for (const [call, state] of Object.entries(fromBase64Json(encrypted_content.slice(prefix.length)) ?? {})) {
      if (isObject(state)) states[call] = state;
    }
  }
  return states;
}

/**
 * The items for a native provider: without reasoning of other models, and without ids that it does not know. Searches that
 * the proxy has run are text for it.
 */
export function withoutOwn(items: readonly JsonObject[]): readonly JsonObject[] {
  if (!items.some(isOwnItem)) return items;
  const states = statesIn(items);
  return items.flatMap((item) => {
    if (!isOwnItem(item)) return [item];
    if (item.type === "reasoning" || item.type === "image_generation_call") return [];
    const { id, ...rest } = item;
    if (item.type !== "web_search_call") return [rest];
    return [{ type: "message", role: "assistant", content: describeItem(item, states[id as string]) }];
  });
}

function isOwnItem({ id, encrypted_content }: JsonObject): boolean {
  return typeof id === "string" && /^[a-z]+_mesh_/.test(id) || isCarried(encrypted_content);
}

function isCarried(content: unknown): content is string {
  return typeof content === "string" && content.startsWith(prefix);
}

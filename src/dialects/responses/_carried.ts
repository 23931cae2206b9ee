/**
 * Vendor-bound state of tool calls, which chat has as `extra_content`. Clients return `reasoning` items unchanged, so that it
 * travels in one, by the call that it belongs to.
 * @module
 */
import type { JsonObject, ToolCall } from "../../contracts/openai.ts";
import { isObject } from "../../util/is_object.ts";
import { fromBase64Json, toBase64Json } from "../../util/json_base64.ts";

/** Sets our texts apart from those that a model minted. */
const prefix = "mesh:";

/** In ids of items that are ours: no provider knows them. */
const mark = "mesh_";

/**
 * The id of an item, or of a response.
 *
 * @param kind What it is, as the API abbreviates it, such as `msg`.
 * @param name What sets it apart.
 */
export function ownId(kind: string, name: string): string {
  return `${kind}_${mark}${name}`;
}

/** The `encrypted_content` that carries a call's state. */
export function contentFor(call: string, state: NonNullable<ToolCall["extra_content"]>): string {
  return prefix + toBase64Json({ [call]: state });
}

/** The states that the items of a conversation carry, by call. */
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

/** The items as a provider of the API takes them: without thoughts of other models, and ids that it does not know. */
export function withoutOwn(items: readonly JsonObject[]): readonly JsonObject[] {
  if (!items.some(isOwn)) return items;
  return items.flatMap((item) => {
    if (!isOwn(item)) return [item];
    if (item.type === "reasoning") return [];
    const { id: _, ...rest } = item;
    return [rest];
  });
}

function isOwn({ id, encrypted_content }: JsonObject): boolean {
  return typeof id === "string" && /^[a-z]+_mesh_/.test(id) || isCarried(encrypted_content);
}

function isCarried(content: unknown): content is string {
  return typeof content === "string" && content.startsWith(prefix);
}

/**
 * The texts of requests and responses. Every string is a text, unless its member is known to be a control value: a
 * member that is new is checked.
 * @module
 */
import type { GuardedText } from "../../contracts/guard.ts";
import { isObject } from "../../util/is_object.ts";

/** Control values of any object: kinds, ids, states, and data in Base64 or behind addresses. */
const controls: ReadonlySet<string> = new Set([
  "type",
  "object",
  "role",
  "id",
  "index",
  "status",
  "tool_call_id",
  "call_id",
  "item_id",
  "file_id",
  "format",
  "detail",
  "media_type",
  "mime_type",
  "signature",
  "thought_signature",
  "encrypted_content",
  "data",
  "b64_json",
  "file_data",
  "url",
  "image_url",
  "embedding",
  "cache_control",
  "required",
  "$ref",
  "$schema",
]);

/** Control values of a request. */
const requestControls: ReadonlySet<string> = new Set([
  "model",
  "models",
  "mesh",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_retention",
  "previous_response_id",
  "conversation",
  "service_tier",
  "reasoning_effort",
  "reasoning",
  "verbosity",
  "tool_choice",
  "function_call",
  "modalities",
  "audio",
  "voice",
  "language",
  "quality",
  "size",
  "style",
  "background",
  "moderation",
  "output_format",
  "input_fidelity",
  "encoding_format",
  "image",
  "images",
  "mask",
  "include",
  "timestamp_granularities",
  "truncation",
  "thinking",
]);

/** Control values of a response. */
const responseControls: ReadonlySet<string> = new Set([
  "model",
  "finish_reason",
  "native_finish_reason",
  "stop_reason",
  "system_fingerprint",
  "service_tier",
  "provider",
  "usage",
  "language",
  "obfuscation", // random characters, which hide the lengths of deltas
]);

/** Objects whose `name` a model or a program goes by. */
const named: ReadonlySet<string> = new Set(["function", "function_call", "json_schema", "custom"]);

/** Which texts a body has. */
export type TextScope = "request" | "response";

/** Lists the texts of a body, in order. Empty ones are left out. */
export function listTexts(body: unknown, scope: TextScope): GuardedText[] {
  const texts: GuardedText[] = [];
  visitTexts(body, { scope, visit: (path, text) => void texts.push({ path, text }) });
  return texts;
}

/**
 * Returns a body with other texts. What does not change is shared with the original.
 *
 * @param texts The texts by path.
 */
export function withTexts<Body>(body: Body, texts: ReadonlyMap<string, string>, scope: TextScope): Body {
  return visitTexts(body, { scope, visit: (path) => texts.get(path) }) as Body;
}

interface Visit {
  readonly scope: TextScope;
  /** Returns the new text; undefined if it stays. */
  readonly visit: (path: string, text: string) => string | undefined | void;
}

/** Visits the texts of a body, and returns the body with the new ones. */
export function visitTexts(body: unknown, { scope, visit }: Visit): unknown {
  const own = scope === "request" ? requestControls : responseControls;
  return visitValue(body, "", "");

  function visitValue(value: unknown, path: string, key: string): unknown {
    if (typeof value === "string") return value === "" ? value : visit(path, value) ?? value;
    if (Array.isArray(value)) return visitList(value, path, key);
    return isObject(value) ? visitMembers(value, path, key) : value;
  }

  function visitList(list: readonly unknown[], path: string, key: string): readonly unknown[] {
    let changed: unknown[] | undefined;
    for (let index = 0; index < list.length; index++) {
      const after = visitValue(list[index], `${path}[${index}]`, key);
      if (after !== list[index]) (changed ??= [...list])[index] = after;
    }
    return changed ?? list;
  }

  function visitMembers(object: Readonly<Record<string, unknown>>, path: string, key: string): unknown {
    let changed: Record<string, unknown> | undefined;
    const names = Object.keys(object);
    const members = Object.values(object);
    for (let index = 0; index < names.length; index++) {
      const name = names[index]!;
      const member = members[index];
      if (typeof member !== "string" && typeof member !== "object") continue;
      if (isControl({ name, member, parent: key, isTop: path === "" })) continue;
      const after = visitValue(member, path === "" ? name : `${path}.${name}`, name);
      if (after !== member) (changed ??= { ...object })[name] = after;
    }
    return changed ?? object;
  }

  function isControl({ name, member, parent, isTop }: {
    readonly name: string;
    readonly member: unknown;
    readonly parent: string;
    readonly isTop: boolean;
  }): boolean {
    if (parent === "properties") return false; // the names of parameters are the caller's
    if (controls.has(name)) {
      return name === "cache_control" || !hasObjects(member) && !(scope === "request" && isPhrase(member));
    }
    if (name === "name") return named.has(parent);
    if (name === "logprobs") return true; // go with the text
    if (scope === "response") return own.has(name) || name === "audio" && typeof member === "string"; // in Base64
    return isTop && own.has(name);
  }
}

/** Whether a value says more than a control value: kinds, ids, addresses and Base64 have no spaces. */
function isPhrase(value: unknown): boolean {
  return typeof value === "string" && (value.includes(" ") || /^data:[^,]{0,256}(?<!;base64),/i.test(value));
}

/** Whether a value is an object, or a list of some. */
function hasObjects(value: unknown): boolean {
  return Array.isArray(value) ? value.some(hasObjects) : isObject(value);
}

/** Returns texts by path. */
export function toTextMap(texts: readonly GuardedText[]): ReadonlyMap<string, string> {
  return new Map(texts.map(({ path, text }) => [path, text]));
}

/**
 * Hashes of conversations: of the instructions and the first message, which each turn of a conversation repeats.
 * @module
 */
import type { ChatMessage } from "../contracts/openai.ts";
import { hash53 } from "../util/hash.ts";
import { isObject } from "../util/is_object.ts";
import { sha256 } from "../util/sha256.ts";
import type { RoutedRequest } from "./request.ts";

/** Number of hexadecimal digits of a hash. */
const hashDigits = 32;

/** Of a longer string, such as an image, only the length, the beginning and the end count, of this length together. */
const maxChars = 131_072;

/** Roles of messages with instructions, in the order of conversations. */
const instructing: ReadonlySet<string> = new Set(["system", "developer"]);

/**
 * Returns the hash of a request's conversation; undefined if it is not a chat. The hashes of one client do not reveal
 * those of another one with the same conversation.
 *
 * @param scope Separates hashes for different uses.
 */
export function hashConversation({ operation, body, client }: RoutedRequest, scope: string): string | undefined {
  const { messages } = body as { readonly messages?: readonly ChatMessage[] };
  if (operation.name !== "chat" || !Array.isArray(messages) || messages.length === 0) return undefined;
  const first = messages.findIndex(({ role }) => !instructing.has(role));
  const beginning = first < 0 ? messages : messages.slice(0, first + 1);
  const text = JSON.stringify(beginning.map(({ role, content }) => [toRole(role), toParts(content)]), shorten);
  return hashFor(client?.id, [scope, String(text.length), String(hash53(text))]);
}

/**
 * Returns the hash of names under the identity of a client.
 *
 * @param client Undefined for callers without a name.
 */
export function hashFor(client: string | undefined, names: readonly string[]): string {
  return sha256(JSON.stringify([client ?? null, ...names])).slice(0, hashDigits);
}

function toRole(role: string): string {
  return instructing.has(role) ? "system" : role;
}

/** A string is the same as its text part. */
function toParts(content: ChatMessage["content"]): unknown {
  if (typeof content === "string") return [content];
  return Array.isArray(content) ? content.map((part) => isObject(part) && part.type === "text" ? part.text : part) : [];
}

/** Cache marks move from turn to turn. */
function shorten(name: string, value: unknown): unknown {
  if (name === "cache_control") return undefined;
  if (typeof value !== "string" || value.length <= maxChars) return value;
  return [value.length, value.slice(0, maxChars / 2), value.slice(-maxChars / 2)];
}

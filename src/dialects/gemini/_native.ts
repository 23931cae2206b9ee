/**
 * The request for providers of `generateContent` themselves: what the client wrote, without what other models bound to
 * their calls.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { isObject } from "../../util/is_object.ts";
import type { Translation } from "../dialect.ts";
import { isForeign } from "./_carried.ts";

/**
 * The native form of a request.
 *
 * @param body Checked.
 * @param unsaid What only such a provider has words for.
 */
export function nativeOf(body: JsonObject, unsaid: string | undefined): Translation["native"] {
  const contents = body.contents as readonly JsonObject[];
  const own = contents.some(hasForeign) ? { contents: contents.map(withoutForeign) } : {};
  return {
    edits: () => ({ model: undefined, ...own }), // the model is in the address
    headers: {},
    ...(unsaid === undefined ? {} : { only: unsaid }),
  };
}

function hasForeign({ parts }: JsonObject): boolean {
  return Array.isArray(parts) && parts.some(isForeignPart);
}

function isForeignPart(part: unknown): boolean {
  return isObject(part) && isForeign(part.thoughtSignature ?? part.thought_signature);
}

function withoutForeign(content: JsonObject): JsonObject {
  if (!hasForeign(content)) return content;
  const parts = (content.parts as JsonObject[]).map((part) => {
    if (!isForeignPart(part)) return part;
    const { thoughtSignature: _, thought_signature: __, ...own } = part;
    return own;
  });
  return { ...content, parts };
}

/**
 * The request for providers of Messages themselves: what the client wrote, without what other models left in its history.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { isObject } from "../../util/is_object.ts";
import type { DialectRequest, Translation } from "../dialect.ts";
import { carriedBy } from "./_carried.ts";

/** Chooses features of the API that are not for everyone yet. */
const betaHeader = "anthropic-beta";

/**
 * The native form of a request.
 *
 * @param body Checked.
 * @param headers The client's.
 * @returns Undefined where the API would refuse it: thinking by a budget wants its own thoughts before a call.
 */
export function nativeOf(body: JsonObject, headers: DialectRequest["headers"]): Translation["native"] {
  const turns = body.messages as readonly JsonObject[];
  const hasForeign = turns.some(({ content }) => Array.isArray(content) && content.some(isForeign));
  if (hasForeign && isObject(body.thinking) && body.thinking.type === "enabled") return undefined;
  const beta = headers.get(betaHeader);
  const own = hasForeign ? { messages: turns.flatMap(withoutForeign) } : {};
  return {
    edits: (model) => ({ model, ...own }),
    headers: beta === null ? {} : { [betaHeader]: beta },
  };
}

function withoutForeign(turn: JsonObject): JsonObject[] {
  if (!Array.isArray(turn.content)) return [turn];
  const content = turn.content.filter((block) => !isForeign(block));
  return content.length === 0 && turn.content.length > 0 ? [] : [{ ...turn, content }]; // a turn may not be empty
}

/** Thoughts of models of other APIs: they have no signature, or are ours. */
function isForeign(block: JsonObject): boolean {
  return block.type === "thinking" && !block.signature || carriedBy(block) !== undefined;
}

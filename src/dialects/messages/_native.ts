/**
 * The native request for Messages providers: the client's request, without blocks from other models.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { isObject } from "../../util/is_object.ts";
import type { DialectRequest, Translation } from "../dialect.ts";
import { findLoweredLimit } from "../native_limit.ts";
import { carriedBy } from "./_carried.ts";

/** Header that enables beta features of the API. */
const betaHeader = "anthropic-beta";

/**
 * The native request.
 *
 * @param body The validated body.
 * @param headers Headers of the client.
 * @returns Undefined if the API would reject it: thinking with a budget requires the model's own thinking blocks before
 * a tool call.
 */
export function nativeOf(body: JsonObject, headers: DialectRequest["headers"]): Translation["native"] {
  const turns = body.messages as readonly JsonObject[];
  const hasForeign = turns.some(({ content }) => Array.isArray(content) && content.some(isForeign));
  if (hasForeign && isObject(body.thinking) && body.thinking.type === "enabled") return undefined;
  const beta = headers.get(betaHeader);
  const own = hasForeign ? { messages: turns.flatMap(withoutForeign) } : {};
  return {
    edits: (model, inChat) => {
      const limit = findLoweredLimit(body.max_tokens, inChat);
      return { model, ...own, ...(limit === undefined ? {} : { max_tokens: limit }) };
    },
    headers: beta === null ? {} : { [betaHeader]: beta },
  };
}

function withoutForeign(turn: JsonObject): JsonObject[] {
  if (!Array.isArray(turn.content)) return [turn];
  const content = turn.content.filter((block) => !isForeign(block));
  return content.length === 0 && turn.content.length > 0 ? [] : [{ ...turn, content }]; // a turn must not be empty
}

/** Thinking blocks of models of other APIs: they have no signature, or carry state of ModelMesh. */
function isForeign(block: JsonObject): boolean {
  return block.type === "thinking" && !block.signature || carriedBy(block) !== undefined;
}

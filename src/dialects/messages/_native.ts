/**
 * The native request for Messages providers: the client's request, without blocks from other models.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import type { UnsupportedRequestError } from "../../errors.ts";
import { isObject } from "../../util/is_object.ts";
import type { DialectRequest, Translation } from "../dialect.ts";
import { findLoweredLimit } from "../native_limit.ts";
import { carriedBy } from "./_carried.ts";

/** Header that enables beta features of the API. */
const betaHeader = "anthropic-beta";

/** What the native request depends on, besides the body. */
interface NativeFacts {
  /** Headers of the client. */
  readonly headers: DialectRequest["headers"];
  /** The error if no model with native support is eligible, if only such models are. */
  readonly nativeOnly: UnsupportedRequestError | undefined;
}

/**
 * The native request.
 *
 * @param body The validated body.
 * @param facts Headers of the client, and whether only native models are eligible.
 * @returns Undefined if the API would reject it and chat can express it: thinking with a budget requires the model's
 * own thinking blocks before a tool call.
 */
export function nativeOf(body: JsonObject, { headers, nativeOnly }: NativeFacts): Translation["native"] {
  const turns = body.messages as readonly JsonObject[];
  const hasForeign = turns.some(({ content }) => Array.isArray(content) && content.some(isForeign));
  const isRejected = hasForeign && isObject(body.thinking) && body.thinking.type === "enabled";
  if (isRejected && nativeOnly === undefined) return undefined;
  const beta = headers.get(betaHeader);
  const own = {
    ...(hasForeign ? { messages: turns.flatMap(withoutForeign) } : {}),
    ...(isRejected ? withoutThinking(body) : {}),
  };
  return {
    edits: (model, inChat) => {
      const limit = findLoweredLimit(body.max_tokens, inChat);
      return { model, ...own, ...(limit === undefined ? {} : { max_tokens: limit }) };
    },
    dropped: isRejected ? ["thinking"] : [],
    headers: beta === null ? {} : { [betaHeader]: beta },
    hasFee: Array.isArray(body.tools) && body.tools.some(hasFee),
    only: nativeOnly,
  };
}

/** Tools whose types begin so are run by the client, or cost only the tokens they produce. */
const withoutFee = /^(custom$|bash_|text_editor_|memory_|computer_|web_fetch_|tool_search_|mcp_)/;

function hasFee(tool: unknown): boolean {
  const type = isObject(tool) ? tool.type : undefined;
  return typeof type === "string" && !withoutFee.test(type);
}

/** Edits of thinking in the context are rejected without thinking. */
function withoutThinking({ context_management: management }: JsonObject): JsonObject {
  if (!isObject(management) || !Array.isArray(management.edits)) return { thinking: undefined };
  const edits = management.edits.filter((edit) => !/thinking/.test(String(Object(edit).type)));
  return { thinking: undefined, context_management: { ...management, edits } };
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

/**
 * The dialect of `POST /v1/messages`.
 *
 * Source: https://platform.claude.com/docs/en/api/messages
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { findTier, sumCalls, toFees, type VendorFees } from "../../pipeline/estimate.ts";
import { isObject } from "../../util/is_object.ts";
import { toText } from "../../util/to_text.ts";
import type { Dialect, DialectRequest, Translation } from "../dialect.ts";
import { findLoweredLimit } from "../native_limit.ts";
import type { NativeOnly } from "../native_only.ts";
import { formatMessage } from "./_response.ts";
import { carriedBy } from "./_carried.ts";
import { isForeignCitation } from "./_citations.ts";
import { MessageEvents } from "./_events.ts";
import { describeBlock } from "./_foreign_blocks.ts";
import { convertMessagesRequest } from "./_request.ts";
import { isOwnSearchBlock } from "./_search_blocks.ts";
import { messagesConventions } from "./conventions.ts";

/**
 * The Messages dialect: `system` is separate from the conversation, content consists of blocks, tool results are part
 * of the user's turn.
 */
export const messages: Dialect = {
  ...messagesConventions,
  name: "messages",
  translate(value, { headers }, options) {
    const { chat, session, dropped, nativeOnly, search } = convertMessagesRequest(value, options?.searches);
    const stops = chat.stop as string[] | undefined;
    return {
      chat,
      session,
      dropped,
      native: search === undefined ? createNativeMessages(value as JsonObject, { headers, nativeOnly }) : undefined,
      search,
      toResponse: (completion, before) => formatMessage(completion, { stops, before }),
      events: () => new MessageEvents(stops),
    };
  },
  counting: {
    toCounted: (value) => isObject(value) ? { max_tokens: 1, ...value } : value,
    formatCount: (tokens) => ({ input_tokens: tokens }),
  },
};

/** Header that enables beta features of the API. */
const betaHeader = "anthropic-beta";

/**
 * The native request.
 *
 * @param body The validated body.
 * @param facts Headers of the client, and whether only native models are eligible.
 * @returns Undefined if the API would reject it and chat can express it: thinking with a budget requires the model's
 * own thinking blocks before a tool call.
 */
function createNativeMessages(
  body: JsonObject,
  { headers, nativeOnly: { error, isPreferred } }: {
    /** Headers of the client. */
    readonly headers: DialectRequest["headers"];
    /** What only models with native support can take. */
    readonly nativeOnly: NativeOnly;
  },
): Translation["native"] {
  const turns = body.messages as readonly JsonObject[];
  const ownTurns = turns.map(omitForeignBlocks);
  const hasForeign = ownTurns.some(([turn], index) => turn !== turns[index]);
  const isRejected = hasForeign && isObject(body.thinking) && body.thinking.type === "enabled";
  if (isRejected && error === undefined) return undefined;
  const beta = headers.get(betaHeader);
  const own = {
    ...(hasForeign ? { messages: ownTurns.flat() } : {}),
    ...(isRejected ? withoutThinking(body) : {}),
  };
  return {
    edits: (model, inChat) => {
      const limit = findLoweredLimit(body.max_tokens, inChat);
      return { model, ...own, ...(limit === undefined ? {} : { max_tokens: limit }) };
    },
    dropped: isRejected ? ["thinking"] : [],
    headers: beta === null ? {} : { [betaHeader]: beta },
    fees: { ...countMessagesTools(body.tools), ...findTier(body) },
    only: error,
    isPreferred,
  };
}

/** Tools whose types begin so are run by the client, or cost only the tokens they produce. */
const withoutFee = /^(custom$|bash_|text_editor_|memory_|computer_|web_fetch_|tool_search_|mcp_)/;

function countMessagesTools(tools: unknown): VendorFees | undefined {
  const types = (Array.isArray(tools) ? tools : []).filter((tool) =>
    isObject(tool) && typeof tool.type === "string" && !withoutFee.test(tool.type)
  );
  const isSearch = ({ type }: { readonly type: string }) => type.startsWith("web_search_");
  const others = types.filter((tool) => !isSearch(tool));
  return toFees({ searches: sumCalls(types.filter(isSearch)), toolCalls: sumCalls(others) });
}

/** Edits of thinking in the context are rejected without thinking. */
function withoutThinking({ context_management: management }: JsonObject): JsonObject {
  if (!isObject(management) || !Array.isArray(management.edits)) return { thinking: undefined };
  const edits = management.edits.filter((edit) => !/thinking/.test(toText(Object(edit).type)));
  return { thinking: undefined, context_management: { ...management, edits } };
}

function omitForeignBlocks(turn: JsonObject): JsonObject[] {
  if (!Array.isArray(turn.content)) return [turn];
  const blocks: readonly JsonObject[] = turn.content;
  const content = blocks.filter((block) => !isForeignBlock(block, turn)).map(toOwnBlock);
  if (content.length === blocks.length && content.every((block, index) => block === blocks[index])) return [turn];
  return content.length === 0 && turn.content.length > 0 ? [] : [{ ...turn, content }]; // a turn must not be empty
}

/** Searches that the proxy has run are text for the API, which would not find them. */
function toOwnBlock(block: JsonObject): JsonObject {
  return isOwnSearchBlock(block) ? { type: "text", text: describeBlock(block) } : withoutForeignCitations(block);
}

/**
 * Blocks of models of other APIs, which this API would reject: images, thinking without a signature, what carries state
 * of ModelMesh, and empty text, which only carries citations.
 */
function isForeignBlock(block: JsonObject, { role }: JsonObject): boolean {
  return block.type === "thinking" && !block.signature || carriedBy(block) !== undefined ||
    role === "assistant" && (block.type === "image" || block.text === "" && hasForeignCitation(block));
}

function hasForeignCitation({ citations }: JsonObject): boolean {
  return Array.isArray(citations) && citations.some(isForeignCitation);
}

function withoutForeignCitations(block: JsonObject): JsonObject {
  if (!hasForeignCitation(block)) return block;
  const { citations, ...rest } = block;
  const own = (citations as unknown[]).filter((citation) => !isForeignCitation(citation));
  return own.length === 0 ? rest : { ...rest, citations: own };
}

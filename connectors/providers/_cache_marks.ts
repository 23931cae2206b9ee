/**
 * Cache marks of the Messages API, for prompts in which the client has set none: at the end of the tools, of the system
 * prompt, and of the last two turns of the user. The API caches prompts up to a mark, in the order of tools, system
 * prompt and messages; it accepts four marks, and none of one hour after one of five minutes. Imported with the first
 * request to be marked.
 *
 * Sources, read 2026-11-27: https://platform.claude.com/docs/en/build-with-claude/prompt-caching;
 * https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html (Nova; models with marks of one hour).
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { PromptCacheMarks } from "../../src/contracts/provider.ts";
import { isObject } from "../../src/util/is_object.ts";
import { editMembers } from "../../src/util/json_members.ts";
import { editJsonAt, type JsonPath } from "../../src/util/json_paths.ts";
import { isClaude } from "./anthropic.ts";

/** Maximum number of marks in a request. */
const maxMarks = 4;

/** Characters per token, low: a mark in a prompt below the minimum has no effect, but a missing one costs. */
const charsPerToken = 3;

/** An image or a document counts as so many characters at most. */
const maxDataChars = 4_800;

/** The minimum length of a cached prompt, tokens. The first pattern that matches a model id applies. */
const minTokens: readonly (readonly [RegExp, number])[] = [
  [/haiku-4-5|opus-4-[56]/, 4_096],
  [/opus-4-7|3-5-haiku|3-haiku/, 2_048],
  [/(opus|fable|mythos)-[5-9]/, 512],
  [/nova/, 1_000],
];

const usualMinTokens = 1_024;

/** Blocks that can be marked. */
const markable: ReadonlySet<unknown> = new Set(["text", "image", "document", "search_result", "tool_result"]);

type Ttl = PromptCacheMarks["ttl"];

type Section = "tools" | "system" | "messages";

/** A part of a prompt. */
interface Block {
  readonly section: Section;
  readonly path: JsonPath;
  readonly value: unknown;
  /** Position of its message. */
  readonly turn?: number;
  /** Whether its message is the user's. */
  readonly isByUser?: boolean;
}

/** A block with its position in the prompt, and the tokens up to its end. */
interface MeasuredBlock extends Block {
  readonly position: number;
  readonly tokens: number;
}

/** How to mark a prompt. */
interface MarkOptions extends PromptCacheMarks {
  /** Id of the model. */
  readonly model: string;
}

/** A mark of the client. */
interface ClientMark {
  readonly section: Section;
  readonly position: number;
  readonly ttl: Ttl;
}

/**
 * Marks a request of the Messages API. Marks of the client stay, and sections with such marks get no others.
 *
 * @param text The request, JSON.
 */
export function markMessages(
  text: string,
  { model, ttl }: MarkOptions,
): string {
  const request = JSON.parse(text) as JsonObject;
  return markBlocks(text, listBlocks(request), { request, model, ttl });
}

/**
 * Marks a chat request in OpenAI's form, for a gateway to Claude. Tools have no marks there, and other models none at
 * all.
 *
 * @param text The request, JSON.
 */
export function markChat(text: string, { model, ttl }: MarkOptions): string {
  if (!isClaude(model)) return text;
  const request = JSON.parse(text) as JsonObject;
  return markBlocks(text, listChatBlocks(request), { request, model: model.replaceAll(".", "-"), ttl });
}

function markBlocks(
  text: string,
  all: readonly Block[],
  { request, model, ttl }: MarkOptions & { readonly request: JsonObject },
): string {
  const blocks = measureBlocks(all);
  const marks = listMarks(request, blocks);
  const [, min = usualMinTokens] = minTokens.find(([pattern]) => pattern.test(model)) ?? [];
  const ends = findEnds(blocks).filter(({ section, tokens }) =>
    tokens >= min && !marks.some((mark) => mark.section === section)
  );
  return ends.slice(0, Math.max(0, maxMarks - marks.length)).reduce((marked, block) => {
    const allowed = findTtl(block, ttl, marks);
    return allowed === undefined ? marked : editJsonAt(marked, block.path, (value) => addMark(value, allowed));
  }, text);
}

/**
 * Marks a request of the Messages API before it is converted to Converse.
 *
 * @param request The request. Earlier models, and those of others, have no marks of one hour.
 */
export function markConverse(request: JsonObject, { model, ttl }: MarkOptions): JsonObject {
  const lasts = isClaude(model) && !/claude-(3|(opus|sonnet)-4(-[01])?(-\d{8}|-v|@|$))/.test(model);
  return JSON.parse(markMessages(JSON.stringify(request), { model, ttl: lasts ? ttl : "5m" }));
}

/** The blocks of a prompt, in its order. */
function listBlocks({ tools, system, messages }: JsonObject): readonly Block[] {
  const turns = Array.isArray(messages) ? messages : [];
  return [
    ...listItems(tools, { section: "tools", path: ["tools"] }),
    ...listItems(system, { section: "system", path: ["system"] }),
    ...turns.flatMap((message, turn) =>
      listItems(Object(message).content, {
        section: "messages",
        path: ["messages", turn, "content"],
        turn,
        isByUser: Object(message).role === "user",
      })
    ),
  ];
}

/** Tools are measured, but not marked; results of tools are part of the user's turns, as in the Messages API. */
function listChatBlocks({ tools, messages }: JsonObject): readonly Block[] {
  const turns = Array.isArray(messages) ? messages : [];
  const unmarked = { section: "tools", path: [], value: { tools, defer_loading: true } } as const;
  return [
    unmarked,
    ...turns.flatMap((message, turn) => {
      const { role, content } = Object(message);
      const section = role === "system" || role === "developer" ? "system" : "messages";
      const isByUser = role === "user" || role === "tool";
      return listItems(content, { section, path: ["messages", turn, "content"], turn, isByUser });
    }),
  ];
}

/** A string is one block. */
function listItems(value: unknown, facts: Omit<Block, "value">): readonly Block[] {
  if (typeof value === "string") return [{ ...facts, value }];
  if (!Array.isArray(value)) return [];
  return value.map((item, index) => ({ ...facts, path: [...facts.path, index], value: item }));
}

function measureBlocks(blocks: readonly Block[]): readonly MeasuredBlock[] {
  let chars = 0;
  return blocks.map((block, position) => {
    chars += countChars(block.value);
    return { ...block, position, tokens: Math.ceil(chars / charsPerToken) };
  });
}

function countChars(value: unknown): number {
  const isData = (key: string, inner: unknown): inner is string => key === "data" && typeof inner === "string";
  return JSON.stringify(value, (key, inner) => isData(key, inner) ? inner.slice(0, maxDataChars) : inner).length;
}

/** The marks of the client. One on the whole request applies to its last block. */
function listMarks(request: JsonObject, blocks: readonly MeasuredBlock[]): readonly ClientMark[] {
  const inBlocks = blocks.flatMap(({ section, position, value }) =>
    findMarksIn(value).map((mark) => ({ section, position, ttl: readTtl(mark) }))
  );
  const { cache_control: overall } = request;
  return isObject(overall)
    ? [...inBlocks, { section: "messages", position: blocks.length, ttl: readTtl(overall) }]
    : inBlocks;
}

/** Results of tools have blocks of their own. */
function findMarksIn(value: unknown): readonly JsonObject[] {
  if (!isObject(value)) return [];
  const inner = Array.isArray(value.content) ? value.content : [];
  return [value, ...inner].map((block) => Object(block).cache_control).filter(isObject);
}

function readTtl({ ttl }: JsonObject): Ttl {
  return ttl === "1h" ? "1h" : "5m";
}

/** The blocks to mark, most useful first: later turns of a conversation read the most from the last one. */
function findEnds(blocks: readonly MeasuredBlock[]): readonly MeasuredBlock[] {
  const findLast = (section: Section) => blocks.findLast((block) => block.section === section && canBeMarked(block));
  const byUser = blocks.filter((block) => block.isByUser && canBeMarked(block));
  const last = byUser.at(-1);
  const before = byUser.findLast(({ turn }) => turn !== last?.turn);
  return [last, findLast("system"), findLast("tools"), before].filter((block) => block !== undefined);
}

function canBeMarked({ section, value }: Block): boolean {
  if (typeof value === "string") return value.trim() !== "";
  if (!isObject(value)) return false;
  if (section === "tools") return value.defer_loading !== true; // not part of the prompt
  const isBlank = value.type === "text" && String(value.text).trim() === "";
  return markable.has(value.type) && !isBlank;
}

/** Lifetimes must not increase in the order of the prompt; undefined if the client's leave none. */
function findTtl({ position }: MeasuredBlock, ttl: Ttl, marks: readonly ClientMark[]): Ttl | undefined {
  const isShort = marks.some((mark) => mark.position < position && mark.ttl === "5m");
  const isLong = marks.some((mark) => mark.position > position && mark.ttl === "1h");
  if (isShort && isLong) return undefined;
  return isShort ? "5m" : isLong ? "1h" : ttl;
}

function addMark(text: string, ttl: Ttl): string {
  const mark = { type: "ephemeral", ...(ttl === "1h" && { ttl }) };
  const block = text.startsWith('"') ? `{"type":"text","text":${text}}` : text;
  const marked = editMembers(block, { cache_control: mark });
  return block === text ? marked : `[${marked}]`;
}

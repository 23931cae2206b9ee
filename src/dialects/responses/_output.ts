/**
 * Incremental output of a response: its items, and their events.
 *
 * Source: https://platform.openai.com/docs/api-reference/responses-streaming
 * @module
 */
import type {
  ChatCompletionChunk,
  CompletionUsage,
  Delta,
  JsonObject,
  OutputImage,
  ToolCallDelta,
} from "../../contracts/openai.ts";
import { readCitations } from "../../util/annotations.ts";
import { appendAll } from "../../util/append_all.ts";
import { parseDataUrl } from "../../util/data_url.ts";
import { isObject } from "../../util/is_object.ts";
import { addDetails } from "../../util/reasoning_details.ts";
import {
  formatResponse,
  formatResponseUsage,
  formatStatus,
  getUniquePart,
  type ResponseContext,
  type ResponsesHead,
} from "./_response.ts";
import { addCallText, endCallItem, type OpenCall, startCallItem } from "./_call_items.ts";
import type { WebSearch } from "../web_search_results.ts";
import { contentFor, ownId } from "./_carried.ts";
import { createSearchItem, searchStages } from "./_search_item.ts";
import { formatScore, kinds, type TextKind } from "./_text_kinds.ts";

/** Emits an event, complete except for its sequence number. Objects that it refers to may change later. */
type Emit = (type: string, event: JsonObject) => void;

/** An item, and its output index. */
interface OpenItem {
  readonly index: number;
  readonly item: JsonObject & { id: string };
}

/** An incomplete text part of an item. */
interface OpenText {
  readonly item: OpenItem;
  readonly index: number;
  readonly part: JsonObject;
  readonly kind: TextKind;
  /** Where it begins in the text of the response. */
  readonly start: number;
}

/**
 * Builds the output of one response. Text is closed when another item starts; calls stay open until the end, where items
 * are closed in their order.
 */
export class ResponseOutput {
  readonly #context: ResponseContext;
  readonly #emit: Emit;
  readonly #items: JsonObject[] = [];
  #response: JsonObject | undefined;
  #name = "";
  #text: OpenText | undefined;
  /** The last part of the text, to which citations refer, and the length of the text. */
  #cited: OpenText | undefined;
  #length = 0;
  /** Calls, by their index in chat. */
  readonly #calls = new Map<number, OpenCall>();
  /** Reasoning details since the last item that carries some. */
  #details: JsonObject[] = [];
  #usage: CompletionUsage | undefined;
  #reason: string | null = null;
  #hasRefused = false;

  constructor(context: ResponseContext, emit: Emit) {
    this.#context = context;
    this.#emit = emit;
  }

  /** Whether the response has started. */
  get hasStarted(): boolean {
    return this.#response !== undefined;
  }

  /**
   * Starts the response.
   *
   * @param head The start of the response.
   * @param id Id of the response; derived from the chat id by default.
   */
  start(head: ResponsesHead, id?: string): void {
    this.#name = this.#context.name ?? getUniquePart(head);
    this.#response = { ...formatResponse(this.#context.body, head), ...(id === undefined ? {} : { id }) };
    this.#emit("response.created", { response: this.#response });
    this.#emit("response.in_progress", { response: this.#response });
  }

  /** Adds a chunk; only the first choice is used, since Responses supports one. */
  add({ choices, usage }: Pick<ChatCompletionChunk, "choices" | "usage">): void {
    this.#usage = usage ?? this.#usage;
    for (const { index, delta, finish_reason, logprobs } of choices) {
      if (index > 0) continue;
      this.#continue(delta ?? {}, Array.isArray(logprobs?.content) ? logprobs.content : []);
      if (finish_reason) this.#reason = finish_reason;
    }
  }

  /** Adds a search that the proxy has run. */
  search(search: WebSearch): void {
    this.#closeText("completed");
    this.#carryDetails();
    const id = this.#newId("ws");
    if (search.sources.length > 0) this.#carry(contentFor({ results: search.sources }, id));
    const open = this.#addItem(createSearchItem(id, search, this.#context.body));
    for (const stage of searchStages) this.#emit(`response.web_search_call.${stage}`, formatLocation(open));
    this.#closeItem(open, search.fault === undefined ? "completed" : "failed");
  }

  /** Completes the response. */
  end(): JsonObject {
    const end = formatStatus({ reason: this.#reason, hasRefused: this.#hasRefused });
    const status = end.status as string;
    const index = this.#text?.item.index ?? this.#items.length;
    const calls = [...this.#calls.values()];
    for (const call of calls.filter((call) => call.index < index)) this.#closeCall(call, status);
    this.#closeText(status);
    this.#carryDetails();
    for (const call of calls.filter((call) => call.index > index)) this.#closeCall(call, status);
    const response = { ...this.#response, ...end, output: this.#items, ...formatResponseUsage(this.#usage) };
    this.#emit(`response.${status}`, { response });
    return response;
  }

  /** Fails the response; its output so far is kept. */
  fail(error: JsonObject): void {
    const open = [...this.#calls.values(), ...this.#text === undefined ? [] : [this.#text.item]];
    for (const { item } of open) item.status = "incomplete";
    this.#emit("response.failed", {
      response: {
        ...this.#response,
        status: "failed",
        error,
        output: this.#items,
        ...formatResponseUsage(this.#usage),
      },
    });
  }

  #continue(delta: Delta, logprobs: readonly JsonObject[]): void {
    const { reasoning_content: reasoning = delta.reasoning, content, refusal, tool_calls } = delta;
    addDetails(this.#details, delta.reasoning_details);
    if (typeof reasoning === "string") this.#write(kinds.thoughts, reasoning);
    if (typeof content === "string") this.#write(kinds.text, content, logprobs);
    if (typeof refusal === "string" && refusal !== "") {
      this.#hasRefused = true;
      this.#write(kinds.refusal, refusal);
    }
    this.#annotate(delta.annotations);
    if (Array.isArray(delta.images)) { for (const image of delta.images) this.#image(image); }
    tool_calls?.forEach((call, position) => this.#call(call, position));
  }

  #write(kind: TextKind, text: string, logprobs: readonly JsonObject[] = []): void {
    if (text === "") return;
    if (this.#text?.kind !== kind) this.#openText(kind);
    const { part, item, index } = this.#text!;
    part[kind.member] = (part[kind.member] as string) + text;
    if (kind === kinds.text) this.#length += text.length;
    const scores = logprobs.map(formatScore);
    if (kind === kinds.text) appendAll(part.logprobs as JsonObject[], scores);
    this.#emit(`${kind.event}.delta`, {
      ...formatLocation(item),
      [kind.indexName]: index,
      delta: text,
      ...(kind === kinds.text ? { logprobs: scores } : {}),
    });
  }

  /** Positions are those of the part. */
  #annotate(annotations: unknown): void {
    const citations = readCitations(annotations);
    if (citations.length > 0 && this.#cited === undefined) this.#openText(kinds.text);
    for (const { start, end, url, title } of citations) {
      const { item, index, part, start: from } = this.#cited!;
      const all = part.annotations as JsonObject[];
      const [start_index, end_index] = [start, end].map((position) => Math.max(0, position - from));
      const annotation = { type: "url_citation", start_index, end_index, title, url };
      const location = { ...formatLocation(item), content_index: index, annotation_index: all.length };
      all.push(annotation);
      this.#emit("response.output_text.annotation.added", { ...location, annotation });
    }
  }

  #image({ image_url, extra_content: state }: OutputImage): void {
    const url = image_url?.url;
    if (typeof url !== "string") return;
    const { type = "", data: result } = parseDataUrl(url) ?? {};
    if (/^https?:/i.test(url)) return this.#write(kinds.text, `![image](${url})`); // the item has no URL
    if (result === undefined) return;
    this.#closeText("completed");
    this.#carryDetails();
    const id = this.#newId("ig");
    if (isObject(state)) this.#carry(contentFor(state, id));
    const image = this.#addItem({ id, type: "image_generation_call", status: "in_progress", result: null });
    Object.assign(image.item, { result, output_format: type.replace("image/", "") });
    this.#emit("response.image_generation_call.completed", formatLocation(image));
    this.#closeItem(image, "completed");
  }

  #openText(kind: TextKind): void {
    let item = this.#text?.item;
    if (this.#text?.kind.itemType === kind.itemType) this.#closePart();
    else {
      this.#closeText("completed");
      if (kind.itemType === "message") this.#carryDetails();
      const id = this.#newId(kind.itemType === "message" ? "msg" : "rs");
      item = this.#addItem(
        kind.itemType === "message"
          ? { id, type: "message", status: "in_progress", role: "assistant", content: [] }
          : { id, type: "reasoning", status: "in_progress", summary: [], encrypted_content: null },
      );
    }
    const parts = listItemParts(item!, kind);
    const part: JsonObject = { type: kind.type, [kind.member]: "", ...kind.more() };
    const index = parts.length;
    parts.push(part);
    this.#text = { item: item!, index, part, kind, start: this.#length };
    if (kind === kinds.text) this.#cited = this.#text;
    this.#emit(`${kind.partEvent}.added`, { ...formatLocation(item!), [kind.indexName]: index, part });
  }

  #closePart(): void {
    const { item, index, part, kind } = this.#text!;
    const location = { ...formatLocation(item), [kind.indexName]: index };
    const { logprobs } = part;
    const done = { [kind.member]: part[kind.member], ...(logprobs === undefined ? {} : { logprobs }) };
    this.#emit(`${kind.event}.done`, { ...location, ...done });
    this.#emit(`${kind.partEvent}.done`, { ...location, part });
  }

  #closeText(status: string): void {
    if (this.#text === undefined) return;
    this.#closePart();
    this.#closeItem(this.#text.item, status);
    this.#text = undefined;
  }

  #call({ index, id, function: fn, extra_content: state }: ToolCallDelta, position: number): void {
    const number = index ?? position;
    const open = this.#calls.get(number) ?? this.#openCall(number, { id, name: fn?.name, state });
    const text = fn?.arguments ?? "";
    const event = text === "" ? undefined : addCallText(open, text);
    if (event !== undefined) this.#emit(...event);
  }

  #openCall(number: number, { id, name, state }: { id?: string; name?: string; state?: JsonObject }): OpenCall {
    this.#closeText("completed");
    this.#carryDetails();
    const callId = id || `call_${this.#name}_${number}`;
    if (isObject(state)) this.#carry(contentFor(state, callId));
    const tool = this.#context.table.find(name ?? "");
    const item = startCallItem(tool, { id: this.#newId(tool.kind.abbreviation), callId });
    const open = { tool, ...this.#addItem(item), text: "" };
    this.#calls.set(number, open);
    return open;
  }

  #carryDetails(): void {
    if (this.#details.length > 0) this.#carry(contentFor(this.#details.splice(0)));
  }

  /** Adds an item that carries state. */
  #carry(encrypted_content: string): void {
    const carrier = { id: this.#newId("rs"), type: "reasoning", status: "in_progress", summary: [] };
    this.#closeItem(this.#addItem({ ...carrier, encrypted_content }), "completed");
  }

  #closeCall(open: OpenCall, status: string): void {
    for (const event of endCallItem(open)) this.#emit(...event);
    this.#closeItem(open, status);
  }

  #addItem(item: OpenItem["item"]): OpenItem {
    const index = this.#items.length;
    this.#items.push(item);
    this.#emit("response.output_item.added", { output_index: index, item });
    return { index, item };
  }

  #closeItem({ index, item }: OpenItem, status: string): void {
    item.status = status;
    this.#emit("response.output_item.done", { output_index: index, item });
  }

  #newId(kind: string): string {
    return ownId(kind, `${this.#name}_${this.#items.length}`);
  }
}

function formatLocation({ index, item }: OpenItem): JsonObject {
  return { item_id: item.id, output_index: index };
}

function listItemParts({ item }: OpenItem, { itemType }: TextKind): JsonObject[] {
  return (itemType === "message" ? item.content : item.summary) as JsonObject[];
}

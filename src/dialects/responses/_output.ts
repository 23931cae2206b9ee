/**
 * Incremental output of a response: its items, and their events.
 *
 * Source: https://platform.openai.com/docs/api-reference/responses-streaming
 * @module
 */
import type { ChatCompletionChunk, CompletionUsage, Delta, JsonObject, ToolCallDelta } from "../../contracts/openai.ts";
import { appendAll } from "../../util/append_all.ts";
import { isObject } from "../../util/is_object.ts";
import { addDetails } from "../../util/reasoning_details.ts";
import { type AnswerHead, nameOf, responseOf, statusOf, usageOf } from "./_answer.ts";
import { contentFor, ownId } from "./_carried.ts";

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
}

/** The kinds of text, with the names in their events. */
interface TextKind {
  /** Type of the item. */
  readonly itemType: "message" | "reasoning";
  /** Type of the part. */
  readonly type: string;
  /** Member of the part with the text, also in its final event. */
  readonly member: "text" | "refusal";
  /** Infix of the event names. */
  readonly event: string;
  readonly partEvent: string;
  /** Member with the index of the part. */
  readonly indexName: "content_index" | "summary_index";
  /** Further members of the part. */
  readonly more: () => JsonObject;
}

const messageKind: Pick<TextKind, "itemType" | "partEvent" | "indexName"> = {
  itemType: "message",
  partEvent: "response.content_part",
  indexName: "content_index",
};

const kinds = {
  thoughts: {
    itemType: "reasoning",
    type: "summary_text",
    member: "text",
    event: "response.reasoning_summary_text",
    partEvent: "response.reasoning_summary_part",
    indexName: "summary_index",
    more: () => ({}),
  },
  text: {
    ...messageKind,
    type: "output_text",
    member: "text",
    event: "response.output_text",
    more: () => ({ annotations: [], logprobs: [] }),
  },
  refusal: { ...messageKind, type: "refusal", member: "refusal", event: "response.refusal", more: () => ({}) },
} as const satisfies Record<string, TextKind>;

/** Builds the output of one response. Text is closed when another item starts; calls stay open until the end. */
export class Output {
  readonly #body: JsonObject;
  readonly #emit: Emit;
  readonly #items: JsonObject[] = [];
  #response: JsonObject | undefined;
  #name = "";
  #text: OpenText | undefined;
  /** Function call items, by their index in chat. */
  readonly #calls = new Map<number, OpenItem>();
  /** Reasoning details since the last item that carries some. */
  #details: JsonObject[] = [];
  #usage: CompletionUsage | undefined;
  #reason: string | null = null;
  #hasRefused = false;

  /**
   * @param body The request.
   * @param emit Emits the events.
   */
  constructor(body: JsonObject, emit: Emit) {
    this.#body = body;
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
  start(head: AnswerHead, id?: string): void {
    this.#name = nameOf(head);
    this.#response = { ...responseOf(this.#body, head), ...(id === undefined ? {} : { id }) };
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

  /** Completes the response. */
  end(): JsonObject {
    const end = statusOf({ reason: this.#reason, hasRefused: this.#hasRefused });
    const status = end.status as string;
    this.#closeText(status);
    this.#carryDetails();
    for (const call of this.#calls.values()) this.#closeCall(call, status);
    const response = { ...this.#response, ...end, output: this.#items, ...usageOf(this.#usage) };
    this.#emit(`response.${status}`, { response });
    return response;
  }

  /** Fails the response; its output so far is kept. */
  fail(error: JsonObject): void {
    const open = [...this.#calls.values(), ...this.#text === undefined ? [] : [this.#text.item]];
    for (const { item } of open) item.status = "incomplete";
    this.#emit("response.failed", {
      response: { ...this.#response, status: "failed", error, output: this.#items, ...usageOf(this.#usage) },
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
    tool_calls?.forEach((call, position) => this.#call(call, position));
  }

  #write(kind: TextKind, text: string, logprobs: readonly JsonObject[] = []): void {
    if (text === "") return;
    if (this.#text?.kind !== kind) this.#openText(kind);
    const { part, item, index } = this.#text!;
    part[kind.member] = (part[kind.member] as string) + text;
    const scores = logprobs.map(scoreOf);
    if (kind === kinds.text) appendAll(part.logprobs as JsonObject[], scores);
    this.#emit(`${kind.event}.delta`, {
      ...locationOf(item),
      [kind.indexName]: index,
      delta: text,
      ...(kind === kinds.text ? { logprobs: scores } : {}),
    });
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
    const parts = partsOf(item!, kind);
    const part: JsonObject = { type: kind.type, [kind.member]: "", ...kind.more() };
    const index = parts.length;
    parts.push(part);
    this.#text = { item: item!, index, part, kind };
    this.#emit(`${kind.partEvent}.added`, { ...locationOf(item!), [kind.indexName]: index, part });
  }

  #closePart(): void {
    const { item, index, part, kind } = this.#text!;
    const location = { ...locationOf(item), [kind.indexName]: index };
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
    if (text === "") return;
    open.item.arguments = (open.item.arguments as string) + text;
    this.#emit("response.function_call_arguments.delta", { ...locationOf(open), delta: text });
  }

  #openCall(number: number, { id, name, state }: { id?: string; name?: string; state?: JsonObject }): OpenItem {
    this.#closeText("completed");
    this.#carryDetails();
    const call = id || `call_${this.#name}_${number}`;
    if (isObject(state)) this.#carry(contentFor(state, call));
    const fresh = { id: this.#newId("fc"), type: "function_call", status: "in_progress" };
    const open = this.#addItem({ ...fresh, arguments: "", call_id: call, name: name ?? "" });
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

  #closeCall(open: OpenItem, status: string): void {
    const { arguments: text, name } = open.item;
    this.#emit("response.function_call_arguments.done", { ...locationOf(open), name, arguments: text });
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

function locationOf({ index, item }: OpenItem): JsonObject {
  return { item_id: item.id, output_index: index };
}

function partsOf({ item }: OpenItem, { itemType }: TextKind): JsonObject[] {
  return (itemType === "message" ? item.content : item.summary) as JsonObject[];
}

/** Chat may omit the bytes. */
function scoreOf({ token, logprob, bytes, top_logprobs: top }: JsonObject): JsonObject {
  const others = Array.isArray(top)
    ? top.map(({ token, logprob, bytes }) => ({ token, logprob, bytes: bytes ?? [] }))
    : [];
  return { token, logprob, bytes: bytes ?? [], top_logprobs: others };
}

/**
 * Reads the chunks of one round: searches are kept back, everything else is passed on.
 * @module
 */
import type {
  Annotation,
  ChatCompletionChunk,
  CompletionUsage,
  Delta,
  FinishReason,
  JsonObject,
  ToolCall,
  ToolCallDelta,
} from "../../contracts/openai.ts";
import type { CitedSources } from "../../dialects/cited_sources.ts";
import { shiftAnnotations } from "../../util/annotations.ts";
import { appendAll } from "../../util/append_all.ts";
import { addDetails } from "../../util/reasoning_details.ts";
import type { RoundMessage } from "./_rounds.ts";
import type { Searches } from "./searches.ts";

/** What a round needs of its response. */
interface RoundContext {
  readonly searches: Searches;
  readonly cited: CitedSources;
  /** Length of the text of earlier rounds. */
  readonly offset: number;
  /** Whether nothing was passed on before. */
  readonly isFirst: boolean;
}

/** Reads the chunks of a round. */
export class RoundReader {
  readonly #context: RoundContext;
  readonly #calls = new Map<number, ToolCall>();
  #hasPassed: boolean;
  #content = "";
  #reasoning = "";
  /** Reasoning details; they wait for other content, since those of a round that only searches end with it. */
  readonly #details: JsonObject[] = [];
  readonly #waiting: JsonObject[] = [];
  /** Calls of other tools after a search. */
  readonly #waitingCalls: ToolCallDelta[] = [];
  #head: ChatCompletionChunk | undefined;
  #usage: CompletionUsage | undefined;
  #reason: FinishReason | null = null;
  #hasOtherCalls = false;

  constructor(context: RoundContext) {
    this.#context = context;
    this.#hasPassed = !context.isFirst;
  }

  /** The searches that the model calls. */
  get calls(): readonly ToolCall[] {
    return [...this.#calls.values()];
  }

  /** Whether the model calls other tools, whose results the client has. */
  get hasOtherCalls(): boolean {
    return this.#hasOtherCalls;
  }

  /** Length of its text. */
  get length(): number {
    return this.#content.length;
  }

  get usage(): CompletionUsage | undefined {
    return this.#usage;
  }

  get message(): RoundMessage {
    return {
      content: this.#content === "" ? null : this.#content,
      reasoning_content: this.#reasoning,
      reasoning_details: this.#details,
      tool_calls: this.calls,
    };
  }

  /** Takes a chunk; returns what is passed on of it, undefined if nothing is. */
  take(chunk: ChatCompletionChunk): ChatCompletionChunk | undefined {
    this.#usage = chunk.usage ?? this.#usage;
    this.#head ??= chunk;
    const choices = chunk.choices.flatMap((choice) => {
      if (choice.index > 0) return [choice];
      if (choice.finish_reason) this.#reason = choice.finish_reason;
      const delta = this.#read(choice.delta ?? {});
      const isNew = !this.#hasPassed;
      return delta === undefined && !isNew ? [] : [{ ...choice, delta: delta ?? {}, finish_reason: null }];
    });
    if (choices.length === 0) return undefined;
    this.#hasPassed = true;
    const { usage: _, ...rest } = chunk;
    return { ...rest, choices };
  }

  /**
   * The end of the response.
   *
   * @param usage The usage of all rounds.
   */
  end(usage: CompletionUsage | undefined): ChatCompletionChunk | undefined {
    if (this.#head === undefined) return undefined;
    const { id, object, created, model } = this.#head;
    const annotations = this.#hasOtherCalls ? [] : this.#context.cited.end();
    const isCut = this.#reason !== null && this.#reason !== "tool_calls" && this.#reason !== "function_call";
    const finish_reason = isCut || this.#reason === null ? this.#reason : this.#hasOtherCalls ? "tool_calls" : "stop";
    const delta = {
      ...(this.#waiting.length === 0 ? {} : { reasoning_details: this.#waiting }),
      ...(annotations.length === 0 ? {} : { annotations }),
      ...(this.#waitingCalls.length === 0 ? {} : { tool_calls: this.#waitingCalls }),
    };
    const head = { id, object, created, model };
    return { ...head, choices: [{ index: 0, delta, finish_reason }], ...(usage === undefined ? {} : { usage }) };
  }

  #read(input: Delta): Delta | undefined {
    const { tool_calls, reasoning_details, annotations, ...delta } = input;
    const { content, reasoning_content } = delta;
    addDetails(this.#details, reasoning_details);
    addDetails(this.#waiting, reasoning_details);
    if (typeof reasoning_content === "string") this.#reasoning += reasoning_content;
    const found = [...this.#shift(annotations), ...typeof content === "string" ? this.#addText(content) : []];
    const others = this.#takeOthers(tool_calls ?? []);
    const isContent = typeof content === "string" && content !== "" || others.length > 0;
    const passed: Delta = {
      ...delta,
      ...(isContent && this.#waiting.length > 0 ? { reasoning_details: this.#waiting.splice(0) } : {}),
      ...(found.length === 0 ? {} : { annotations: found }),
      ...(others.length === 0 ? {} : { tool_calls: others }),
    };
    const isEmpty = Object.values(passed).every((value) => value === null || value === "" || value === "assistant");
    return isEmpty ? undefined : passed;
  }

  /** The calls of other tools that are passed on; after a search, they wait for its results. */
  #takeOthers(calls: readonly ToolCallDelta[]): ToolCallDelta[] {
    const others = calls.filter((call, position) => !this.#keep(call, position));
    if (others.length > 0) this.#hasOtherCalls = true;
    if (this.#calls.size === 0) return others;
    appendAll(this.#waitingCalls, others);
    return [];
  }

  #addText(content: string): Annotation[] {
    this.#content += content;
    return this.#context.cited.add(content);
  }

  #shift(annotations: unknown): Annotation[] {
    return Array.isArray(annotations) ? shiftAnnotations(annotations, this.#context.offset) : [];
  }

  /** Keeps the call of a search; returns false for other calls. */
  #keep({ index, id, function: fn, extra_content }: ToolCallDelta, position: number): boolean {
    const number = index ?? position;
    let call = this.#calls.get(number);
    if (call === undefined) {
      if (!this.#context.searches.isSearch(fn?.name)) return false;
      call = { id: id || `call_search_${number}`, type: "function", function: { name: fn!.name!, arguments: "" } };
      this.#calls.set(number, call);
    }
    call.function.arguments += fn?.arguments ?? "";
    if (extra_content !== undefined) call.extra_content = extra_content;
    return true;
  }
}

/**
 * Parses stream events in OpenAI's dialect, and fills in members that clients require and some servers omit.
 * @module
 */
import type { ChatCompletionChunk, ToolCallDelta } from "../../src/contracts/openai.ts";
import type { CompletionChunk } from "../../src/contracts/provider.ts";
import { chunkOf } from "./_http.ts";
import { nameThoughts } from "./_openai_message.ts";

/** Parses the events of one stream, in order. */
export class ChunkReader {
  /** Ids of the tool calls so far, by choice. */
  readonly #calls = new Map<number, (string | undefined)[]>();
  /** Whether each choice so far has finished. */
  readonly #ended = new Map<number, boolean>();

  /** Whether every choice that started has its finish reason. */
  get isFinished(): boolean {
    return this.#ended.size > 0 && [...this.#ended.values()].every((ended) => ended);
  }

  /**
   * Parses an event.
   *
   * @param data Its JSON, which is passed through if nothing has to be filled in.
   * @throws {UpstreamError} If it is an error, or not a JSON object.
   */
  read(data: string): CompletionChunk {
    const value = chunkOf(data);
    // multi-line data would not fit into one `data:` line
    return this.complete(value) && !data.includes("\n") ? { value, wire: data } : { value };
  }

  /**
   * Fills in missing members.
   *
   * @param chunk The event, modified in place.
   * @returns Whether it was already complete.
   */
  complete(chunk: ChatCompletionChunk): boolean {
    let complete = Array.isArray(chunk.choices);
    if (!complete) chunk.choices = [];
    for (const choice of chunk.choices) {
      if (typeof choice.delta !== "object" || choice.delta === null) {
        choice.delta = {};
        complete = false;
      }
      complete = this.#completeRole(choice) && complete;
      complete = !nameThoughts(choice.delta) && complete;
      const { tool_calls } = choice.delta;
      if (!Array.isArray(tool_calls)) continue;
      for (const call of tool_calls) complete = this.#completeCall(call, choice.index) && complete;
    }
    return complete;
  }

  /** The stream helper of the official client requires the role. */
  #completeRole({ index, delta, finish_reason }: ChatCompletionChunk["choices"][number]): boolean {
    const isFirst = !this.#ended.has(index);
    const hasEnded = finish_reason !== null && finish_reason !== undefined;
    this.#ended.set(index, hasEnded || this.#ended.get(index) === true);
    if (!isFirst || delta.role !== undefined) return true;
    delta.role = "assistant";
    return false;
  }

  #completeCall(call: ToolCallDelta, answer: number): boolean {
    const known = this.#calls.get(answer) ?? [];
    this.#calls.set(answer, known);
    const complete = typeof call.index === "number" && (call.id === undefined || call.type === "function");
    if (typeof call.index !== "number") call.index = callIndexOf(call, known);
    if (call.id) {
      call.type = "function";
      known[call.index] = call.id;
    }
    return complete;
  }
}

/** Without an index, a delta belongs to the call with its id, or to the last call; a new id starts a new call. */
function callIndexOf({ id }: ToolCallDelta, known: readonly (string | undefined)[]): number {
  if (!id) return Math.max(0, known.length - 1);
  const index = known.indexOf(id);
  return index < 0 ? known.length : index;
}

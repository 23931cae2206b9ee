/**
 * Normalizes the chunks of a streamed chat response.
 * @module
 */
import type { ChatCompletionChunk } from "../contracts/openai.ts";
import { UpstreamError } from "../errors.ts";
import type { CompletionDefaults } from "./normalize_completion.ts";
import { isObject } from "./is_object.ts";
import {
  type CitedSource,
  createId,
  normalizeFinishReason,
  normalizeLists,
  normalizeText,
  normalizeUsage,
  readSources,
  toCalls,
  toSourceAnnotations,
} from "./normalize_message.ts";
import { StreamedCalls } from "./streamed_calls.ts";

type UncheckedMembers = Record<string, unknown>;

/** A choice whose delta is an object. */
type UncheckedChoice = UncheckedMembers & { index: number; delta: UncheckedMembers };

/** What is known of one choice so far. */
interface ChoiceState {
  hasEnded: boolean;
  calls: StreamedCalls | undefined;
  text: string;
  hasAnnotations: boolean;
}

/** Normalizes the chunks of one stream, in order. */
export class ChunkNormalizer {
  readonly #defaults: CompletionDefaults;
  readonly #choices = new Map<number, ChoiceState>();
  /** Number of choices without a finish reason. */
  #unfinished = 0;
  /** Sources beside the response. */
  #sources: readonly CitedSource[] = [];
  #id: string | undefined;
  #created: number | undefined;
  #model: string | undefined;

  /** @param defaults What fills in members that chunks lack. */
  constructor(defaults: CompletionDefaults) {
    this.#defaults = defaults;
  }

  /** Whether every choice that started has its finish reason. */
  get isFinished(): boolean {
    return this.#unfinished === 0 && this.#choices.size > 0;
  }

  /**
   * Converts a vendor's variation of a chunk to OpenAI's shape, as `normalizeCompletion` does for a non-streaming response. Tool
   * calls get indexes of their own, and begin with their id and name.
   *
   * @param chunk The chunk, modified in place.
   * @returns Whether it was modified.
   * @throws {UpstreamError} If it ends a generation that the server did not complete, or a tool call without a name; if a
   * choice is not an object.
   */
  normalize(chunk: ChatCompletionChunk): boolean {
    let isChanged = this.#fillHead(chunk as UncheckedMembers);
    if (chunk.usage !== null) isChanged = normalizeUsage(chunk) || isChanged;
    const sources = readSources(chunk);
    if (sources.length > 0) this.#sources = sources;
    const choices: unknown = chunk.choices;
    if (!Array.isArray(choices)) {
      chunk.choices = [];
      return true;
    }
    for (let position = 0; position < choices.length; position++) {
      const choice: unknown = choices[position];
      if (!isObject(choice)) {
        throw new UpstreamError("The provider's chunk has an unreadable choice", { kind: "invalid_response" });
      }
      isChanged = this.#normalizeChoice(choice, position) || isChanged;
    }
    return isChanged;
  }

  /**
   * Returns the chunk that ends the choices with tool calls to which the server has given no finish reason; undefined if
   * there are none. Clients run the calls of a choice when it has ended.
   *
   * @throws {UpstreamError} If one of them has a tool call without a name.
   */
  end(): ChatCompletionChunk | undefined {
    const open = [...this.#choices].filter(([, { hasEnded, calls }]) => !hasEnded && calls !== undefined);
    if (open.length === 0) return undefined;
    const choices = open.map(([index]) => ({ index, delta: {}, finish_reason: "tool_calls", logprobs: null }));
    const chunk = { choices } as unknown as ChatCompletionChunk;
    this.normalize(chunk);
    return chunk;
  }

  #fillHead(chunk: UncheckedMembers): boolean {
    const { random, now, model } = this.#defaults;
    let isChanged = false;
    if (typeof chunk.id === "string" && chunk.id !== "") this.#id = chunk.id;
    else {
      chunk.id = this.#id ??= createId("chatcmpl-", random);
      isChanged = true;
    }
    if (chunk.object !== "chat.completion.chunk") {
      chunk.object = "chat.completion.chunk";
      isChanged = true;
    }
    if (Number.isInteger(chunk.created)) this.#created = chunk.created as number;
    else {
      chunk.created = this.#created ??= Math.floor(now() / 1000);
      isChanged = true;
    }
    if (typeof chunk.model === "string" && chunk.model !== "") {
      this.#model = chunk.model;
      return isChanged;
    }
    chunk.model = this.#model ?? model;
    return true;
  }

  #normalizeChoice(choice: UncheckedMembers, position: number): boolean {
    let isChanged = false;
    if (typeof choice.index !== "number") {
      choice.index = position;
      isChanged = true;
    }
    if (!isObject(choice.delta)) {
      choice.delta = isObject(choice.message) ? choice.message : {}; // a complete response as a single event
      delete choice.message;
      isChanged = true;
    }
    const { index, delta } = choice as UncheckedChoice;
    let state = this.#choices.get(index);
    if (state === undefined) {
      this.#choices.set(index, state = { hasEnded: false, calls: undefined, text: "", hasAnnotations: false });
      this.#unfinished++;
      isChanged = fillRole(delta) || isChanged;
    }
    isChanged = normalizeText(delta) || isChanged;
    isChanged = normalizeLists(delta) || isChanged;
    if (typeof delta.content === "string") state.text += delta.content;
    if (Array.isArray(delta.annotations)) state.hasAnnotations = true;
    isChanged = this.#normalizeCalls(delta, state) || isChanged;
    return this.#end(choice, state) || isChanged;
  }

  #normalizeCalls(delta: UncheckedMembers, state: ChoiceState): boolean {
    let isChanged = false;
    if (delta.function_call !== undefined && !this.#defaults.keepsFunctionCall) {
      const { function_call: call } = delta;
      delete delta.function_call;
      if (isObject(call) && !Array.isArray(delta.tool_calls)) delta.tool_calls = [{ index: 0, function: call }];
      isChanged = true;
    }
    const { tool_calls: rawCalls } = delta;
    if (rawCalls === undefined) return isChanged;
    const calls = toCalls(rawCalls);
    if (calls === undefined) {
      delete delta.tool_calls;
      return true;
    }
    delta.tool_calls = calls;
    isChanged ||= calls !== rawCalls;
    state.calls ??= new StreamedCalls(this.#defaults.random);
    return state.calls.normalize(delta, calls) || isChanged;
  }

  #end(choice: UncheckedMembers, state: ChoiceState): boolean {
    if (choice.finish_reason === null || choice.finish_reason === undefined) return false;
    const { keepsFunctionCall } = this.#defaults;
    const isChanged = normalizeFinishReason(choice, { hasCalls: state.calls !== undefined, keepsFunctionCall });
    if (choice.finish_reason === null) return isChanged;
    if (state.calls?.isNameMissing) {
      throw new UpstreamError("The provider's stream has a tool call without a name", { kind: "invalid_response" });
    }
    const { delta } = choice as UncheckedChoice;
    const hasBlanks = state.calls?.end(delta) ?? false;
    const hasSources = !state.hasEnded && !state.hasAnnotations && this.#sources.length > 0;
    if (!state.hasEnded) this.#unfinished--;
    state.hasEnded = true;
    if (hasSources) delta.annotations = toSourceAnnotations(this.#sources, state.text);
    return isChanged || hasBlanks || hasSources;
  }
}

/** The stream helper of the official client requires the role. */
function fillRole(delta: UncheckedMembers): boolean {
  if (typeof delta.role === "string") return false;
  delta.role = "assistant";
  return true;
}

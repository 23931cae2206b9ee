/**
 * The message of a choice, assembled from the deltas of a stream.
 * @module
 */
import type {
  AssistantMessage,
  ChatCompletionChunk,
  Choice,
  ChoiceLogprobs,
  JsonObject,
} from "../../contracts/openai.ts";
import { isObject } from "../../util/is_object.ts";
import { addDetails } from "../../util/reasoning_details.ts";

/** Members whose deltas are parts of one text. */
const texts: readonly string[] = ["content", "refusal", "reasoning_content", "reasoning"];

/** Members whose deltas are further items. */
const lists: readonly string[] = ["images", "annotations"];

/** Members of objects in a delta whose text arrives in parts: of calls, and of audio. */
const fragments: readonly string[] = ["arguments", "data", "transcript"];

/** Collects the deltas of one choice. */
export class MessageBuilder {
  readonly #message: JsonObject = {};
  readonly #calls = new Map<number, JsonObject>();
  readonly #details: JsonObject[] = [];
  #choice: JsonObject = {};
  #logprobs: ChoiceLogprobs | null = null;

  /** Adds a choice of an event. */
  add({ delta, logprobs, index: _, ...members }: ChatCompletionChunk["choices"][number]): void {
    for (const [name, value] of Object.entries(members)) if (value !== null) this.#choice[name] = value;
    if (logprobs) this.#logprobs = joinLogprobs(this.#logprobs, logprobs);
    for (const [name, value] of Object.entries(delta ?? {})) if (value !== null) this.#addMember(name, value);
  }

  /** Returns the complete choice. */
  build(index: number): Choice {
    const calls = [...this.#calls].sort(([first], [second]) => first - second).map(([, call]) => call);
    const { finish_reason = null, ...others } = this.#choice; // some providers give none
    const message = {
      role: "assistant",
      content: null,
      refusal: null,
      ...this.#message,
      ...(this.#details.length > 0 && { reasoning_details: this.#details }),
      ...(calls.length > 0 && { tool_calls: calls }),
    } as unknown as AssistantMessage;
    return {
      ...others,
      index,
      message,
      finish_reason: finish_reason as Choice["finish_reason"],
      logprobs: this.#logprobs,
    };
  }

  #addMember(name: string, value: unknown): void {
    const message = this.#message;
    const before = message[name];
    if (name === "tool_calls") return this.#addCalls(value);
    if (name === "reasoning_details") return addDetails(this.#details, value);
    if (texts.includes(name) && typeof before === "string") message[name] = `${before}${value}`;
    else if (lists.includes(name) && Array.isArray(before) && Array.isArray(value)) before.push(...value);
    else if (isObject(before) && isObject(value)) join(before, value);
    else message[name] = value;
  }

  #addCalls(calls: unknown): void {
    if (!Array.isArray(calls)) return;
    calls.filter(isObject).forEach(({ index: at, ...fragment }, position) => {
      const index = typeof at === "number" ? at : position;
      const call = this.#calls.get(index);
      if (call === undefined) this.#calls.set(index, fragment);
      else join(call, fragment);
    });
  }
}

/** Adds the members of an object: text that arrives in parts, objects, and others, of which the last one applies. */
function join(target: JsonObject, added: JsonObject): void {
  for (const [name, value] of Object.entries(added)) {
    const before = target[name];
    if (value === null || value === undefined) continue;
    if (fragments.includes(name) && typeof before === "string") target[name] = before + String(value);
    else if (isObject(before) && isObject(value)) join(before, value);
    else target[name] = value;
  }
}

function joinLogprobs(before: ChoiceLogprobs | null, added: ChoiceLogprobs): ChoiceLogprobs {
  if (before === null) return added;
  return {
    ...before,
    ...added,
    content: joinLists(before, added, "content"),
    refusal: joinLists(before, added, "refusal"),
  };
}

function joinLists(before: ChoiceLogprobs, added: ChoiceLogprobs, name: "content" | "refusal") {
  const [first, second] = [before[name], added[name]];
  return first && second ? [...first, ...second] : first ?? second ?? null;
}

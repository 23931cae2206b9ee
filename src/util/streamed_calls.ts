/**
 * Identifies the tool calls of a streamed choice. Servers number them in different ways: some give every call the index
 * 0, some give none, some repeat the id or the name in every delta, some send the name late.
 * @module
 */
import { UpstreamError } from "../errors.ts";
import { isObject } from "./is_object.ts";
import { JsonProgress } from "./json_progress.ts";
import { createId, isMissing } from "./normalize_message.ts";

/** Maximum number of tool calls of one choice. */
const maxCalls = 10_000;

type Unchecked = Record<string, unknown>;

/** A tool call of the stream. */
interface StreamedCall {
  /** Its index in the normalized stream. */
  readonly index: number;
  /** The server's id; undefined if it sent none. */
  givenId: string | undefined;
  /** Its name; undefined until it is known. Until then, its deltas are withheld. */
  name: string | undefined;
  /** Arguments that are withheld. */
  withheld: string;
  /** Whether it has no arguments so far. */
  isBlank: boolean;
  readonly progress: JsonProgress;
}

/** The tool calls of one choice, in order. */
export class StreamedCalls {
  readonly #random: () => number;
  readonly #calls: StreamedCall[] = [];
  /** Number of calls without a name. */
  #unnamed = 0;
  /** The latest call of each index of the server. */
  readonly #byIndex = new Map<number, StreamedCall>();
  readonly #byId = new Map<string, StreamedCall>();

  /** @param random A source of randomness for missing ids, 0 to 1. */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Whether a call has no name yet. */
  get isNameMissing(): boolean {
    return this.#unnamed > 0;
  }

  /**
   * Gives the calls without arguments those of an empty object.
   *
   * @param holder The last delta of the choice, modified in place.
   * @returns Whether it was modified.
   */
  end(holder: Unchecked): boolean {
    const blank = this.#calls.filter(({ isBlank }) => isBlank);
    if (blank.length === 0) return false;
    const received = Array.isArray(holder.tool_calls) ? holder.tool_calls : [];
    holder.tool_calls = [...received, ...blank.map(({ index }) => ({ index, function: { arguments: "{}" } }))];
    for (const call of blank) call.isBlank = false;
    return true;
  }

  /**
   * Normalizes the deltas of one chunk.
   *
   * @param holder The delta that contains them, modified in place.
   * @param deltas Its `tool_calls`.
   * @returns Whether anything was modified.
   */
  normalize(holder: Unchecked, deltas: readonly unknown[]): boolean {
    let isChanged = false;
    const passed = deltas.filter((delta) => {
      if (!isObject(delta)) return false;
      const result = this.#normalizeDelta(delta);
      isChanged ||= result === "modified";
      return result !== "withheld";
    });
    if (passed.length === deltas.length) return isChanged;
    if (passed.length > 0) holder.tool_calls = passed;
    else delete holder.tool_calls;
    return true;
  }

  #normalizeDelta(delta: Unchecked): "unchanged" | "modified" | "withheld" {
    if (isObject(delta.custom)) return "unchanged"; // a custom tool's call has no function
    const { fn, index, id, name } = readDelta(delta);
    const current = this.#find(index, id);
    const call = current === undefined || isOther(current, id, name) ? this.#create(index, id) : current;
    const text = readArguments(fn.arguments, call);
    call.isBlank &&= text === "";
    call.progress.add(text);
    if (call.name !== undefined) return continueCall(delta, { call, fn, text });
    if (call.givenId === undefined) this.#identify(call, id);
    call.name = name;
    if (name !== undefined) this.#unnamed--;
    call.withheld += text;
    return name === undefined ? "withheld" : this.#open(delta, { call, fn });
  }

  /** A delta without an index belongs to the call with its id, or without an id to the last call. */
  #find(index: number | undefined, id: string | undefined): StreamedCall | undefined {
    if (index !== undefined) return this.#byIndex.get(index);
    return id === undefined ? this.#calls.at(-1) : this.#byId.get(id);
  }

  #create(index: number | undefined, id: string | undefined): StreamedCall {
    const call: StreamedCall = {
      index: this.#calls.length,
      givenId: undefined,
      name: undefined,
      withheld: "",
      isBlank: true,
      progress: new JsonProgress(),
    };
    if (this.#calls.length === maxCalls) {
      throw new UpstreamError(`The provider's stream has over ${maxCalls} tool calls`, { kind: "invalid_response" });
    }
    this.#calls.push(call);
    this.#unnamed++;
    this.#byIndex.set(index ?? call.index, call);
    this.#identify(call, id);
    return call;
  }

  /** An id that another call has is not kept: results refer to calls by their ids. */
  #identify(call: StreamedCall, id: string | undefined): void {
    if (id === undefined || this.#byId.has(id)) return;
    call.givenId = id;
    this.#byId.set(id, call);
  }

  /** The first delta of a call that is passed on has its id and its name. */
  #open(delta: Unchecked, { call, fn }: { call: StreamedCall; fn: Unchecked }): "unchanged" | "modified" {
    const { index, givenId, name, withheld } = call;
    const isComplete = delta.index === index && delta.id === givenId && givenId !== undefined &&
      delta.type === "function" && fn.arguments === withheld && fn === delta.function;
    if (isComplete) return "unchanged";
    delta.index = index;
    delta.id = givenId ?? createId(`call_${index}`, this.#random);
    delta.type = "function";
    delta.function = { ...fn, name, arguments: withheld };
    return "modified";
  }
}

/** Reads the members of a delta; empty ones are undefined. */
function readDelta({ index, id, function: callFunction }: Unchecked) {
  const fn = isObject(callFunction) ? callFunction : {};
  return {
    fn,
    index: readIndex(index),
    id: readCallText(id),
    name: readCallText(fn.name),
  };
}

/** The arguments that a delta adds to a call. Some servers repeat complete arguments at the end. */
function readArguments(value: unknown, { isBlank, progress }: StreamedCall): string {
  if (progress.isComplete || isBlank && isMissing(value)) return "";
  if (typeof value === "string") return value;
  return value === null || value === undefined ? "" : JSON.stringify(value);
}

/** An index may be written as text. */
function readIndex(index: unknown): number | undefined {
  if (typeof index === "number") return index;
  return typeof index === "string" && /^\d{1,5}$/.test(index) ? Number(index) : undefined;
}

function readCallText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Whether a delta at the index of a call starts another one: by a new id, or a name after complete arguments. */
function isOther({ givenId, name: knownName, progress }: StreamedCall, id?: string, name?: string): boolean {
  if (id !== undefined && givenId !== undefined) return id !== givenId;
  return name !== undefined && knownName !== undefined && progress.isComplete;
}

/** Later deltas have only their index and arguments; an id is tolerated if it is the call's own. */
function continueCall(
  delta: Unchecked,
  { call, fn, text }: { call: StreamedCall; fn: Unchecked; text: string },
): "unchanged" | "modified" {
  const { index, givenId } = call;
  const isUnchanged = delta.index === index && (delta.id === undefined || delta.id === givenId) &&
    (delta.id === undefined || delta.type === "function") && fn === delta.function && fn.name === undefined &&
    (fn.arguments === undefined || fn.arguments === text);
  if (isUnchanged) return "unchanged";
  delta.index = index;
  if (delta.id !== givenId || givenId === undefined) delete delta.id;
  if (delta.id !== undefined) delta.type = "function";
  const { name: _, ...others } = fn;
  delta.function = { ...others, arguments: text };
  return "modified";
}

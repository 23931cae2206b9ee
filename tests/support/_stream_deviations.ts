/**
 * Streams of one response in OpenAI's shape, each with some of the deviations of servers: how they number and name tool
 * calls, cut arguments, fill in null, and end.
 */
import type { Json } from "./_dialects.ts";
import { pick, type Random } from "./_mutations.ts";

/** What the response consists of. */
export interface IntendedResponse {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly input: Json }[];
  /** Whether the server names the reason of its end. */
  readonly hasReason: boolean;
}

const inputs: readonly Json[] = [{}, { path: "a" }, { path: '}{"', n: [1, { x: null }] }, { path: "é😀\\" }, {
  path: null,
}];

/** How a server writes its tool calls. */
interface CallStyle {
  readonly index: "own" | "zero" | "none" | "text" | "from one";
  readonly id: "first" | "every" | "none" | "null" | "empty";
  readonly name: "first" | "every" | "late";
  readonly pieces: "two" | "one" | "characters" | "object";
  /** The arguments of a call without any. */
  readonly blank: unknown;
}

function createStyle(random: Random): CallStyle {
  const index = pick(["own", "zero", "none", "text", "from one"] as const, random);
  const id = pick(["first", "every", "none", "null", "empty"] as const, random);
  // without index and id, only complete arguments separate calls
  const isVague = (index === "zero" || index === "none") && id !== "first" && id !== "every";
  return {
    index,
    id,
    name: pick(isVague ? ["first", "every"] as const : ["first", "every", "late"] as const, random),
    pieces: pick(["two", "one", "characters", "object"] as const, random),
    blank: isVague ? "{}" : pick<unknown>(["{}", "", "null", null, undefined], random),
  };
}

function cutArguments(input: Json, { pieces, blank }: CallStyle): readonly unknown[] {
  if (Object.keys(input).length === 0) return [blank];
  const text = JSON.stringify(input);
  if (pieces === "object") return [input];
  if (pieces === "characters") return [...text];
  return pieces === "one" ? [text] : [text.slice(0, 4), text.slice(4)];
}

function toDeltas({ name, input }: IntendedResponse["calls"][number], at: number, style: CallStyle): Json[] {
  const cut = cutArguments(input, style);
  const pieces = style.name === "late" ? [undefined, ...cut] : cut;
  const indexes = { own: at, zero: 0, none: undefined, text: String(at), "from one": at + 1 };
  const named = style.name === "late" ? 1 : 0;
  return pieces.map((piece, position) => ({
    index: indexes[style.index],
    id:
      { first: position === 0 ? `call_${at}` : undefined, every: `call_${at}`, none: undefined, null: null, empty: "" }[
        style.id
      ],
    function: { ...(style.name === "every" || position === named ? { name } : {}), arguments: piece },
  }));
}

/**
 * Creates a response and its stream.
 *
 * @param random A source of randomness.
 */
export function createDeviatingStream(random: Random): { readonly meant: IntendedResponse; readonly stream: string } {
  const calls = Array.from({ length: Math.floor(random() * 4) }, () => ({
    name: pick(["read_file", "write_file"], random),
    input: pick(inputs, random),
  }));
  const style = createStyle(random);
  const reason = pick(calls.length === 0 ? ["stop", "tool_calls", ""] : ["tool_calls", "stop", "tool_use", ""], random);
  const before = pick(calls.length === 0 ? ["Hé "] : ["", "Hé "], random);
  const between = pick(["", "x"], random);
  const deltas: Json[] = [
    ...pick([[], [{ role: "assistant", content: null, tool_calls: null }]], random),
    ...pick([[], [{ reasoning: "Hm", reasoning_content: null }]], random),
    ...(before === "" ? [] : [{ content: before }]),
    ...calls.flatMap((call, at) => toDeltas(call, at, style)).map((call) => ({ tool_calls: [call] })),
  ];
  if (between !== "" && calls.length > 0) deltas.splice(-1, 0, { content: between });
  const text = before + (calls.length > 0 ? between : "");
  return { meant: { text, calls, hasReason: reason !== "" }, stream: writeStream(deltas, reason, random) };
}

function writeStream(deltas: readonly Json[], reason: string, random: Random): string {
  const line = pick(["\n", "\r\n", "\r"], random);
  const comment = pick(["", `: thinking${line}`], random);
  const event = (delta: Json, finish_reason: string | null) => {
    const choices = [{ index: 0, delta, finish_reason }];
    return `${comment}data: ${JSON.stringify({ id: "c", created: 1, model: "a", choices })}${line}${line}`;
  };
  const events = deltas.map((delta) => event(delta, reason === "" ? "" : null)).join("");
  const isDone = reason === "" || random() < 0.5;
  const all = `${events}${reason === "" ? "" : event({}, reason)}${isDone ? `data: [DONE]${line}${line}` : ""}`;
  return random() < 0.3 ? all.trimEnd() : all;
}

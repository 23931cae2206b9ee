/**
 * Conversations by chance, for tests that go from a dialect to chat and back.
 * @module
 */
import type {
  AssistantMessage,
  ChatCompletion,
  ChatCompletionChunk,
  Delta,
  FinishReason,
  JsonObject,
} from "../../src/contracts/openai.ts";

/** Chance by a seed (mulberry32): the same conversation every time. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** From 0 to below `count`. */
  roll(count: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % count;
  }

  times<Value>(most: number, make: (index: number) => Value): Value[] {
    return Array.from({ length: this.roll(most + 1) }, (_, index) => make(index));
  }

  word(): string {
    return ["Hello", "wörld 🌍", 'a "quote"\n', "\\", "{}", "data: x"][this.roll(6)]!;
  }

  /** A JSON object, some levels deep. */
  object(depth = 2): JsonObject {
    return Object.fromEntries(this.times(3, (index) => [
      `${index}${this.word()}`,
      depth > 0 && this.roll(2) === 0 ? this.object(depth - 1) : [this.word(), this.roll(9), null, true][this.roll(4)],
    ]));
  }
}

/** Details of reasoning, as a gateway to many vendors returns them. */
function createDetails(dice: Dice): JsonObject[] {
  return [
    { type: "reasoning.text", format: "acme-v1", index: 0, text: dice.word(), signature: "c2VhbA==" },
    ...dice.times(2, (at) => ({ type: "reasoning.encrypted", data: dice.word(), id: `rs_${at}`, index: 1 })),
  ];
}

/** What a model says, and why it ends. */
export function createResponse(model: string, dice: Dice): ChatCompletion {
  const calls = dice.times(3, (index) => ({
    ...{ id: `call_${index}`, type: "function" as const },
    function: { name: `tool_${index}`, arguments: JSON.stringify(dice.object()) },
    ...(dice.roll(2) === 0 ? { extra_content: { acme: dice.object() } } : {}),
  }));
  const says = dice.roll(3) === 0 && calls.length > 0 ? null : dice.word();
  const message: AssistantMessage = {
    ...{ role: "assistant", content: says, refusal: says === null || dice.roll(4) > 0 ? null : dice.word() },
    ...(dice.roll(2) === 0 ? { reasoning_content: dice.word() } : {}),
    ...(dice.roll(2) === 0 ? { reasoning_details: createDetails(dice) } : {}),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  const reason: FinishReason = calls.length > 0
    ? "tool_calls"
    : (["stop", "length", "content_filter"] as const)[dice.roll(3)]!;
  return {
    ...{ id: "c1", object: "chat.completion", created: 1, model },
    choices: [{ index: 0, message, finish_reason: reason, logprobs: null }],
    usage: {
      ...{ prompt_tokens: 30, completion_tokens: 5, total_tokens: 35 },
      prompt_tokens_details: { cached_tokens: dice.roll(9), cache_write_tokens: dice.roll(9) },
    },
  };
}

/** The same response in chunks, texts cut anywhere; calls one after the other, or their heads before their arguments. */
export function toChunks({ choices, usage, id, created, model }: ChatCompletion, dice: Dice): ChatCompletionChunk[] {
  const [{ message, finish_reason }] = choices as [ChatCompletion["choices"][0]];
  const head = { id, object: "chat.completion.chunk" as const, created, model };
  const chunk = (delta: Delta, reason: FinishReason | null = null): ChatCompletionChunk => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason: reason }],
  });
  const cut = (whole: string | null | undefined) => {
    const at = dice.roll((whole ?? "").length + 1);
    return [(whole ?? "").slice(0, at), (whole ?? "").slice(at)];
  };
  const calls = (message.tool_calls ?? []).map(({ function: asked, ...call }, index) => {
    const rest = cut(asked.arguments).map((part) => chunk({ tool_calls: [{ index, function: { arguments: part } }] }));
    return [chunk({ tool_calls: [{ index, ...call, function: { name: asked.name, arguments: "" } }] }), ...rest];
  });
  const [thought, ...sealed] = message.reasoning_details ?? [];
  const { text, signature, ...named } = thought ?? {};
  const detailed = thought === undefined ? [] : [
    ...cut(text as string).map((part) => chunk({ reasoning_details: [{ ...named, text: part }] })),
    chunk({ reasoning_details: [{ ...named, signature }] }),
    ...sealed.map((detail) => chunk({ reasoning_details: [detail] })),
  ];
  const areMixed = dice.roll(3) === 0;
  return [
    chunk({ role: "assistant", content: "" }),
    ...cut(message.reasoning_content).map((part) => chunk({ reasoning_content: part })),
    ...detailed,
    ...cut(message.content).map((part) => chunk({ content: part })),
    ...cut(message.refusal).map((part) => chunk({ refusal: part })),
    ...(areMixed ? [0, 1, 2].flatMap((step) => calls.flatMap((call) => call[step]!)) : calls.flat()),
    chunk({}, finish_reason),
    ...(usage === undefined ? [] : [{ ...head, choices: [], usage }]),
  ];
}

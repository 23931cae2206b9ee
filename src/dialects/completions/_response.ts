/**
 * Converts chat responses, complete or streaming, to text completions.
 * @module
 */
import type {
  AssistantMessage,
  ChatCompletion,
  ChatCompletionChunk,
  CompletionUsage,
  JsonObject,
} from "../../contracts/openai.ts";
import { isObject } from "../../util/is_object.ts";
import { toText } from "../../util/to_text.ts";
import type { DialectFault, EventTranslator } from "../dialect.ts";

/** Response options of a prompt. */
export interface TextForm {
  /** Text to prepend to the response; undefined unless requested. */
  readonly echo: string | undefined;
  /** Whether a stream ends with token counts. */
  readonly hasUsage: boolean;
  /** Index of the first choice. */
  readonly firstIndex: number;
}

/** Converts a complete response. */
export function formatTextCompletion(
  { id, created, model, choices, usage }: ChatCompletion,
  form: TextForm,
): JsonObject {
  return {
    id,
    object: "text_completion",
    created,
    model,
    choices: choices.map(({ index, message, finish_reason: reason, logprobs }) => ({
      text: (form.echo ?? "") + joinMessageText(message),
      index: form.firstIndex + index,
      logprobs: splitLogprobs(logprobs),
      finish_reason: mapTextFinishReason(reason),
    })),
    ...(usage === undefined ? {} : { usage }),
  };
}

/** Merges the responses to several prompts; their token counts are added. */
export function joinCompletions(completions: readonly JsonObject[]): JsonObject {
  const usages = completions.flatMap(({ usage }) => isObject(usage) ? usage as unknown as CompletionUsage : []);
  return {
    ...completions[0],
    choices: completions.flatMap(({ choices }) => choices),
    ...(usages.length === 0 ? {} : { usage: addUsages(usages) }),
  };
}

/** Adds the token counts of several responses. Values that are not numbers count as 0. */
function addUsages(usages: readonly CompletionUsage[]): CompletionUsage {
  const sum = (name: "prompt_tokens" | "completion_tokens" | "total_tokens") =>
    usages.reduce((total, { [name]: count }) => total + (Number.isFinite(count) ? count : 0), 0);
  return {
    prompt_tokens: sum("prompt_tokens"),
    completion_tokens: sum("completion_tokens"),
    total_tokens: sum("total_tokens"),
  };
}

/** The finish reason of a completion. */
function mapTextFinishReason(reason: string | null): string | null {
  return reason === null || reason === "length" || reason === "content_filter" ? reason : "stop";
}

/** Converts log probabilities to the parallel arrays of text completions; null if there are none. */
function splitLogprobs(logprobs: JsonObject | null | undefined): JsonObject | null {
  const tokens = (Array.isArray(logprobs?.content) ? logprobs.content : []).filter(isObject);
  if (tokens.length === 0) return null;
  let offset = 0;
  const offsets = tokens.map(({ token }) => {
    const start = offset;
    offset += toText(token).length;
    return start;
  });
  const tops = tokens.map(({ top_logprobs: top }) =>
    Object.fromEntries(
      (Array.isArray(top) ? top : []).filter(isObject).map(({ token, logprob }) => [toText(token), logprob]),
    )
  );
  return {
    tokens: tokens.map(({ token }) => token),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    top_logprobs: tops,
    text_offset: offsets,
  };
}

function joinMessageText({ content, refusal }: AssistantMessage): string {
  return toText(content) + toText(refusal);
}

const done = "data: [DONE]\n\n";

/** Converts the streams of one request, one per prompt, in any order. */
export class TextEvents implements EventTranslator {
  /**
   * Passes a provider's native events through, except for token counts that the client did not request, and ends the
   * stream.
   */
  readonly native: NonNullable<EventTranslator["native"]> = {
    event: (text) => !this.#form.hasUsage && /"choices"\s*:\s*\[\s*\]/.test(text) ? "" : text,
    end: () => done,
  };
  readonly #form: TextForm;
  readonly #head: JsonObject = {};
  readonly #usages = new Map<TextForm, CompletionUsage>();
  /** Indexes of the choices that have started. */
  readonly #begun = new Set<number>();

  /** @param form Response options of the first prompt. */
  constructor(form: TextForm) {
    this.#form = form;
  }

  push(chunk: ChatCompletionChunk): string {
    return this.pushFor(this.#form, chunk);
  }

  /** Converts a chunk of the response to one of several prompts. */
  pushFor(form: TextForm, { id, created, model, choices, usage }: ChatCompletionChunk): string {
    if (usage) this.#usages.set(form, usage);
    this.#head.id ??= id;
    this.#head.created ??= created;
    this.#head.model ??= model;
    const converted = choices.flatMap(({ index, delta, finish_reason: reason, logprobs }) => {
      const choiceIndex = form.firstIndex + index;
      const isFirst = !this.#begun.has(choiceIndex);
      this.#begun.add(choiceIndex);
      const text = (isFirst ? form.echo ?? "" : "") + toText(delta?.content) + toText(delta?.refusal);
      if (text === "" && !reason) return [];
      return [{
        text,
        index: choiceIndex,
        logprobs: splitLogprobs(logprobs),
        finish_reason: mapTextFinishReason(reason ?? null),
      }];
    });
    return converted.length === 0
      ? ""
      : this.#event({ choices: converted, ...(this.#form.hasUsage ? { usage: null } : {}) });
  }

  end(): string {
    const usages = [...this.#usages.values()];
    const counts = this.#form.hasUsage && usages.length > 0
      ? this.#event({ choices: [], usage: usages.length === 1 ? usages[0] : addUsages(usages) })
      : "";
    return counts + done;
  }

  fail({ error }: DialectFault): string {
    return `data: ${JSON.stringify({ error })}\n\n`;
  }

  #event(members: JsonObject): string {
    const { id, created, model } = this.#head;
    return `data: ${JSON.stringify({ id, object: "text_completion", created, model, ...members })}\n\n`;
  }
}

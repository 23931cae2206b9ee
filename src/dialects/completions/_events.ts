/**
 * Converts chat chunks to the events of a streaming text completion.
 * @module
 */
import type { ChatCompletionChunk, CompletionUsage, JsonObject } from "../../contracts/openai.ts";
import type { DialectFault, EventTranslator } from "../dialect.ts";
import { addUsages, mapTextFinishReason, splitLogprobs } from "./_answer.ts";
import type { TextForm } from "./_request.ts";
import { toText } from "../../util/to_text.ts";

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

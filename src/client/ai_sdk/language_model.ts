/**
 * A language model of the `ai` package over a client.
 * @module
 */
import {
  callPart,
  fileParts,
  readMetadata,
  responseFacts,
  sourceParts,
  toContentParts,
  toFinishReason,
  toLanguageUsage,
  withDetails,
} from "./_response.ts";
import { toChatRequest } from "./_request.ts";
import { type ModelContext, toCallSettings, toModelFacts } from "./_settings.ts";
import type { GenerateResult, LanguageCallOptions, LanguageModel, StreamPart, StreamResult, Warning } from "./spec.ts";
import type { ChatCompletionChunk, CompletionUsage, Delta, JsonObject, ToolCallDelta } from "../../contracts/openai.ts";
import { StreamInterruptedError } from "../../errors.ts";
import { isObject } from "../../util/is_object.ts";
import type { ChatStream } from "../stream.ts";
import { addDetails } from "../../util/reasoning_details.ts";

/** Creates a language model. */
export function languageModel(context: ModelContext): LanguageModel {
  const { client, name } = context;
  return {
    ...toModelFacts(context),
    supportedUrls: {},
    async doGenerate(options: LanguageCallOptions): Promise<GenerateResult> {
      const { request, warnings } = toChatRequest(options, name);
      const body = await client.chat.completions.create(request, toCallSettings(options));
      const [choice] = body.choices;
      return {
        content: toContentParts(body),
        finishReason: toFinishReason(choice?.finish_reason, Boolean(choice?.message.refusal)),
        usage: toLanguageUsage(body.usage),
        warnings,
        providerMetadata: readMetadata(body),
        request: { body: request },
        response: { ...responseFacts(body), body },
      };
    },
    async doStream(options: LanguageCallOptions): Promise<StreamResult> {
      const { request, warnings } = toChatRequest(options, name);
      const streamed = { ...request, stream: true as const, stream_options: { include_usage: true } };
      const stream = await client.chat.completions.create(streamed, toCallSettings(options));
      return { stream: toStreamParts(stream, warnings), request: { body: streamed } };
    },
  };
}

/** A tool call whose input is still being streamed. */
interface UnfinishedCall {
  id: string;
  readonly type: "function";
  readonly function: { name: string; arguments: string };
  extra_content?: Record<string, unknown>;
  hasStarted: boolean;
}

/** Converts a stream. Chunks are pulled when the program reads. */
export function toStreamParts(stream: ChatStream, warnings: Warning[]): ReadableStream<StreamPart> {
  const chunks = stream[Symbol.asyncIterator]();
  const parts = new Parts(() => readMetadata(stream));
  return new ReadableStream<StreamPart>({
    start: (controller) => controller.enqueue({ type: "stream-start", warnings }),
    async pull(controller) {
      const emit = (all: readonly StreamPart[]) => all.forEach((part) => controller.enqueue(part));
      try {
        for (;;) {
          const { done, value } = await chunks.next();
          if (done === true) {
            emit(parts.end());
            controller.close();
            return;
          }
          const converted = parts.push(value);
          emit(converted);
          if (converted.length > 0) return;
        }
      } catch (error) {
        if (!StreamInterruptedError.isInstance(error)) return controller.error(error); // for example, an abort
        emit([{ type: "error", error }, ...parts.fail()]);
        controller.close();
      }
    },
    cancel: () => stream.cancel(),
  }, { highWaterMark: 0 });
}

class Parts {
  readonly #metadata: () => Record<string, unknown>;
  readonly #calls = new Map<number, UnfinishedCall>();
  #hasStarted = false;
  /** Kind of the open text block, and number of blocks so far. */
  #open: "text" | "reasoning" | undefined;
  #count = 0;
  /** Reasoning details that no block has yet. */
  readonly #details: JsonObject[] = [];
  readonly #sources = new Set<string>();
  #reason: string | null = null;
  #hasRefused = false;
  #usage: CompletionUsage | undefined;

  constructor(metadata: () => Record<string, unknown>) {
    this.#metadata = metadata;
  }

  push(chunk: ChatCompletionChunk): StreamPart[] {
    this.#usage = chunk.usage ?? this.#usage;
    const parts: StreamPart[] = [];
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      parts.push({ type: "response-metadata", ...responseFacts(chunk) });
    }
    for (const { index, delta, finish_reason } of chunk.choices) {
      if (index > 0) continue; // only the first choice is converted
      parts.push(...this.#continue(delta ?? {}));
      this.#reason = finish_reason ?? this.#reason;
    }
    return parts;
  }

  end(): StreamPart[] {
    const calls = [...this.#calls].sort(([first], [other]) => first - other).map(([, call]) => call);
    const parts = this.#close();
    if (this.#details.length > 0) {
      this.#open = "reasoning";
      parts.push({ type: "reasoning-start", id: this.#id }, ...this.#close());
    }
    return [
      ...parts,
      ...calls.flatMap((call): StreamPart[] => [
        ...(call.hasStarted ? [] : [this.#toCallStart(call)]),
        { type: "tool-input-end", id: call.id },
        callPart(call),
      ]),
      this.#finish(toFinishReason(this.#reason, this.#hasRefused)),
    ];
  }

  /** Ends the parts after an interrupted stream. The input of an open tool call may be incomplete. */
  fail(): StreamPart[] {
    return [...this.#close(), this.#finish({ unified: "error", raw: undefined })];
  }

  #finish(finishReason: ReturnType<typeof toFinishReason>): StreamPart {
    return { type: "finish", finishReason, usage: toLanguageUsage(this.#usage), providerMetadata: this.#metadata() };
  }

  #continue(delta: Delta): StreamPart[] {
    const { reasoning_content: reasoning = delta.reasoning, content, refusal, tool_calls } = delta;
    addDetails(this.#details, delta.reasoning_details);
    this.#hasRefused ||= typeof refusal === "string" && refusal !== "";
    return [
      ...this.#write("reasoning", reasoning),
      ...this.#write("text", content),
      ...this.#write("text", refusal),
      ...this.#closeWith(fileParts(delta.images)),
      ...this.#closeWith(sourceParts(delta.annotations, this.#sources)),
      ...(tool_calls ?? []).flatMap((call) => this.#call(call)),
    ];
  }

  #write(kind: "text" | "reasoning", delta: unknown): StreamPart[] {
    if (typeof delta !== "string" || delta === "") return [];
    const parts = this.#open === kind ? [] : this.#close();
    if (this.#open === undefined) {
      this.#open = kind;
      parts.push({ type: `${kind}-start`, id: this.#id });
    }
    return [...parts, { type: `${kind}-delta`, id: this.#id, delta }];
  }

  #close(): StreamPart[] {
    if (this.#open === undefined) return [];
    const part: StreamPart = this.#open === "reasoning"
      ? { type: "reasoning-end", id: this.#id, ...withDetails(this.#details.splice(0)) }
      : { type: "text-end", id: this.#id };
    this.#open = undefined;
    this.#count++;
    return [part];
  }

  #closeWith(parts: readonly StreamPart[]): StreamPart[] {
    return parts.length === 0 ? [] : [...this.#close(), ...parts];
  }

  get #id(): string {
    return String(this.#count);
  }

  #call({ index = 0, id, function: fn, extra_content: state }: ToolCallDelta): StreamPart[] {
    let call = this.#calls.get(index);
    if (call === undefined) {
      call = { id: "", type: "function", function: { name: "", arguments: "" }, hasStarted: false };
      this.#calls.set(index, call);
    }
    call.id ||= id ?? "";
    call.function.name ||= fn?.name ?? "";
    if (isObject(state)) call.extra_content = state;
    const parts: StreamPart[] = this.#close();
    if (!call.hasStarted && call.id !== "" && call.function.name !== "") parts.push(this.#toCallStart(call));
    const delta = fn?.arguments ?? "";
    call.function.arguments += delta;
    if (delta !== "" && call.hasStarted) parts.push({ type: "tool-input-delta", id: call.id, delta });
    return parts;
  }

  #toCallStart(call: UnfinishedCall): StreamPart {
    call.hasStarted = true;
    return { type: "tool-input-start", id: call.id, toolName: call.function.name };
  }
}

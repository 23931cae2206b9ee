/**
 * Converts chat chunks to the responses of `streamGenerateContent`: server-sent events, or items of one JSON array.
 * @module
 */
import type {
  Annotation,
  ChatCompletionChunk,
  CompletionUsage,
  Delta,
  JsonObject,
  ToolCallDelta,
} from "../../contracts/openai.ts";
import { appendAll } from "../../util/append_all.ts";
import { isObject } from "../../util/is_object.ts";
import { addDetails } from "../../util/reasoning_details.ts";
import type { DialectFault, EventTranslator } from "../dialect.ts";
import type { WebSearch } from "../web_search_results.ts";
import { formatCandidate, formatGeminiLogprobs, formatGeminiUsage, imageParts, lastParts } from "./_response.ts";
import { attachSignature } from "./_carried.ts";
import { formatGeminiError } from "./conventions.ts";
import { toGrounding } from "./_grounding.ts";

/** Format of a stream. */
interface StreamForm {
  readonly includesThoughts: boolean;
  /** Whether the stream is a JSON array rather than events. */
  readonly isArray: boolean;
}

/** An incomplete function call. It becomes one part, which is sent when complete. */
interface GeminiStreamedCall {
  id: string;
  readonly type: "function";
  readonly function: { name: string; arguments: string };
  extra_content?: JsonObject;
}

/** State of one candidate. */
interface Candidate {
  readonly calls: Map<number, GeminiStreamedCall>;
  /** Reasoning details that no part carries yet. */
  readonly details: JsonObject[];
  /** The text so far, and its annotations. */
  text: string;
  readonly annotations: Annotation[];
  reason: string | null;
  hasRefused: boolean;
}

/**
 * Translates a streaming response. The last event waits for the token counts, which arrive last in chat. Therefore a
 * stream that breaks off has no `finishReason`.
 */
export class ContentEvents implements EventTranslator {
  readonly contentType: string;
  /** White space between the items of an array has no meaning. */
  readonly heartbeat?: string;
  /** Native events are items of the array as well. */
  readonly native: EventTranslator["native"];
  readonly #form: StreamForm;
  readonly #candidates = new Map<number, Candidate>();
  readonly #queries: string[] = [];
  #items = 0;
  #head: JsonObject = {};
  #usage: CompletionUsage | undefined;

  constructor(form: StreamForm) {
    this.#form = form;
    this.contentType = form.isArray ? "application/json" : "text/event-stream";
    if (form.isArray) this.heartbeat = "\n";
    this.native = form.isArray
      ? { event: (text) => this.#item(text.replace(/^data: ?/gm, "").trim()), end: () => this.#last() }
      : undefined;
  }

  push({ id, model, choices, usage }: ChatCompletionChunk): string {
    this.#usage = usage ?? this.#usage;
    this.#head = { modelVersion: model, responseId: id };
    const candidates = choices.flatMap(({ index, delta, finish_reason: reason, logprobs }) => {
      const candidate = this.#candidateAt(index);
      if (reason) candidate.reason = reason;
      const parts = this.#toParts(candidate, delta ?? {});
      return parts.length === 0
        ? []
        : [{ content: { parts, role: "model" }, index, ...formatGeminiLogprobs(logprobs) }];
    });
    return candidates.length === 0 ? "" : this.#write({ candidates, ...this.#head });
  }

  /** The metadata of the response lists searches at its end. */
  searched({ query }: WebSearch): string {
    this.#queries.push(query);
    return "";
  }

  end(): string {
    const candidates = [...this.#candidates].map(
      ([index, { calls, details, text, annotations, reason, hasRefused }]) => {
        const inOrder = [...calls].sort(([first], [other]) => first - other).map(([, call]) => call);
        const candidate = formatCandidate(lastParts(inOrder, details), { index, reason, hasRefused });
        return { ...candidate, ...toGrounding(text, annotations, index === 0 ? this.#queries : []) };
      },
    );
    return this.#write({ candidates, usageMetadata: formatGeminiUsage(this.#usage), ...this.#head }) + this.#last();
  }

  fail(fault: DialectFault): string {
    return this.#write(formatGeminiError(fault)) + this.#last();
  }

  #candidateAt(index: number): Candidate {
    let candidate = this.#candidates.get(index);
    if (candidate === undefined) {
      candidate = { calls: new Map(), details: [], text: "", annotations: [], reason: null, hasRefused: false };
      this.#candidates.set(index, candidate);
    }
    return candidate;
  }

  #toParts(candidate: Candidate, delta: Delta): JsonObject[] {
    const { reasoning_content: reasoning = delta.reasoning, content, refusal, tool_calls } = delta;
    for (const call of tool_calls ?? []) addToolCall(candidate.calls, call);
    const parts: JsonObject[] = [];
    addDetails(candidate.details, delta.reasoning_details);
    if (this.#form.includesThoughts && typeof reasoning === "string" && reasoning !== "") {
      parts.push({ text: reasoning, thought: true });
    }
    if (typeof content === "string" && content !== "") {
      candidate.text += content;
      parts.push({ text: content, ...attachSignature({}, candidate.details) });
    }
    if (typeof refusal === "string" && refusal !== "") {
      candidate.hasRefused = true;
      parts.push({ text: refusal, ...attachSignature({}, candidate.details) });
    }
    if (Array.isArray(delta.annotations)) appendAll(candidate.annotations, delta.annotations);
    appendAll(parts, imageParts(delta.images));
    return parts;
  }

  #write(response: JsonObject): string {
    return this.#form.isArray ? this.#item(JSON.stringify(response)) : `data: ${JSON.stringify(response)}\n\n`;
  }

  #item(text: string): string {
    return `${this.#items++ === 0 ? "[" : ",\n"}${text}`;
  }

  #last(): string {
    if (!this.#form.isArray) return "";
    return this.#items === 0 ? "[]" : "]";
  }
}

function addToolCall(
  calls: Map<number, GeminiStreamedCall>,
  { index = 0, id, function: fn, extra_content: state }: ToolCallDelta,
) {
  let call = calls.get(index);
  if (call === undefined) {
    call = { id: "", type: "function", function: { name: "", arguments: "" } };
    calls.set(index, call);
  }
  call.id ||= id ?? "";
  call.function.name ||= fn?.name ?? "";
  call.function.arguments += fn?.arguments ?? "";
  if (isObject(state)) call.extra_content = state;
}

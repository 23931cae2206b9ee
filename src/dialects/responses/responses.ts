/**
 * The dialect of `POST /v1/responses`. No state is stored between requests.
 *
 * Source: https://platform.openai.com/docs/api-reference/responses
 * @module
 */
import type { ChatCompletion, ChatCompletionChunk, Delta, JsonObject } from "../../contracts/openai.ts";
import { countVendorTools, findTier } from "../../pipeline/estimate.ts";
import { shiftAnnotations } from "../../util/annotations.ts";
import { isObject } from "../../util/is_object.ts";
import type { Dialect, DialectFault, EventTranslator, ResponsePart, Translation } from "../dialect.ts";
import { findLoweredLimit } from "../native_limit.ts";
import type { WebSearch } from "../web_search_results.ts";
import { withoutOwn } from "./_carried.ts";
import type { ResponsesNativeOnly } from "./_native_only.ts";
import type { ResponseContext } from "./_response.ts";
import { ResponseOutput } from "./_output.ts";
import { convertResponsesRequest } from "./_request.ts";
import { ToolTable } from "./_tool_table.ts";
import { formatFailure, responsesConventions } from "./conventions.ts";

/** The Responses dialect: input and output consist of items. */
export const responses: Dialect = {
  ...responsesConventions,
  name: "responses",
  translate(value, _request, options) {
    const { chat, session, dropped, nativeOnly, table, search } = convertResponsesRequest(value, options?.searches);
    const body = value as JsonObject;
    const context = { body, table, name: options?.itemsName };
    return {
      chat,
      session,
      dropped,
      native: search === undefined
        ? createNativeResponses(body, nativeOnly, options?.carriesReasoning === true)
        : undefined,
      search,
      toResponse: (completion, before) => formatCompleteResponse(context, completion, before),
      events: () => new ResponseEvents(context),
    };
  },
  counting: {
    toCounted: (value) => value,
    formatCount: (input_tokens) => ({ object: "response.input_tokens", input_tokens }),
  },
};

const encryptedReasoning = "reasoning.encrypted_content";

/** Sampling parameters that chat shares, and that some models reject. */
const sampling: readonly string[] = ["temperature", "top_p"];

/**
 * The native request.
 *
 * @param body The validated body.
 * @param nativeOnly What only native providers support.
 * @param carriesReasoning Whether reasoning is requested in a form that the next request can contain.
 */
function createNativeResponses(
  body: JsonObject,
  { error, isPreferred, pinned }: ResponsesNativeOnly,
  carriesReasoning: boolean,
): Translation["native"] {
  const { input, reasoning } = body;
  const cleaned = Array.isArray(input) ? withoutOwn(input) : input;
  const own = cleaned === input ? {} : { input: cleaned };
  const include = carriesReasoning ? addEncrypted(body.include) : undefined;
  const isReasoned = isObject(reasoning) && typeof reasoning.effort === "string";
  return {
    edits: (model, reworded) => ({
      model,
      ...own,
      ...(include === undefined || "include" in reworded ? {} : { include }),
      ...(isReasoned && "reasoning_effort" in reworded
        ? { reasoning: withEffort(reasoning, reworded.reasoning_effort) }
        : {}),
      ...withLimit(findLoweredLimit(body.max_output_tokens, reworded)),
      ...Object.fromEntries(sampling.filter((name) => name in reworded).map((name) => [name, reworded[name]])),
    }),
    adds: include === undefined ? [] : ["include"],
    names: { max_tokens: "max_output_tokens", reasoning_effort: "reasoning" },
    headers: {},
    fees: { ...countVendorTools(body), ...findTier(body) },
    only: error,
    isPreferred,
    pinned,
  };
}

/** The value of `include` that requests encrypted reasoning; undefined if it does so already. */
function addEncrypted(include: unknown): readonly unknown[] | undefined {
  const others = Array.isArray(include) ? include : [];
  return others.includes(encryptedReasoning) ? undefined : [...others, encryptedReasoning];
}

/** A model that rejects the effort rejects the whole member. */
function withEffort(reasoning: JsonObject, effort: unknown): JsonObject | undefined {
  return effort === undefined ? undefined : { ...reasoning, effort };
}

function withLimit(max_output_tokens: number | undefined): JsonObject {
  return max_output_tokens === undefined ? {} : { max_output_tokens };
}

/**
 * Converts a complete response.
 *
 * @param completion The response; its first choice is used, since Responses supports one.
 * @param before What comes before it.
 */
function formatCompleteResponse(
  context: ResponseContext,
  completion: ChatCompletion,
  before: readonly ResponsePart[] = [],
): JsonObject {
  const output = new ResponseOutput(context, () => {});
  output.start(completion);
  let length = 0;
  for (const { search, message } of before) {
    if (search !== undefined) output.search(search);
    else {
      output.add({ choices: [{ index: 0, delta: message as Delta, finish_reason: null }] });
      length += message.content?.length ?? 0;
    }
  }
  const choices = completion.choices.map(({ message, ...choice }) => {
    const { annotations } = message;
    const moved = Array.isArray(annotations) ? { annotations: shiftAnnotations(annotations, length) } : {};
    return { ...choice, delta: { ...message, ...moved } };
  });
  output.add({ choices: choices as ChatCompletionChunk["choices"], usage: completion.usage ?? null });
  return output.end();
}

/** Translates a streaming response. */
export class ResponseEvents implements EventTranslator {
  readonly #output: ResponseOutput;
  /** Events that are not yet sent. */
  #text = "";
  #number = 0;

  /** @param context The request; with no tools by default. */
  constructor(context: Omit<ResponseContext, "table"> & Partial<ResponseContext>) {
    this.#output = new ResponseOutput({ table: new ToolTable(), ...context }, (type, event) => {
      this.#text += `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#number++, ...event })}\n\n`;
    });
  }

  push(chunk: ChatCompletionChunk): string {
    if (!this.#output.hasStarted) this.#output.start(chunk);
    this.#output.add(chunk);
    return this.#take();
  }

  searched(search: WebSearch): string {
    this.#output.search(search);
    return this.#take();
  }

  end(): string {
    this.#output.end();
    return this.#take();
  }

  fail(fault: DialectFault): string {
    this.#output.fail(formatFailure(fault));
    return this.#take();
  }

  passed(chunk: ChatCompletionChunk): void {
    if (!this.#output.hasStarted) {
      this.#output.start(chunk, chunk.id);
      this.#take();
      this.#number = 0;
    }
    this.#number++;
  }

  #take(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }
}

/**
 * The dialect of `POST /v1beta/models/{model}:generateContent` and `:streamGenerateContent`.
 *
 * Source: https://ai.google.dev/api/generate-content and the types of `@google/genai` 3.1.0, read 2026-11-23.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { findTier, sumCalls, toFees, type VendorFees } from "../../pipeline/estimate.ts";
import { isObject } from "../../util/is_object.ts";
import { readPath } from "../../util/request_path.ts";
import type { Dialect, DialectRequest, Translation } from "../dialect.ts";
import { findLoweredLimit } from "../native_limit.ts";
import type { NativeOnly } from "../native_only.ts";
import { findAddress, findParameter } from "./address.ts";
import { formatGeminiResponse } from "./_response.ts";
import { isForeignSignature } from "./_carried.ts";
import { ContentEvents } from "./_events.ts";
import { convertGeminiRequest } from "./_request.ts";
import { geminiConventions } from "./conventions.ts";

/** The Gemini dialect: the URL contains the model, messages are contents with parts. */
export const gemini: Dialect = {
  name: "generateContent",
  ...geminiConventions,
  translate(value, request, options) {
    const target = { ...findGeminiTarget(request), ...options };
    const { chat, includesThoughts, dropped, nativeOnly, search } = convertGeminiRequest(value, target);
    const isArray = findParameter(request.url, "alt") !== "sse";
    return {
      chat,
      dropped,
      native: search === undefined ? createNativeGemini(value as JsonObject, nativeOnly) : undefined,
      search,
      toResponse: (completion, before) => formatGeminiResponse(completion, { includesThoughts, before }),
      events: () => new ContentEvents({ includesThoughts, isArray }),
    };
  },
  counting: {
    toCounted(value) {
      const inner = isObject(value) ? value.generateContentRequest ?? value.generate_content_request : undefined;
      return inner ?? value;
    },
    formatCount: (tokens) => ({ totalTokens: tokens }),
  },
};

function findGeminiTarget({ url }: DialectRequest): { readonly model: string; readonly stream: boolean } {
  const { model, method } = findAddress(readPath(url))!;
  return { model, stream: method === "streamGenerateContent" };
}

/**
 * The native request.
 *
 * @param body The validated body.
 * @param nativeOnly What only models with native support can take.
 */
function createNativeGemini(
  body: JsonObject,
  { error, isPreferred }: NativeOnly,
): Translation["native"] {
  const contents = body.contents as readonly JsonObject[];
  const own = contents.some(hasForeign) ? { contents: contents.flatMap(omitForeignParts) } : {};
  const config = body.generationConfig ?? body.generation_config;
  return {
    edits: (_model, inChat) => ({
      model: undefined, // the URL contains it
      ...own,
      ...(isObject(config) ? withLoweredLimit(config, inChat) : {}),
    }),
    names: { max_tokens: "generationConfig" },
    headers: {},
    fees: { ...countGeminiTools(body.tools), ...findTier(body) },
    only: error,
    isPreferred,
  };
}

/** Kinds of tools that the client runs, or that cost only the tokens they produce; in both spellings. */
const withoutFee: ReadonlySet<string> = new Set([
  ...["functionDeclarations", "codeExecution", "urlContext", "computerUse"],
  ...["function_declarations", "code_execution", "url_context", "computer_use"],
]);

/** Kinds of tools that search the web. */
const searching = /^(google|enterpriseWeb|enterprise_web)_?search/i;

function countGeminiTools(tools: unknown): VendorFees | undefined {
  const kinds = (Array.isArray(tools) ? tools : []).flatMap((tool) => isObject(tool) ? Object.keys(tool) : [])
    .filter((name) => !withoutFee.has(name));
  const searches = kinds.filter((name) => searching.test(name));
  return toFees({ searches: sumCalls(searches), toolCalls: sumCalls(kinds) - sumCalls(searches) });
}

/** Both spellings are removed, since only one of them may be sent. */
function withLoweredLimit(config: JsonObject, inChat: Readonly<Record<string, unknown>>): JsonObject {
  const { maxOutputTokens, max_output_tokens, ...others } = config;
  const limit = findLoweredLimit(maxOutputTokens ?? max_output_tokens, inChat);
  if (limit === undefined) return {};
  return { generation_config: undefined, generationConfig: { ...others, maxOutputTokens: limit } };
}

function hasForeign({ parts }: JsonObject): boolean {
  return Array.isArray(parts) && parts.some(isForeignPart);
}

function isForeignPart(part: unknown): boolean {
  return isObject(part) && isForeignSignature(part.thoughtSignature ?? part.thought_signature);
}

/** Nothing is left of a part that only carries state; the API rejects empty text. */
function omitForeignParts(content: JsonObject): JsonObject[] {
  if (!hasForeign(content)) return [content];
  const parts = (content.parts as JsonObject[]).flatMap((part) => {
    if (!isForeignPart(part)) return [part];
    const { thoughtSignature: _, thought_signature: __, ...own } = part;
    return own.text === "" ? [] : [own];
  });
  return parts.length === 0 ? [] : [{ ...content, parts }];
}

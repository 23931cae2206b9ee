/**
 * The dialect of `POST /v1beta/models/{model}:generateContent` and `:streamGenerateContent`.
 *
 * Source: https://ai.google.dev/api/generate-content and the types of `@google/genai` 3.1.0, read 2026-11-23.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { isObject } from "../../util/is_object.ts";
import { readPath } from "../../util/request_path.ts";
import type { Dialect, DialectRequest } from "../dialect.ts";
import { findAddress, findParameter } from "./address.ts";
import { formatGeminiResponse } from "./_answer.ts";
import { ContentEvents } from "./_events.ts";
import { createNativeGemini } from "./_native.ts";
import { convertGeminiRequest } from "./_request.ts";
import { geminiWords } from "./words.ts";

/** The Gemini dialect: the URL contains the model, messages are contents with parts. */
export const gemini: Dialect = {
  name: "generateContent",
  ...geminiWords,
  translate(value, request) {
    const { chat, includesThoughts, dropped, nativeOnly } = convertGeminiRequest(value, findGeminiTarget(request));
    const isArray = findParameter(request.url, "alt") !== "sse";
    return {
      chat,
      dropped,
      native: createNativeGemini(value as JsonObject, nativeOnly),
      toResponse: (completion) => formatGeminiResponse(completion, includesThoughts),
      events: () => new ContentEvents({ includesThoughts, isArray }),
    };
  },
  counting: {
    toCountedChat(value, request) {
      const inner = isObject(value) ? value.generateContentRequest ?? value.generate_content_request : undefined;
      return convertGeminiRequest(inner ?? value, findGeminiTarget(request)).chat;
    },
    formatCount: (tokens) => ({ totalTokens: tokens }),
  },
};

function findGeminiTarget({ url }: DialectRequest): { readonly model: string; readonly stream: boolean } {
  const { model, method } = findAddress(readPath(url))!;
  return { model, stream: method === "streamGenerateContent" };
}

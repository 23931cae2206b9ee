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
import { addressOf, parameterOf } from "./address.ts";
import { responseOf } from "./_answer.ts";
import { ContentEvents } from "./_events.ts";
import { nativeOf } from "./_native.ts";
import { chatRequestOf } from "./_request.ts";
import { geminiWords } from "./words.ts";

/** The Gemini dialect: the URL contains the model, messages are contents with parts. */
export const gemini: Dialect = {
  name: "generateContent",
  ...geminiWords,
  translate(value, request) {
    const { chat, includesThoughts, dropped, nativeOnly } = chatRequestOf(value, targetOf(request));
    const isArray = parameterOf(request.url, "alt") !== "sse";
    return {
      chat,
      dropped,
      native: nativeOf(value as JsonObject, nativeOnly),
      whole: (completion) => responseOf(completion, includesThoughts),
      events: () => new ContentEvents({ includesThoughts, isArray }),
    };
  },
  counting: {
    chatOf(value, request) {
      const whole = isObject(value) ? value.generateContentRequest ?? value.generate_content_request : undefined;
      return chatRequestOf(whole ?? value, targetOf(request)).chat;
    },
    bodyOf: (tokens) => ({ totalTokens: tokens }),
  },
};

function targetOf({ url }: DialectRequest): { readonly model: string; readonly stream: boolean } {
  const { model, method } = addressOf(readPath(url))!;
  return { model, stream: method === "streamGenerateContent" };
}

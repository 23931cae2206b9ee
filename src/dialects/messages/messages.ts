/**
 * The dialect of `POST /v1/messages`.
 *
 * Source: https://platform.claude.com/docs/en/api/messages
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { isObject } from "../../util/is_object.ts";
import type { Dialect } from "../dialect.ts";
import { messageOf } from "./_answer.ts";
import { MessageEvents } from "./_events.ts";
import { nativeOf } from "./_native.ts";
import { chatRequestOf } from "./_request.ts";
import { messagesWords } from "./words.ts";

/**
 * The Messages dialect: `system` is separate from the conversation, content consists of blocks, tool results are part
 * of the user's turn.
 */
export const messages: Dialect = {
  ...messagesWords,
  name: "messages",
  translate(value, { headers }) {
    const { chat, session, dropped, nativeOnly } = chatRequestOf(value);
    const stops = chat.stop as string[] | undefined;
    return {
      chat,
      session,
      dropped,
      native: nativeOf(value as JsonObject, { headers, nativeOnly }),
      whole: (completion) => messageOf(completion, stops),
      events: () => new MessageEvents(stops),
    };
  },
  counting: {
    chatOf: (value) => chatRequestOf(isObject(value) ? { max_tokens: 1, ...value } : value).chat,
    bodyOf: (tokens) => ({ input_tokens: tokens }),
  },
};

/**
 * The dialect of `POST /v1/messages`.
 *
 * Source: https://platform.claude.com/docs/en/api/messages
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { isObject } from "../../util/is_object.ts";
import type { Dialect } from "../dialect.ts";
import { formatMessage } from "./_answer.ts";
import { MessageEvents } from "./_events.ts";
import { createNativeMessages } from "./_native.ts";
import { convertMessagesRequest } from "./_request.ts";
import { messagesWords } from "./words.ts";

/**
 * The Messages dialect: `system` is separate from the conversation, content consists of blocks, tool results are part
 * of the user's turn.
 */
export const messages: Dialect = {
  ...messagesWords,
  name: "messages",
  translate(value, { headers }) {
    const { chat, session, dropped, nativeOnly } = convertMessagesRequest(value);
    const stops = chat.stop as string[] | undefined;
    return {
      chat,
      session,
      dropped,
      native: createNativeMessages(value as JsonObject, { headers, nativeOnly }),
      toResponse: (completion) => formatMessage(completion, stops),
      events: () => new MessageEvents(stops),
    };
  },
  counting: {
    toCountedChat: (value) => convertMessagesRequest(isObject(value) ? { max_tokens: 1, ...value } : value).chat,
    formatCount: (tokens) => ({ input_tokens: tokens }),
  },
};

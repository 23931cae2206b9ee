/**
 * The dialect of `POST /v1/responses`. No state is stored between requests.
 *
 * Source: https://platform.openai.com/docs/api-reference/responses
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import type { Dialect } from "../dialect.ts";
import { formatCompleteResponse, ResponseEvents } from "./_events.ts";
import { createNativeResponses } from "./_native.ts";
import { convertResponsesRequest } from "./_request.ts";
import { responsesWords } from "./words.ts";

/** The Responses dialect: input and output consist of items. */
export const responses: Dialect = {
  ...responsesWords,
  name: "responses",
  translate(value) {
    const { chat, session, dropped, nativeOnly } = convertResponsesRequest(value);
    const body = value as JsonObject;
    return {
      chat,
      session,
      dropped,
      native: createNativeResponses(body, nativeOnly),
      toResponse: (completion) => formatCompleteResponse(body, completion),
      events: () => new ResponseEvents(body),
    };
  },
};

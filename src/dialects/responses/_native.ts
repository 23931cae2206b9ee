/**
 * The request for providers of Responses themselves: what the client wrote, without what only we and other models know.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import type { UnsupportedRequestError } from "../../errors.ts";
import { isObject } from "../../util/is_object.ts";
import type { Translation } from "../dialect.ts";
import { withoutOwn } from "./_carried.ts";

/** Members that are the same in chat, and that some models refuse. */
const sampling: readonly string[] = ["temperature", "top_p"];

/**
 * The native form of a request.
 *
 * @param body Checked.
 * @param pinned The error where it goes to models of other providers, too.
 */
export function nativeOf(body: JsonObject, pinned: UnsupportedRequestError | undefined): Translation["native"] {
  const { input, reasoning } = body;
  const cleaned = Array.isArray(input) ? withoutOwn(input) : input;
  const own = cleaned === input ? {} : { input: cleaned };
  const isReasoned = isObject(reasoning) && typeof reasoning.effort === "string";
  return {
    edits: (model, reworded) => ({
      model,
      ...own,
      // a model may have another word for an effort
      ...(isReasoned && "reasoning_effort" in reworded
        ? { reasoning: { ...reasoning, effort: reworded.reasoning_effort } }
        : {}),
      ...Object.fromEntries(sampling.filter((name) => name in reworded).map((name) => [name, reworded[name]])),
    }),
    headers: {},
    pinned,
  };
}

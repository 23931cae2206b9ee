/**
 * The kinds of text in the output of a response, and the scores of its tokens.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";

/** A kind of text, with the names in its events. */
export interface TextKind {
  /** Type of the item. */
  readonly itemType: "message" | "reasoning";
  /** Type of the part. */
  readonly type: string;
  /** Member of the part with the text, also in its final event. */
  readonly member: "text" | "refusal";
  /** Infix of the event names. */
  readonly event: string;
  readonly partEvent: string;
  /** Member with the index of the part. */
  readonly indexName: "content_index" | "summary_index";
  /** Further members of the part. */
  readonly more: () => JsonObject;
}

const messageKind: Pick<TextKind, "itemType" | "partEvent" | "indexName"> = {
  itemType: "message",
  partEvent: "response.content_part",
  indexName: "content_index",
};

/** The kinds of text. */
export const kinds: Readonly<Record<"thoughts" | "text" | "refusal", TextKind>> = {
  thoughts: {
    itemType: "reasoning",
    type: "summary_text",
    member: "text",
    event: "response.reasoning_summary_text",
    partEvent: "response.reasoning_summary_part",
    indexName: "summary_index",
    more: () => ({}),
  },
  text: {
    ...messageKind,
    type: "output_text",
    member: "text",
    event: "response.output_text",
    more: () => ({ annotations: [], logprobs: [] }),
  },
  refusal: { ...messageKind, type: "refusal", member: "refusal", event: "response.refusal", more: () => ({}) },
};

/** The score of a token; chat may omit the bytes. */
export function formatScore({ token, logprob, bytes, top_logprobs: top }: JsonObject): JsonObject {
  const others = Array.isArray(top)
    ? top.map(({ token, logprob, bytes }) => ({ token, logprob, bytes: bytes ?? [] }))
    : [];
  return { token, logprob, bytes: bytes ?? [], top_logprobs: others };
}

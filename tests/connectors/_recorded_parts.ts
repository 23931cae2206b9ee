/**
 * What the recorded responses of vendors of OpenAI's dialect are made of.
 * @module
 */
import type { FailureKind } from "../../src/contracts/provider.ts";
import type { RateReading } from "../../src/util/rate_headers.ts";

/** What one vendor answers. */
export interface Recorded {
  /** Error responses, and what they are. */
  readonly errors: readonly (readonly [status: number, body: unknown, kind: FailureKind])[];
  /** Headers about rate limits, and what they say. */
  readonly rates?: readonly [Readonly<Record<string, string>>, RateReading];
  /** A stream that says "Hello there": the data of its events, or a comment. */
  readonly events: readonly (string | object)[];
  /** What it thinks in that stream. */
  readonly thoughts?: string;
  /** Tokens read and written in that stream; null where it reports none. */
  readonly usage: readonly [number, number] | null;
  /** What `GET /models` answers for the models `one` and `two`. */
  readonly models?: unknown;
  /** Where it is asked for its models and what it answers, page by page, where that is another path, and what is listed then. */
  readonly ownList?: {
    readonly pages: readonly (readonly [path: string, body: unknown])[];
    readonly ids: readonly string[];
  };
}

const head = { id: "c1", object: "chat.completion.chunk", created: 1_790_000_000, model: "one" };
const piece = (delta: object, finish: string | null = null, more: object = {}) => ({
  index: 0,
  delta,
  finish_reason: finish,
  ...more,
});
/** An event of a stream. */
export const chunk = (delta: object, more: object = {}, choice: object = {}): object => ({
  ...head,
  choices: [piece(delta, null, choice)],
  ...more,
});
/** The event that ends a choice. */
export const end = (reason = "stop", more: object = {}, choice: object = {}): object => ({
  ...head,
  choices: [piece({}, reason, choice)],
  ...more,
});
/** The usage of a stream. */
export const counts = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
/** The event with the usage of a stream. */
export const counted = (more: object = {}, usage: object = {}): object => ({
  ...head,
  choices: [],
  usage: { ...counts, ...usage },
  ...more,
});
/** Events that say "Hello there". */
export const hello = (more: object = {}, choice: object = {}): object[] => [
  chunk({ role: "assistant", content: "" }, more, choice),
  chunk({ content: "Hello" }, more, choice),
  chunk({ content: " there" }, more, choice),
];
/** An error of OpenAI's shape. */
export const fault = (message: string, type: string, code: unknown = null, param: unknown = null): object => ({
  error: { message, type, param, code },
});
/** A list of models of OpenAI's shape. */
export const list = (more: object = {}): object => ({
  object: "list",
  data: ["one", "two"].map((id) => ({ id, object: "model", created: 1, owned_by: "x", ...more })),
});
/** Headers of one limit. */
export const perMinute = (name: string, limit: number, remaining: number, reset: string): Record<string, string> => ({
  [`x-ratelimit-limit-${name}`]: String(limit),
  [`x-ratelimit-remaining-${name}`]: String(remaining),
  [`x-ratelimit-reset-${name}`]: reset,
});

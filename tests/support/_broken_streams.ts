/**
 * Providers whose streams break, as tables: behaviour, outcome in the records, state of the model afterwards.
 * @module
 */
import { refusing } from "./_failover.ts";
import {
  type Behaviour,
  errorIn200,
  formatHead,
  html200,
  raw,
  reset,
  status,
  stream,
  type StreamOptions,
  truncatedJson,
} from "./upstream.ts";

/** Two unreadable events in a row; a single one is skipped. */
const brokenJson = 'data: {"choices":[{"del\n\ndata: {"choices":[{"del';

/** A failure before the first content. */
interface EarlyRow {
  readonly name: string;
  readonly behaviour: Behaviour | typeof refusing;
  readonly outcome: string;
  /** Number of calls. @default 3 */
  readonly calls?: number;
  readonly state?: string;
}

const sse = (text: string) => raw(formatHead(200, { "content-type": "text/event-stream" }) + text);
/** A stream that is truncated at a position. */
export const cutAfter = (
  after: "headers" | number,
  how: "end" | "close" | "reset",
  options: StreamOptions = {},
): Behaviour => stream({ ...options, cut: { after, how } });
/** A stream with an error before any content. */
export const errorFirst = (error: Record<string, unknown>, after: "headers" | 0 = "headers"): Behaviour =>
  stream({ error: { after, error } });
/** An event without content, of 130 characters. */
const contentless = `data: ${
  JSON.stringify({
    id: "1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta: {}, finish_reason: null }],
  })
}\n\n`;

/** Streams that fail before their first content. */
export const earlyBreaks: readonly EarlyRow[] = [
  { name: "500", behaviour: status(500), outcome: "server" },
  { name: "401", behaviour: status(401), outcome: "auth", calls: 1 },
  { name: "nobody who listens", behaviour: refusing, outcome: "network", calls: 1 },
  { name: "a reset at once", behaviour: reset(), outcome: "network" },
  { name: "the head, then a clean end", behaviour: cutAfter("headers", "end"), outcome: "invalid_response" },
  { name: "the head, then a close", behaviour: cutAfter("headers", "close"), outcome: "network" },
  { name: "the head, then a reset", behaviour: cutAfter("headers", "reset"), outcome: "network" },
  { name: "the role, then a clean end", behaviour: cutAfter(0, "end"), outcome: "invalid_response" },
  { name: "the role, then a close", behaviour: cutAfter(0, "close"), outcome: "network" },
  { name: "the role, then a reset", behaviour: cutAfter(0, "reset"), outcome: "network" },
  { name: "comments, then a clean end", behaviour: sse(": ping\n\n".repeat(9)), outcome: "invalid_response" },
  { name: "[DONE] alone", behaviour: sse("data: [DONE]\n\n"), outcome: "invalid_response" },
  { name: "60 KiB without content", behaviour: sse(contentless.repeat(460)), outcome: "invalid_response" },
  { name: "an error first", behaviour: errorFirst({}), outcome: "server" },
  { name: "an error after the role", behaviour: errorFirst({}, 0), outcome: "server" },
  { name: "an overload first", behaviour: errorFirst({ code: 529 }), outcome: "server" },
  { name: "a rate limit first", behaviour: errorFirst({ code: "rate_limit_exceeded" }), outcome: "rate_limited" },
  {
    name: "no quota first",
    behaviour: errorFirst({ code: "insufficient_quota" }),
    outcome: "quota_exhausted",
    calls: 1,
    state: "quota_exhausted for 21600s",
  },
  { name: "a bad key first", behaviour: errorFirst({ code: "invalid_api_key" }), outcome: "auth", calls: 1 },
  {
    name: "broken JSON first",
    behaviour: stream({ garbage: { after: "headers", text: brokenJson } }),
    outcome: "invalid_response",
  },
  {
    name: "broken JSON after the role",
    behaviour: stream({ garbage: { after: 0, text: brokenJson } }),
    outcome: "invalid_response",
  },
  {
    name: "an event named error",
    behaviour: sse('event: error\ndata: {"message":"Overloaded"}\n\ndata: [DONE]\n\n'),
    outcome: "server",
  },
  { name: "data: null", behaviour: sse("data: null\n\n"), outcome: "invalid_response" },
  { name: "a web page", behaviour: html200(), outcome: "invalid_response" },
  { name: "JSON that breaks off", behaviour: truncatedJson(), outcome: "invalid_response" },
  { name: "JSON that is an error", behaviour: errorIn200(), outcome: "server" },
];

/** A failure after the first content: "one" and, by default, " two". */
interface LateRow {
  readonly name: string;
  readonly breaks: StreamOptions;
  readonly pieces?: 1;
}

/** Streams that fail after their first content. */
export const lateBreaks: readonly LateRow[] = [
  ...(["end", "close", "reset"] as const).flatMap((how): LateRow[] => [
    { name: `${how} after the first piece`, breaks: { cut: { after: 1, how } }, pieces: 1 },
    { name: `${how} after the second piece`, breaks: { cut: { after: 2, how } } },
  ]),
  { name: "an error after the first piece", breaks: { error: { after: 1 } }, pieces: 1 },
  { name: "a rate limit after the second piece", breaks: { error: { after: 2, error: { code: 429 } } } },
  {
    name: "an event named error after the first piece",
    breaks: { garbage: { after: 1, text: 'event: error\ndata: {"message":"Overloaded"}' } },
    pieces: 1,
  },
  { name: "broken JSON after the first piece", breaks: { garbage: { after: 1, text: brokenJson } }, pieces: 1 },
  { name: "broken JSON after the second piece", breaks: { garbage: { after: 2, text: brokenJson } } },
  { name: "data: null after the second piece", breaks: { garbage: { after: 2, text: "data: null\n\ndata: null" } } },
  { name: "no finish reason and no [DONE]", breaks: { finishReason: null, done: false, usage: null } },
];

/**
 * Requests and responses of each dialect's clients, for the pool `chat`.
 * @module
 */
import { assertEquals } from "@std/assert";
import { parseEvents } from "./_responses.ts";

/** The client of a dialect. */
export interface DialectClient {
  /** Its endpoint. */
  readonly name: string;
  /** Returns a request to the pool `chat`. */
  request(isStream: boolean): { readonly path: string; readonly body: object };
  /** Returns the text of a non-streaming response. */
  // deno-lint-ignore no-explicit-any
  joinOutput(answer: any): string;
  /** Returns the text of a stream, and how it ended. */
  readStream(text: string): { readonly text: string; readonly end: "complete" | "error" | "nothing" };
  /** Returns type and message of an error response. */
  // deno-lint-ignore no-explicit-any
  errorOf(answer: any): { readonly type: string; readonly message: string };
  /** Returns the expected error type for a row of the error table. */
  typeOf(row: { readonly status: number; readonly code: string }): string;
}

const messages: DialectClient = {
  name: "messages",
  request: (stream) => ({
    path: "/v1/messages",
    body: { model: "chat", max_tokens: 64, messages: [{ role: "user", content: "Hi" }], stream },
  }),
  joinOutput: ({ content }) => content.map(({ text = "" }) => text).join(""),
  readStream(text) {
    const events = text.split("\n\n").slice(0, -1).map((event) => {
      const [, name, data] = /^event: (\w+)\ndata: (.+)$/.exec(event)!;
      return { name, data: JSON.parse(data!) };
    });
    const last = events.at(-1)?.name;
    return {
      text: events.map(({ data }) => data.delta?.text ?? "").join(""),
      end: last === "message_stop" ? "complete" : last === "error" ? "error" : "nothing",
    };
  },
  errorOf: ({ error }) => error,
  typeOf: ({ status }) => ({ 429: "rate_limit_error", 503: "overloaded_error" })[status] ?? "api_error",
};

const gemini: DialectClient = {
  name: "generateContent",
  request: (isStream) => ({
    path: `/v1beta/models/chat:${isStream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: { contents: [{ parts: [{ text: "Hi" }] }] },
  }),
  joinOutput: ({ candidates: [{ content }] }) => content.parts.map(({ text = "" }) => text).join(""),
  readStream(text) {
    const events = text.split("\n\n").slice(0, -1).map((event) => JSON.parse(event.slice("data: ".length)));
    const candidates = events.flatMap(({ candidates = [] }) => candidates);
    const isWhole = candidates.at(-1)?.finishReason !== undefined;
    return {
      text: candidates.flatMap(({ content }) => content.parts).map(({ text = "" }) => text).join(""),
      end: events.at(-1)?.error === undefined ? isWhole ? "complete" : "nothing" : isWhole ? "nothing" : "error",
    };
  },
  errorOf: ({ error: { status, message } }) => ({ type: status, message }),
  typeOf: ({ status }) =>
    ({ 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 504: "DEADLINE_EXCEEDED" })[status] ?? "UNAVAILABLE",
};

const responses: DialectClient = {
  name: "responses",
  request: (stream) => ({ path: "/v1/responses", body: { model: "chat", input: "Hi", stream } }),
  joinOutput: ({ output }) => textOf(output),
  readStream(text) {
    const events = parseEvents(text);
    const { type, response } = events.at(-1)!;
    const { output, error } = response as { output: Item[]; error: { code: string } | null };
    assertEquals(
      textOf(output),
      events.map((event) => event.type === "response.output_text.delta" ? event.delta : "").join(""),
    );
    const isBroken = type === "response.failed" && error?.code === "stream_interrupted";
    return { text: textOf(output), end: type === "response.completed" ? "complete" : isBroken ? "error" : "nothing" };
  },
  errorOf: ({ error }) => error,
  typeOf: ({ status, code }) =>
    status !== 429 ? "server_error" : code === "insufficient_quota" ? code : "rate_limit_error",
};

/** An item of a response. */
interface Item {
  readonly content?: readonly { readonly text?: string }[];
}

function textOf(output: readonly Item[]): string {
  return output.flatMap(({ content = [] }) => content.map(({ text = "" }) => text)).join("");
}

const completions: DialectClient = {
  name: "completions",
  request: (stream) => ({ path: "/v1/completions", body: { model: "chat", prompt: "Hi", stream } }),
  joinOutput: ({ choices }) => choices[0].text,
  readStream(text) {
    const events = text.split("\n\n").slice(0, -1).map((event) => event.slice("data: ".length));
    const isWhole = events.at(-1) === "[DONE]";
    const all = (isWhole ? events.slice(0, -1) : events).map((event) => JSON.parse(event));
    return {
      text: all.flatMap(({ choices = [] }) => choices).map(({ text }) => text).join(""),
      end: isWhole ? "complete" : all.at(-1)?.error === undefined ? "nothing" : "error",
    };
  },
  errorOf: ({ error }) => error,
  typeOf: responses.typeOf,
};

/** The clients of all dialects. */
export const dialectClients: readonly DialectClient[] = [messages, responses, gemini, completions];

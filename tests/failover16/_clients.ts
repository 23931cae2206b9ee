/**
 * The clients of four dialects: their requests, and what they read of the responses.
 * @module
 */

// deno-lint-ignore no-explicit-any -- what a response has is what the test finds out
type Answer = any;

/** What a client reads of a response. */
export interface Reading {
  readonly text: string;
  /** Whether the response is complete, ends with an error, or just ends. */
  readonly end: "complete" | "error" | "nothing";
  /** The model that it names. */
  readonly model?: string | undefined;
  /** Output tokens. */
  readonly tokens?: number | undefined;
  /** The message of an error. */
  readonly error?: string | undefined;
}

/** The client of a dialect. */
export interface ChatClient {
  readonly name: string;
  request(isStream: boolean): { readonly path: string; readonly body: object };
  readWhole(answer: Answer): Reading;
  readStream(text: string): Reading;
}

const messages = [{ role: "user", content: "Count" }];

/** The data of events that are complete; comments and pings are left out. */
function readData(text: string): string[] {
  const events = text.split("\n\n").slice(0, -1).filter((event) => !event.startsWith(":"));
  return events.map((event) => /^data: (.*)$/m.exec(event)?.[1] ?? "").filter((line) => line !== "");
}

function withError(reading: Reading, error: Answer): Reading {
  return error ? { ...reading, end: "error", error: error.message } : reading;
}

const chat: ChatClient = {
  name: "chat",
  request: (stream) => ({
    path: "/v1/chat/completions",
    body: { messages, ...(stream ? { stream, stream_options: { include_usage: true } } : {}) },
  }),
  readWhole: ({ choices = [], model, usage, error }) =>
    withError({
      text: choices[0]?.message.content ?? "",
      end: choices[0]?.finish_reason === "stop" ? "complete" : "nothing",
      model,
      tokens: usage?.completion_tokens,
    }, error),
  readStream(text) {
    const lines = readData(text);
    const isDone = lines.at(-1) === "[DONE]";
    const chunks: Answer[] = (isDone ? lines.slice(0, -1) : lines).map((line) => JSON.parse(line));
    const choices = chunks.flatMap(({ choices = [] }) => choices);
    return withError({
      text: choices.map(({ delta }) => delta.content ?? "").join(""),
      end: isDone && choices.some(({ finish_reason }) => finish_reason === "stop") ? "complete" : "nothing",
      model: chunks[0]?.model,
      tokens: chunks.findLast(({ usage }) => usage)?.usage.completion_tokens,
    }, chunks.at(-1)?.error);
  },
};

const claude: ChatClient = {
  name: "messages",
  request: (stream) => ({ path: "/v1/messages", body: { messages, max_tokens: 100, stream } }),
  readWhole: ({ content = [], model, usage, stop_reason, error }) =>
    withError({
      text: content.map(({ text = "" }) => text).join(""),
      end: stop_reason === "end_turn" ? "complete" : "nothing",
      model,
      tokens: usage?.output_tokens,
    }, error),
  readStream(text) {
    const events: Answer[] = readData(text).map((line) => JSON.parse(line));
    return withError({
      text: events.map(({ delta }) => delta?.text ?? "").join(""),
      end: events.at(-1)?.type === "message_stop" ? "complete" : "nothing",
      model: events.find(({ type }) => type === "message_start")?.message.model,
      tokens: events.findLast(({ type }) => type === "message_delta")?.usage.output_tokens,
    }, events.at(-1)?.error);
  },
};

const responses: ChatClient = {
  name: "responses",
  request: (stream) => ({ path: "/v1/responses", body: { input: "Count", stream } }),
  readWhole: readResponse,
  readStream(text) {
    const events: Answer[] = readData(text).map((line) => JSON.parse(line));
    const streamed = events.map(({ type, delta }) => type === "response.output_text.delta" ? delta : "").join("");
    const last = events.at(-1);
    if (last === undefined) return { text: "", end: "nothing" };
    const reading = readResponse(last.response ?? {});
    const isWhole = last.type === "response.completed" && reading.text === streamed;
    return { ...reading, text: streamed, end: isWhole ? "complete" : reading.end === "error" ? "error" : "nothing" };
  },
};

function readResponse({ output = [], model, usage, status, error }: Answer): Reading {
  const parts = output.flatMap(({ content = [] }: Answer) => content);
  return withError({
    text: parts.map(({ text = "" }: Answer) => text).join(""),
    end: status === "completed" ? "complete" : "nothing",
    model,
    tokens: usage?.output_tokens,
  }, error);
}

const gemini: ChatClient = {
  name: "gemini",
  request: (isStream) => ({
    path: `/v1beta/models/chat:${isStream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: { contents: [{ role: "user", parts: [{ text: "Count" }] }] },
  }),
  readWhole: (answer) => readContents([answer]),
  readStream: (text) => readContents(readData(text).map((line) => JSON.parse(line))),
};

function readContents(events: readonly Answer[]): Reading {
  const candidates = events.flatMap(({ candidates = [] }) => candidates);
  return withError({
    text: candidates.flatMap(({ content }) => content?.parts ?? []).map(({ text = "" }) => text).join(""),
    end: candidates.at(-1)?.finishReason === "STOP" ? "complete" : "nothing",
    model: events[0]?.modelVersion,
    tokens: events.at(-1)?.usageMetadata?.candidatesTokenCount,
  }, events.at(-1)?.error);
}

/** The clients. */
export const clients: Readonly<Record<"chat" | "messages" | "responses" | "gemini", ChatClient>> = {
  chat,
  messages: claude,
  responses,
  gemini,
};

/**
 * Asks the proxy in each of its chat dialects, and reads the tool calls, the text and the end of the response.
 * @module
 */
import type { Json } from "./_dialects.ts";

/** A tool call as a client reads it. */
export interface ReadCall {
  readonly id: string;
  readonly name: string;
  /** The arguments, parsed. */
  readonly input: unknown;
}

/** A response as a client reads it. */
export interface DialectResponse {
  readonly status: number;
  readonly calls: readonly ReadCall[];
  readonly text: string;
  /** The dialect's own word for the end. */
  readonly end: unknown;
  /** The body, for messages of failed assertions. */
  readonly body: string;
}

interface ClientDialect {
  readonly path: (stream: boolean) => string;
  readonly body: Json;
  readonly read: (body: Json) => Omit<DialectResponse, "status" | "body">;
  readonly gather: (events: readonly Json[]) => Omit<DialectResponse, "status" | "body">;
}

// deno-lint-ignore no-explicit-any -- responses are asserted on
type Any = any;

const schema = { type: "object", properties: { path: { type: "string" } } };
const names = ["read_file", "write_file"];
const parsed = (text: string): unknown => text === "" ? {} : JSON.parse(text);

const chatTools = names.map((name) => ({ type: "function", function: { name, parameters: schema } }));

const chat: ClientDialect = {
  path: () => "/v1/chat/completions",
  body: { model: "chat", messages: [{ role: "user", content: "Read a" }], tools: chatTools },
  read({ choices }: Any) {
    const { message, finish_reason: end } = choices[0];
    const calls = (message.tool_calls ?? []).map(({ id, function: fn }: Any) => ({
      id,
      name: fn.name,
      input: parsed(fn.arguments),
    }));
    return { calls, text: message.content ?? "", end };
  },
  gather(events) {
    const calls: { id: string; name: string; text: string }[] = [];
    let [text, end]: [string, unknown] = ["", null];
    for (const { delta, finish_reason } of events.flatMap(({ choices }: Any) => choices)) {
      text += delta.content ?? "";
      for (const { index, id, function: fn } of delta.tool_calls ?? []) {
        calls[index] ??= { id: "", name: "", text: "" };
        calls[index].id += id ?? "";
        calls[index].name += fn?.name ?? "";
        calls[index].text += fn?.arguments ?? "";
      }
      end = finish_reason ?? end;
    }
    return { calls: calls.map(({ text, ...call }) => ({ ...call, input: parsed(text) })), text, end };
  },
};

const messages: ClientDialect = {
  path: () => "/v1/messages",
  body: {
    model: "chat",
    max_tokens: 100,
    messages: [{ role: "user", content: "Read a" }],
    tools: names.map((name) => ({ name, input_schema: schema })),
  },
  read({ content, stop_reason: end }: Any) {
    const calls = content.filter(({ type }: Any) => type === "tool_use");
    const texts = content.filter(({ type }: Any) => type === "text");
    return { calls: calls.map(toCall), text: texts.map(({ text }: Any) => text).join(""), end };
  },
  gather(events) {
    const blocks: Any[] = [];
    let end: unknown;
    for (const { type, index, content_block: block, delta } of events as Any[]) {
      if (type === "content_block_start") blocks[index] = { ...block, json: "" };
      if (delta?.type === "text_delta") blocks[index].text += delta.text;
      if (delta?.type === "input_json_delta") blocks[index].json += delta.partial_json;
      if (type === "message_delta") end = delta.stop_reason;
    }
    const content = blocks.map(({ json, ...block }) => json === "" ? block : { ...block, input: parsed(json) });
    return messages.read({ content, stop_reason: end });
  },
};

const gemini: ClientDialect = {
  path: (stream) => `/v1beta/models/chat:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  body: {
    contents: [{ role: "user", parts: [{ text: "Read a" }] }],
    tools: [{ functionDeclarations: names.map((name) => ({ name, parametersJsonSchema: schema })) }],
  },
  read: (body) => gemini.gather([body]),
  gather(events) {
    const candidates = events.flatMap(({ candidates = [] }: Any) => candidates);
    const parts = candidates.flatMap(({ content }: Any) => content?.parts ?? []);
    const calls = parts.flatMap(({ functionCall: call }: Any) => call ? [{ ...call, input: call.args }] : []);
    const text = parts.map(({ text = "", thought }: Any) => thought ? "" : text).join("");
    return { calls: calls.map(toCall), text, end: candidates.at(-1)?.finishReason };
  },
};

const responses: ClientDialect = {
  path: () => "/v1/responses",
  body: {
    model: "chat",
    input: "Read a",
    tools: names.map((name) => ({ type: "function", name, parameters: schema })),
  },
  read({ output, status, incomplete_details: why }: Any) {
    const calls = output.filter(({ type }: Any) => type === "function_call");
    const texts = output.flatMap(({ content = [] }: Any) => content);
    return {
      calls: calls.map((call: Any) => ({ id: call.call_id, name: call.name, input: parsed(call.arguments) })),
      text: texts.map(({ text = "" }: Any) => text).join(""),
      end: why?.reason ?? status,
    };
  },
  gather(events) {
    const last = (events as Any[]).findLast(({ type }) => /^response\.(completed|incomplete|failed)$/.test(type));
    return responses.read(last.response);
  },
};

function toCall({ id, name, input }: Any): ReadCall {
  return { id, name, input };
}

/** The chat dialects of clients, by name. */
export const clientDialects: Readonly<Record<string, ClientDialect>> = { chat, messages, gemini, responses };

/** A request of a client. */
interface Asked {
  readonly dialect: string;
  readonly stream: boolean;
  /** Members in place of those of the request for a tool call. */
  readonly body?: Json;
}

/**
 * Asks for a tool call.
 *
 * @param url URL of the proxy, without path.
 * @param asked The dialect, whether to stream, and the members that differ.
 */
export async function askForCalls(url: string, { dialect, stream, body: own }: Asked): Promise<DialectResponse> {
  const { path, body } = clientDialects[dialect]!;
  const streaming = stream && dialect !== "gemini" ? { stream } : {};
  const response = await fetch(url + path(stream), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...body, ...own, ...streaming }),
  });
  return await readDialectResponse(response, { dialect, stream });
}

/**
 * Reads a response.
 *
 * @param response The response to a request.
 * @param asked The dialect, and whether it was to stream.
 */
export async function readDialectResponse(
  response: Response,
  { dialect, stream }: { readonly dialect: string; readonly stream: boolean },
): Promise<DialectResponse> {
  const { read, gather } = clientDialects[dialect]!;
  const { status } = response;
  const text = await response.text();
  if (status !== 200) return { status, calls: [], text: "", end: undefined, body: text };
  if (!stream) return { status, ...read(JSON.parse(text)), body: text };
  const datas = text.split("\n").filter((line) => line.startsWith("data: {")).map((line) => JSON.parse(line.slice(6)));
  return { status, ...gather(datas), body: text };
}

/**
 * Rules of vendors for a conversation and its schemas, with their own errors.
 */
import { assertEquals } from "@std/assert";
import { askForCalls } from "./_dialect_calls.ts";
import type { Json } from "./_dialects.ts";
import { startTestProxy } from "./proxy.ts";
import { catchRejection, createConfig, createReply, readSent, type StrictVendor } from "./_strict_calls.ts";
import { type Behaviour, type ReceivedRequest, startUpstream } from "./upstream.ts";

// deno-lint-ignore no-explicit-any -- requests are asserted on
type Any = any;

/** What a vendor finds wrong with a request, in its own format; undefined if nothing is. */
export type Rule = (body: Any, vendor: StrictVendor, request: ReceivedRequest) => string | undefined;

/** A vendor that rejects requests that break a rule, and else replies with a text. */
export function following(vendor: StrictVendor, ...rules: readonly Rule[]): (request: ReceivedRequest) => Behaviour {
  return (request) => {
    for (const rule of rules) {
      const fault = rule(request.json(), vendor, request);
      if (fault !== undefined) return catchRejection(vendor, fault);
    }
    return createReply(vendor, { pieces: ["Done"] });
  };
}

/** mistral-common: which role may follow which. */
const followers: Readonly<Record<string, readonly string[]>> = {
  system: ["user", "assistant", "system"],
  user: ["assistant", "system", "user"],
  assistant: ["assistant", "user", "tool"],
  tool: ["assistant", "tool"],
};

/** Mistral's order of messages. */
export const mistralOrder: Rule = ({ messages }) => {
  for (let at = 1; at < messages.length; at++) {
    const [before, role] = [messages[at - 1].role, messages[at].role];
    if (!followers[before]!.includes(role)) return `Unexpected role '${role}' after role '${before}'`;
  }
  const empty = messages.find(({ role, content, tool_calls: calls }: Any) =>
    role === "assistant" && !content && !calls
  );
  return empty && "Assistant message must have either content or tool_calls, but not none.";
};

/** Gemini's place of function calls. */
export const callAfterUser: Rule = ({ contents }) =>
  contents.some(({ role, parts }: Any, at: number) =>
      role === "model" && parts.some((part: Any) => part.functionCall) && contents[at - 1]?.role !== "user"
    )
    ? "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
    : undefined;

/** The first turn is the user's. */
export const userFirst: Rule = ({ messages }, { dialect }) =>
  messages[0]?.role === "user"
    ? undefined
    : dialect === "bedrock"
    ? "A conversation must start with a user message. Try again with a conversation that starts with a user message."
    : 'messages: first message must use the "user" role';

/** Claude's rules for text. */
export const nonBlankText: Rule = ({ messages, system = [] }) => {
  const blocks = [...system, ...messages.flatMap(({ content }: Any) => content)];
  const texts = blocks.flatMap(({ text, content }: Any) => [
    text,
    ...(Array.isArray(content) ? content.map(({ text }: Any) => text) : []),
  ]);
  if (texts.some((text) => text === "")) return "messages: text content blocks must be non-empty";
  if (texts.some((text) => text?.trim() === "")) {
    return "messages: text content blocks must contain non-whitespace text";
  }
  if (messages.some(({ content }: Any) => content.length === 0)) {
    return "messages: all messages must have non-empty content";
  }
  const last = messages.at(-1);
  if (last === undefined) return "messages: at least one message is required";
  const text = last.role === "assistant" ? last.content.at(-1).text ?? "" : "";
  return text === text.trimEnd() ? undefined : "messages: final assistant content cannot end with trailing whitespace";
};

/** Claude's rule for stop sequences. */
export const nonBlankStops: Rule = ({ stop_sequences: stops, inferenceConfig }) =>
  (stops ?? inferenceConfig?.stopSequences ?? []).some((stop: string) => stop.trim() === "")
    ? "stop_sequences: each stop sequence must contain non-whitespace"
    : undefined;

const schemasOf = ({ tools = [], toolConfig }: Any): Json[] => [
  ...tools.flatMap((tool: Any) =>
    tool.functionDeclarations?.map((declaration: Any) => declaration.parametersJsonSchema ?? {}) ??
      [tool.input_schema ?? tool.function.parameters]
  ),
  ...(toolConfig?.tools ?? []).map(({ toolSpec }: Any) => toolSpec.inputSchema.json),
];

/** Claude and OpenAI: parameters are an object, not combined schemas; at OpenAI, one with properties. */
export const plainParameters: Rule = (body, { dialect }) => {
  const isWrong = schemasOf(body).some((schema) =>
    schema.type !== "object" || dialect === "openai" && schema.properties === undefined ||
    ["anyOf", "oneOf", "allOf"].some((keyword) => keyword in schema)
  );
  if (!isWrong) return undefined;
  return dialect === "openai"
    ? "Invalid schema for function 'f': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."
    : "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level";
};

/** Gemini and OpenAI: arrays have items, and required names have properties. */
export const completeSchemas: Rule = (body) => {
  const format = body.response_format?.json_schema?.schema ?? body.generationConfig?.responseJsonSchema;
  return [...schemasOf(body), format].map(faultIn).find((fault) => fault !== undefined);
};

function faultIn(schema: Any): string | undefined {
  if (typeof schema !== "object" || schema === null) return undefined;
  const { type, items, required = [], properties = {} } = schema;
  if (type === "array" && items === undefined) return "array schema missing items";
  if (Array.isArray(required) && required.some((name) => !(name in properties))) {
    return "parameters.required[0]: property is not defined";
  }
  return Object.values(schema).map(faultIn).find((fault) => fault !== undefined);
}

/** Arguments are a JSON object. */
export const objectArguments: Rule = (_body, vendor, request) => {
  for (const { input } of readSent(vendor, request).calls) {
    const value = typeof input === "string" ? parsed(input) : input;
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return "Expecting value: line 1 column 9 (char 8)";
    }
  }
  return undefined;
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Gemini 2.5 has no JSON mode with tools. */
export const jsonWithoutTools: Rule = ({ generationConfig, tools }) =>
  tools !== undefined && generationConfig?.responseMimeType === "application/json"
    ? "Function calling with a response mime type: 'application/json' is unsupported"
    : undefined;

/** A request of a client. */
export interface HistoryRequest {
  readonly dialect: string;
  readonly body: Json;
}

/** Returns what a vendor that follows rules receives for a request, after it has served it non-streaming and streaming. */
export async function sentTo(
  vendor: StrictVendor,
  rules: readonly Rule[],
  asked: HistoryRequest,
): Promise<ReceivedRequest> {
  await using upstream = await startUpstream(following(vendor, ...rules));
  await using proxy = await startTestProxy({ upstreams: {}, config: createConfig(vendor, upstream.url) });
  for (const stream of [true, false]) {
    const answer = await askForCalls(proxy.url, { ...asked, stream });
    assertEquals([answer.status, answer.text], [200, "Done"], `${vendor.connector} ${asked.dialect}: ${answer.body}`);
  }
  assertEquals(upstream.calls, 2);
  return upstream.requests[1]!;
}

/** Messages of chat clients. */
export const says = {
  user: (content: unknown = "Hi"): Json => ({ role: "user", content }),
  system: (content: string): Json => ({ role: "system", content }),
  assistant: (content: unknown): Json => ({ role: "assistant", content }),
  result: (id: string): Json => ({ role: "tool", tool_call_id: id, content: "of it" }),
  calling: (id: string, args = "{}"): Json => ({
    role: "assistant",
    content: null,
    tool_calls: [{ id, type: "function", function: { name: "read", arguments: args } }],
  }),
};

/** A request without tools of a chat client. */
export const chatOf = (...messages: readonly Json[]): HistoryRequest => ({
  dialect: "chat",
  body: { messages, tools: undefined },
});

/**
 * Providers of OpenAI's dialect that reject what their vendors reject, with the vendors' own errors.
 */
import { type Behaviour, type ReceivedRequest, respond, type Script, status } from "./upstream.ts";

/** The request body that a vendor receives. */
export interface VendorBody {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
  readonly [member: string]: unknown;
}

/** What a vendor rejects: its status and error; undefined for a request that it accepts. */
export type Rejection = (body: VendorBody) => readonly [status: number, body: unknown] | undefined;

/** A provider that serves what it does not reject, streaming or not as requested. */
export function rejecting(...rejections: readonly Rejection[]): Script {
  return (request: ReceivedRequest) => findRejection(request, rejections) ?? respond();
}

/** Returns the first rejection of a request; undefined if it is accepted. */
export function findRejection(request: ReceivedRequest, rejections: readonly Rejection[]): Behaviour | undefined {
  const body = request.json() as VendorBody;
  for (const rejection of rejections) {
    const [code, json] = rejection(body) ?? [];
    if (code !== undefined) return status(code, { json });
  }
}

function fault(message: string, param: string | null = null, code: string | null = null): readonly [number, unknown] {
  return [400, { error: { message, type: "invalid_request_error", param, code } }];
}

const supported = new Set([
  ...["model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens", "temperature", "top_p"],
  ...[
    "n",
    "stop",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "reasoning_effort",
    "response_format",
    "seed",
    "user",
  ],
  ...["presence_penalty", "frequency_penalty", "logprobs", "top_logprobs", "metadata", "store", "verbosity"],
]);

/** OpenAI's chat API rejects members that it does not know, and more than four stop sequences. */
export const openAiMembers: Rejection = (body) => {
  const unknown = Object.keys(body).find((name) => !supported.has(name));
  if (unknown !== undefined) return fault(`Unrecognized request argument supplied: ${unknown}`);
  const { stop } = body;
  return Array.isArray(stop) && stop.length > 4
    ? fault(
      `Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length ${stop.length} instead.`,
      "stop",
      "array_above_max_length",
    )
    : undefined;
};

/** OpenAI's messages have no reasoning. */
export const openAiMessages: Rejection = ({ messages }) => {
  const index = messages.findIndex((message) => "reasoning" in message || "reasoning_content" in message);
  return index < 0 ? undefined : fault(`Unknown parameter: 'messages[${index}].reasoning_content'.`);
};

/** OpenAI's reasoning models. */
export const openAiReasoning: Rejection = (body) => {
  if ("max_tokens" in body) {
    return fault(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      "max_tokens",
      "unsupported_parameter",
    );
  }
  return "temperature" in body
    ? fault(
      "Unsupported value: 'temperature' does not support 0.2 with this model.",
      "temperature",
      "unsupported_value",
    )
    : undefined;
};

/** A model that cannot reason. */
export const withoutReasoning: Rejection = (body) =>
  "reasoning_effort" in body
    ? fault("Unrecognized request argument supplied: reasoning_effort", "reasoning_effort")
    : undefined;

/** A model that generates up to a number of tokens. */
export const upTo = (most: number): Rejection => (body) => {
  const limit = Number(body.max_completion_tokens ?? body.max_tokens ?? 0);
  return limit > most
    ? fault(
      `max_tokens is too large: ${limit}. This model supports at most ${most} completion tokens, whereas you provided ${limit}.`,
      "max_tokens",
      "invalid_value",
    )
    : undefined;
};

/** Groq names the first member that it does not support. */
export const groqMembers: Rejection = (body) => {
  if ("top_k" in body) return fault("property 'top_k' is unsupported");
  return Array.isArray(body.stop) && body.stop.length > 4 ? fault("len(stop) > 4 is not supported") : undefined;
};

/** Mistral responds with 422 and a list. */
export const mistralMembers: Rejection = (body) => {
  const extra = withoutExtra("top_k")(body) ?? withoutExtra("stream_options")(body);
  if (extra !== undefined) return extra;
  return Array.isArray(body.stop) && body.stop.length > 4
    ? [422, { detail: [{ type: "too_long", loc: ["body", "stop"], msg: "List should have at most 4 items" }] }]
    : undefined;
};

/** vLLM validates the effort. */
export const vllmEfforts: Rejection = ({ reasoning_effort: effort }) =>
  effort === undefined || ["none", "low", "medium", "high"].includes(String(effort))
    ? undefined
    : fault("Input should be 'none', 'low', 'medium' or 'high'", "reasoning_effort");

/** The chat template of Qwen, and a server that knows three roles besides tools. */
export const qwenTemplate: Rejection = ({ messages }) => {
  const unknown = messages.find(({ role }) => !["system", "user", "assistant", "tool"].includes(role));
  if (unknown !== undefined) return fault(`Unexpected message role: ${unknown.role}`);
  return messages.slice(1).some(({ role }) => role === "system")
    ? fault("System message must be at the beginning.")
    : undefined;
};

/** A server with FastAPI that rejects one member. */
export const withoutExtra = (name: string): Rejection => (body) =>
  name in body
    ? [422, { detail: [{ type: "extra_forbidden", loc: ["body", name], msg: "Extra inputs are not permitted" }] }]
    : undefined;

/** A server that rejects one member, and names it. */
export const without = (name: string, message = `Unknown parameter: '${name}'`): Rejection => (body) =>
  name in body ? fault(message) : undefined;

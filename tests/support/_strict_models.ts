/**
 * Providers of each dialect that reject members, turns and types of schemas which their vendors reject. Names and ids of
 * calls are in `_strict_calls.ts`, other rules in `_strict_history.ts`.
 * @module
 */
import { anthropicError, type Dialect, googleError } from "./_dialects.ts";
import { type Behaviour, type ReceivedRequest, status } from "./upstream.ts";

/** A provider that rejects what its vendor rejects, and otherwise follows a script. */
export function strictly(
  dialect: Dialect,
  script: (request: ReceivedRequest) => Behaviour,
): (request: ReceivedRequest) => Behaviour {
  return (request) => {
    const [complaint] = complaints[dialect](request.json(), request.path);
    return complaint === undefined ? script(request) : refusals[dialect](complaint);
  };
}

const refusals: Readonly<Record<Dialect, (message: string) => Behaviour>> = {
  openai: (message) => status(400, { json: { error: { message, type: "invalid_request_error" } } }),
  anthropic: (message) => anthropicError(400, "invalid_request_error", message),
  gemini: (message) => googleError(400, "INVALID_ARGUMENT", message),
};

// deno-lint-ignore no-explicit-any -- the body is whatever the proxy sends
type Body = any;

/** What a vendor objects to; nothing in a request that it accepts. */
const complaints: Readonly<Record<Dialect, (body: Body, path: string) => Iterable<string>>> = {
  openai: openAiComplaints,
  anthropic: anthropicComplaints,
  gemini: geminiComplaints,
};

const types = new Set(["object", "array", "string", "number", "integer", "boolean", "null"]);

/** Types of a schema that JSON Schema does not have. */
function* schemaComplaints(schema: Body, path = "schema"): Iterable<string> {
  const { type, properties = {}, items, anyOf = [] } = schema;
  for (const word of [type ?? []].flat()) if (!types.has(word)) yield `'${word}' is not valid under ${path}.type`;
  for (const [name, inner] of Object.entries(properties)) yield* schemaComplaints(inner, `${path}.${name}`);
  if (items !== undefined) yield* schemaComplaints(items, `${path}.items`);
  for (const [index, inner] of anyOf.entries()) yield* schemaComplaints(inner, `${path}.anyOf[${index}]`);
}

function* openAiComplaints(body: Body): Iterable<string> {
  const { tools = [], messages, response_format: format } = body;
  for (const { function: { name, parameters } } of tools) yield* schemaComplaints(parameters, name);
  if (format?.json_schema !== undefined) yield* schemaComplaints(format.json_schema.schema, "response_format");
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool") {
      if (!open.includes(message.tool_call_id)) yield `messages[${index}]: 'tool' must follow its 'tool_calls'`;
      open = open.filter((id) => id !== message.tool_call_id);
    } else if (open.length > 0) yield `messages[${index}]: 'tool_calls' without 'tool' messages: ${open}`;
    if (message.role === "assistant") open = (message.tool_calls ?? []).map(({ id }: Body) => id);
    yield* openAiMessageComplaints(message, index);
  }
  if (open.length > 0) yield `'tool_calls' without 'tool' messages: ${open}`;
}

const messageMembers = new Set(["tool_call_id", "name", "refusal", "audio", "reasoning", "reasoning_content"]);
const parts = new Set(["text", "image_url", "input_audio", "file", "refusal"]);

function* openAiMessageComplaints({ role, content, tool_calls: calls = [], ...more }: Body, index: number) {
  const at = `messages[${index}]`;
  if (!["system", "developer", "user", "assistant", "tool"].includes(role)) yield `${at}: unknown role '${role}'`;
  if (content === null || content === undefined) { if (calls.length === 0) yield `${at}: content expected, got null`; }
  for (const { type, cache_control: cached } of Array.isArray(content) ? content : []) {
    if (!parts.has(type) || role === "tool" && type !== "text") yield `${at}: invalid part '${type}'`;
    if (cached !== undefined) yield `${at}: unknown parameter 'cache_control'`;
  }
  const extra = Object.keys(more).filter((name) => !messageMembers.has(name));
  if (extra.length > 0) yield `${at}: unknown parameter '${extra}'`;
}

const anthropicMembers = new Set([
  ...["model", "messages", "system", "max_tokens", "stream", "tools", "tool_choice", "thinking", "metadata"],
  ...["temperature", "top_p", "top_k", "stop_sequences", "output_config", "context_management", "service_tier"],
]);

function* anthropicComplaints(body: Body): Iterable<string> {
  const { system = [], messages, tools = [], thinking, max_tokens: limit, output_config: output } = body;
  for (const name of Object.keys(body)) {
    if (!anthropicMembers.has(name)) yield `${name}: Extra inputs are not permitted`;
  }
  if (!Number.isInteger(limit)) yield "max_tokens: Field required";
  const budget = thinking?.budget_tokens;
  if (budget !== undefined && (budget < 1024 || budget >= limit)) yield "thinking.budget_tokens: out of range";
  if (thinking !== undefined && thinking.type !== "disabled" && (body.temperature ?? 1) !== 1) {
    yield "`temperature` may only be set to 1 when thinking is enabled";
  }
  if (body.temperature !== undefined && body.top_p !== undefined) yield "`temperature` and `top_p` cannot both be set";
  for (const { name, input_schema: schema } of tools) yield* schemaComplaints(schema, name);
  if (output?.format !== undefined) yield* schemaComplaints(output.format.schema, "output_config.format.schema");
  const blocks = [system, tools, ...messages.map(({ content }: Body) => content)].flat();
  const breakpoints = blocks.filter((block: Body) => block.cache_control !== undefined).length;
  if (breakpoints > 4) yield `A maximum of 4 blocks with cache_control may be provided. Found ${breakpoints}.`;
  yield* anthropicTurnComplaints(messages);
}

function* anthropicTurnComplaints(messages: readonly Body[]): Iterable<string> {
  let open: string[] = [];
  for (const [index, { role, content }] of messages.entries()) {
    if (!["user", "assistant", "system"].includes(role)) yield `messages.${index}: role '${role}'`;
    const blocks: Body[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
    const results = blocks.filter(({ type }) => type === "tool_result").map((block) => block.tool_use_id);
    const missing = open.filter((id) => !results.includes(id));
    if (missing.length > 0) yield `messages.${index}: \`tool_use\` ids without \`tool_result\` blocks: ${missing}`;
    const stray = results.filter((id) => !open.includes(id));
    if (stray.length > 0) yield `messages.${index}: unexpected \`tool_use_id\` in \`tool_result\` blocks: ${stray}`;
    open = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id);
    yield* blocks.flatMap((block) => [...anthropicBlockComplaints(block, index)]);
  }
  if (open.length > 0) yield `\`tool_use\` ids without \`tool_result\` blocks: ${open}`;
}

function* anthropicBlockComplaints({ type, content = [], signature }: Body, index: number): Iterable<string> {
  const at = `messages.${index}`;
  if (type === "thinking" && (signature ?? "") === "") yield `${at}: Invalid \`signature\` in \`thinking\` block`;
  const supported = ["text", "image", "document", "thinking", "redacted_thinking", "tool_use", "tool_result"];
  if (!supported.includes(type)) yield `${at}: Input tag '${type}' does not match`;
  if (type !== "tool_result" || typeof content === "string") return;
  for (const inner of content) if (inner.cache_control !== undefined) yield `${at}: cache_control in a tool_result`;
}

const geminiMembers = new Set(["contents", "systemInstruction", "tools", "toolConfig", "generationConfig"]);

const geminiSettings = new Set([
  ...["temperature", "topP", "topK", "maxOutputTokens", "stopSequences", "candidateCount", "thinkingConfig", "seed"],
  ...["responseMimeType", "responseSchema", "responseJsonSchema"],
]);

function* geminiComplaints(body: Body, path: string): Iterable<string> {
  const { contents, generationConfig: config = {} } = body;
  const unknown = [
    ...Object.keys(body).filter((name) => !geminiMembers.has(name)),
    ...Object.keys(config).filter((name) => !geminiSettings.has(name)),
  ];
  if (unknown.length > 0) yield `Invalid JSON payload received. Unknown name "${unknown[0]}"`;
  if (contents[0]?.role !== "user" || contents[0].parts.some((part: Body) => "functionResponse" in part)) {
    yield "Please ensure that a conversation starts with a user turn";
  }
  yield* geminiTurnComplaints(contents, path.includes("gemini-3"));
}

function* geminiTurnComplaints(contents: readonly Body[], isSigned: boolean): Iterable<string> {
  let open = 0;
  for (const [index, { role, parts = [] }] of contents.entries()) {
    if (role !== "user" && role !== "model") yield "Please use a valid role: user, model.";
    if (parts.length === 0) yield `contents[${index}].parts must not be empty`;
    const responses = parts.filter((part: Body) => "functionResponse" in part).length;
    if (responses !== open) {
      yield "the number of function response parts is not equal to that of function call parts of the call turn";
    }
    const calls = parts.filter((part: Body) => "functionCall" in part);
    open = calls.length;
    if (isSigned && open > 0 && calls[0].thoughtSignature === undefined) {
      yield `Function call is missing a thought_signature in functionCall parts, position ${index}`;
    }
    for (const part of parts) {
      const data = ["text", "inlineData", "functionCall", "functionResponse"].filter((name) => name in part);
      if (data.length !== 1) yield `contents[${index}]: required oneof field 'data' must have one initialized field`;
    }
  }
}

/**
 * Vendors that reject names, ids and orders of tool calls, with their own errors, and otherwise call the last tool of the
 * request.
 */
import { bedrock } from "./_bedrock.ts";
import { anthropicError, type Dialect, googleError, type Json, type Reply, speaking } from "./_dialects.ts";
import { type Behaviour, type ReceivedRequest, status } from "./upstream.ts";

// deno-lint-ignore no-explicit-any -- requests are asserted on
type Any = any;

/** What a request says of tools, whatever its dialect. */
export interface SentCalls {
  /** Names of the declared tools, in order. */
  readonly tools: readonly string[];
  readonly choice: string | undefined;
  /** Calls of the conversation, in order. */
  readonly calls: readonly { readonly id: string | undefined; readonly name: string; readonly input: unknown }[];
  /** Ids of results, or the names that stand for them. */
  readonly results: readonly string[];
  /** Roles of the conversation; results have the role `tool`. */
  readonly roles: readonly string[];
}

/** Reads what a request says of tools. */
export type ReadCalls = (body: Json) => SentCalls;

const readChat = ({ messages, tools = [], tool_choice }: Any): SentCalls => ({
  tools: tools.map((tool: Any) => tool.function.name),
  choice: tool_choice?.function?.name,
  calls: messages.flatMap(({ tool_calls = [] }: Any) =>
    (tool_calls ?? []).map(({ id, function: fn }: Any) => ({ id, name: fn.name, input: fn.arguments }))
  ),
  results: messages.flatMap(({ role, tool_call_id: id }: Any) => role === "tool" ? [id] : []),
  roles: messages.map(({ role }: Any) => role),
});

const blocksOf = (messages: Any[]) =>
  messages.flatMap(({ role, content }) =>
    (typeof content === "string" ? [{ type: "text", text: content }] : content).map((block: Any) => ({
      ...block,
      role,
    }))
  );

const readMessages = ({ messages, tools = [], tool_choice }: Any): SentCalls => {
  const blocks = blocksOf(messages);
  return {
    tools: tools.map(({ name }: Any) => name),
    choice: tool_choice?.name,
    calls: blocks.filter(({ type }) => type === "tool_use"),
    results: blocks.flatMap(({ type, tool_use_id: id }) => type === "tool_result" ? [id] : []),
    roles: messages.map(({ role }: Any) => role),
  };
};

const readContents = ({ contents, tools = [], toolConfig }: Any): SentCalls => {
  const parts = contents.flatMap(({ parts }: Any) => parts);
  return {
    tools: (tools[0]?.functionDeclarations ?? []).map(({ name }: Any) => name),
    choice: toolConfig?.functionCallingConfig?.allowedFunctionNames?.[0],
    calls: parts.flatMap(({ functionCall: call }: Any) => call ? [{ ...call, input: call.args }] : []),
    results: parts.flatMap(({ functionResponse: result }: Any) => result ? [result.id] : []),
    roles: contents.map(({ role, parts }: Any) => parts.some((part: Any) => part.functionResponse) ? "tool" : role),
  };
};

const readConverse = ({ messages, toolConfig }: Any): SentCalls => {
  const blocks = messages.flatMap(({ content }: Any) => content);
  return {
    tools: (toolConfig?.tools ?? []).flatMap(({ toolSpec }: Any) => toolSpec ? [toolSpec.name] : []),
    choice: toolConfig?.toolChoice?.tool?.name,
    calls: blocks.flatMap(({ toolUse: use }: Any) => use ? [{ ...use, id: use.toolUseId }] : []),
    results: blocks.flatMap(({ toolResult }: Any) => toolResult ? [toolResult.toolUseId] : []),
    roles: messages.map(({ role }: Any) => role),
  };
};

/** A vendor: its connector, a model, and what it rejects. */
export interface StrictVendor {
  readonly connector: string;
  readonly model: string;
  readonly dialect: Dialect | "bedrock";
  /** The client's dialect that it supports natively. */
  readonly native?: string;
  /** Accepted ids of calls, and names of tools. */
  readonly ids?: RegExp;
  readonly names: RegExp;
}

const readers: Readonly<Record<StrictVendor["dialect"], ReadCalls>> = {
  openai: readChat,
  anthropic: readMessages,
  gemini: readContents,
  bedrock: readConverse,
};

const openAiName = /^[a-zA-Z0-9_-]{1,64}$/;
const anthropicId = /^[a-zA-Z0-9_-]{1,64}$/;

/** Vendors that pages have, and the patterns that their errors state. */
export const strictVendors: readonly StrictVendor[] = [
  { connector: "openai.llm.v1", model: "gpt-4o", dialect: "openai", ids: /^.{1,40}$/s, names: openAiName },
  { connector: "openrouter.gateway.v1", model: "a/b", dialect: "openai", ids: /^.{1,40}$/s, names: openAiName },
  {
    connector: "mistral.api.v1",
    model: "mistral-small-latest",
    dialect: "openai",
    ids: /^[a-zA-Z0-9]{9}$/,
    names: openAiName,
  },
  {
    connector: "anthropic.claude.v1",
    model: "claude-haiku-4-5",
    dialect: "anthropic",
    native: "messages",
    ids: anthropicId,
    names: /^[a-zA-Z0-9_-]{1,128}$/,
  },
  {
    connector: "google.gemini.v1",
    model: "gemini-2.5-flash",
    dialect: "gemini",
    native: "gemini",
    names: /^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$/,
  },
];

/** Bedrock, which pages do not have. */
export const strictBedrock: StrictVendor = {
  connector: "aws.bedrock.v1",
  model: "amazon.nova-lite-v1:0",
  dialect: "bedrock",
  ids: anthropicId,
  names: /^[a-zA-Z0-9_-]{1,64}$/,
};

/** Vendors that pages do not have. */
export const serverVendors: readonly StrictVendor[] = [
  {
    connector: "azure.openai.v1",
    model: "gpt-4o",
    dialect: "openai",
    native: "responses",
    ids: /^.{1,40}$/s,
    names: openAiName,
  },
  { connector: "deepseek.api.v1", model: "deepseek-chat", dialect: "openai", names: openAiName },
  strictBedrock,
];

/** Returns a vendor by its connector. */
export function vendorNamed(connector: string): StrictVendor {
  return [...strictVendors, ...serverVendors].find((vendor) => vendor.connector === connector)!;
}

/** Reads what a vendor was sent. */
export function readSent(vendor: StrictVendor, request: ReceivedRequest): SentCalls {
  return readers[vendor.dialect](request.json());
}

/** An error of a vendor, in its own form. */
export function catchRejection({ dialect }: StrictVendor, message: string): Behaviour {
  switch (dialect) {
    case "anthropic":
      return anthropicError(400, "invalid_request_error", message);
    case "gemini":
      return googleError(400, "INVALID_ARGUMENT", message);
    case "bedrock":
      return status(400, { json: { message }, headers: { "x-amzn-errortype": "ValidationException" } });
    default:
      return status(400, { json: { error: { message, type: "invalid_request_error", param: null, code: null } } });
  }
}

/** The reply of a vendor, streaming or not as requested. */
export function createReply({ dialect }: StrictVendor, reply: Reply): Behaviour {
  return dialect === "bedrock" ? bedrock.respond(reply) : speaking[dialect].respond(reply);
}

/** What is wrong with the tools of a request, in a vendor's format; undefined if nothing is. */
export function findFault({ ids, names, dialect }: StrictVendor, sent: SentCalls): string | undefined {
  const { tools, choice, calls, results } = sent;
  const named = [...tools, ...choice === undefined ? [] : [choice], ...calls.map(({ name }) => name)];
  const name = named.find((candidate) => !names.test(candidate));
  if (name !== undefined) return `tools: the name ${name} does not match the pattern ${names}`;
  if (new Set(tools).size < tools.length) return "tools: Tool names must be unique.";
  if (choice !== undefined && !tools.includes(choice)) return "Tool choice was not found in the tools";
  const all = [...calls.map(({ id }) => id!), ...results];
  const id = ids && all.find((candidate) => !ids.test(candidate));
  if (id !== undefined) return `Tool call id was ${id} but must match the pattern ${ids}`;
  if (dialect === "bedrock" || dialect === "anthropic") {
    if (new Set(calls.map(({ id }) => id)).size < calls.length) return "`tool_use` ids must be unique";
  }
  const orphan = results.find((result) => !calls.some((call) => call.id === result));
  return orphan === undefined ? undefined : `unexpected tool_use_id found in tool_result blocks: ${orphan}`;
}

/** A vendor that rejects what it does not accept, and else calls the last tool of the request. */
export function callingLast(vendor: StrictVendor): (request: ReceivedRequest) => Behaviour {
  return (request) => {
    const sent = readSent(vendor, request);
    const fault = findFault(vendor, sent);
    if (fault !== undefined) return catchRejection(vendor, fault);
    return createReply(vendor, { calls: [{ id: "newcall12", name: sent.tools.at(-1)!, input: { path: "b" } }] });
  };
}

/**
 * The configuration of a pool `chat` over one model of a vendor.
 *
 * @param url Its base URL.
 * @param settings Settings of the model.
 */
export function createConfig({ connector, model }: StrictVendor, url: string, settings: Json = {}): Json {
  const region = connector === "aws.bedrock.v1" ? { config: { region: "eu-west-1" } } : {};
  return {
    providers: { vendor: { connector, base_url: url, api_key: "key-of-the-vendor-0123456789", ...region } },
    models: { one: { provider: "vendor", model, capabilities: ["chat-completion"], ...settings } },
    pools: { chat: { models: ["one"] } },
  };
}

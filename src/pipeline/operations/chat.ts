/**
 * The operation `chat`.
 * @module
 */
import { servesOperation } from "../../capability/operations.ts";
import type { ChatCompletion, ChatCompletionRequest, ChatMessage } from "../../contracts/openai.ts";
import { isEmptyCompletion, normalizeChatResponse } from "../read_response.ts";
import { readBilled, readName, readUsage, tokenBound } from "../read_usage.ts";
import { estimateLoad, OutputEstimate } from "../estimate.ts";
import type { CheckedOperation, ResponseUsage, Rewording, TakenUsage, UsageContext } from "../operation.ts";
import { measureRequest } from "../request_size.ts";
import { findApiLack, selectChatApi, withApiRules } from "./_chat_api.ts";
import { chatLacks, lowerToBounds, unbounded } from "./_chat_lacks.ts";
import { isObject } from "../../util/is_object.ts";
import { bodyChecker, chatMembers, checkCount, checkId, invalid, maxTools, missing, wrongType } from "../check_body.ts";
import type { ChatApi, ModelInfo, ParameterRules } from "../../contracts/provider.ts";
import type { ModelEntry } from "../../registry/registry.ts";
import { isGiven } from "../../util/token_limit.ts";
import {
  stateMembers,
  withInstructions,
  withoutCacheControl,
  withOwnState,
  withPlacedMarks,
} from "./_chat_messages.ts";
import type { ClientNames } from "../client_names.ts";

/** Chat completions, complete and streamed. */
export const chat: CheckedOperation<ChatCompletionRequest, ChatCompletion> = {
  name: "chat",
  serves: (leaf) => servesOperation(leaf, "chat"),
  check: checkChatRequest,
  measureNeeds(body) {
    const size = measureRequest(body);
    return {
      load: estimateLoad(body, size),
      findLack: chatLacks(body, size),
    };
  },
  selectApi: selectChatApi,
  findApiLack,
  prepare: loadToolRules,
  reword: rewordChat,
  mayHedge: ({ modalities }) => !Array.isArray(modalities) || modalities.every((modality) => modality === "text"),
  normalize: normalizeChatResponse,
  isEmpty: isEmptyCompletion,
  usageIn: ({ usage, choices, service_tier: tier }) => (
    { usage, tier, written: () => new OutputEstimate().add(choices).tokens }
  ),
  readUsage: readChatUsage,
};

/** Usage that the provider does not report is estimated. */
function readChatUsage(
  { usage, billed, tier, written }: ResponseUsage,
  { body, model, load }: UsageContext<ChatCompletionRequest>,
): TakenUsage {
  const bound = tokenBound(model.constraints, body.n);
  const quantities = readUsage(usage, bound);
  quantities.tier = readName(tier);
  quantities.hasFees = true;
  if (billed !== undefined) Object.assign(quantities, readBilled(billed, bound));
  const { input, output, tokens: total } = quantities;
  const read = quantities.input ??= Math.min(load.input, total ?? bound);
  const rest = quantities.output ??= total === undefined ? Math.min(written(), bound) : total - read;
  return {
    quantities: quantities as typeof quantities & { input: number; output: number },
    tokens: Math.max(total ?? 0, read + rest),
    isEstimated: input === undefined || output === undefined,
  };
}

const checkMembers = bodyChecker(chatMembers);

/**
 * Validates the body of a chat request. The members of `mesh` are validated by `readRoutingConstraints`.
 *
 * @param value Any value.
 * @returns The same value.
 * @throws {UnsupportedRequestError} `missing_required_parameter` or `invalid_value`, with the invalid field.
 */
export function checkChatRequest(value: unknown): ChatCompletionRequest {
  const body = checkMembers(value);
  const { messages, stream } = body;
  if (messages === undefined) throw missing("messages");
  if (!Array.isArray(messages)) throw wrongType("messages", "an array", messages);
  if (messages.length === 0) throw invalid('"messages" has to have at least one message', "messages");
  checkCount(messages, "messages");
  for (let index = 0; index < messages.length; index++) checkMessage(messages[index], index);
  if (stream !== undefined && stream !== null && typeof stream !== "boolean") {
    throw wrongType("stream", "a boolean", stream);
  }
  checkOptionalMembers(body);
  return body as unknown as ChatCompletionRequest;
}

/** Validates members that may be null. Each is accessed by its own name, which is faster than a list of names. */
function checkOptionalMembers(body: Readonly<Record<string, unknown>>): void {
  const { tools } = body;
  if (tools !== undefined && tools !== null && !Array.isArray(tools)) throw wrongType("tools", "an array", tools);
  checkOptionalObject("stream_options", body.stream_options);
  checkOptionalObject("response_format", body.response_format);
  checkOptionalNumber("max_tokens", body.max_tokens);
  checkOptionalNumber("max_completion_tokens", body.max_completion_tokens);
  checkOptionalNumber("n", body.n);
  checkOptionalNumber("temperature", body.temperature);
  checkOptionalNumber("top_p", body.top_p);
  checkCount(tools, "tools", maxTools);
}

function checkOptionalObject(name: string, value: unknown): void {
  if (value !== undefined && value !== null && !isObject(value)) throw wrongType(name, "an object", value);
}

function checkOptionalNumber(name: string, value: unknown): void {
  if (value !== undefined && value !== null && !Number.isFinite(value)) throw wrongType(name, "a number", value);
}

function checkMessage(message: unknown, index: number): void {
  if (!isObject(message)) throw wrongType(`messages[${index}]`, "an object", message);
  const { role, content, tool_calls: calls, tool_call_id: id } = message;
  if (role === undefined) throw missing(`messages[${index}].role`);
  if (typeof role !== "string") throw wrongType(`messages[${index}].role`, "a string", role);
  if (id !== undefined) checkId(id, `messages[${index}].tool_call_id`);
  if (Array.isArray(calls)) checkCalls(calls, `messages[${index}].tool_calls`);
  if (content === undefined || content === null || typeof content === "string") return;
  const param = `messages[${index}].content`;
  if (!Array.isArray(content)) throw wrongType(param, "a string or an array", content);
  content.forEach((part, at) => {
    if (!isObject(part)) throw wrongType(`${param}[${at}]`, "an object", part);
  });
}

function checkCalls(calls: readonly unknown[], param: string): void {
  checkCount(calls, param, maxTools);
  calls.forEach((call, at) => checkId(Object(call).id, `${param}[${at}].id`));
}

const nothing: readonly string[] = [];
const noRules = {};

/** What the rules drop and add. */
type Applied = Required<Pick<Rewording, "dropped" | "added">>;

const unruled: Applied = { dropped: [], added: [] };

/** A rejected parameter of models that cannot reason. */
const effortName = "reasoning_effort";

/**
 * Adapts a chat request.
 *
 * @param body The client's request.
 */
function rewordChat(body: ChatCompletionRequest, { info, instance }: ModelEntry): Rewording {
  const bounded = lowerToBounds(body, info);
  const isBounded = bounded !== unbounded;
  const edits: Record<string, unknown> = isBounded ? { ...bounded } : {};
  const api = selectChatApi(body, { info });
  const own = rulesFor(info, body);
  const rules = api === "responses" ? withApiRules(own, body) : own;
  const { dropped: left, added } = rules === undefined
    ? unruled
    : applyRules(rules, isBounded ? { ...body, ...bounded } : body, edits);
  const dropped = isBounded ? [...Object.keys(bounded), ...left] : left;
  if (isPlain(body)) return { edits, dropped, added };
  const clientNames = adaptContent(body, edits, { rules, ownState: listOwnState(instance, api) });
  const names = clientNames === undefined ? {} : { clientNames };
  if (rules?.cache_control !== false) return { edits, dropped, added, ...names };
  const unmarked = withoutCacheControl({ ...body, ...edits });
  Object.assign(edits, unmarked);
  const all = Object.keys(unmarked).length > 0 ? [...dropped, "cache_control"] : dropped;
  return { edits, added, dropped: all, ...names };
}

/**
 * Whether a request is a conversation of texts: instructions at its start, and messages of user and assistant without
 * other members. Every model accepts it, so none of it is adapted.
 */
function isPlain(body: ChatCompletionRequest): boolean {
  if (body.tools !== undefined || body.functions !== undefined || body.cache_control !== undefined) return false;
  if (body.tool_choice !== undefined || body.function_call !== undefined) return false;
  if (body.response_format !== undefined) return false;
  for (let index = 0; index < body.messages.length; index++) {
    const message = body.messages[index]!;
    const { role, content } = message;
    if (role !== "user" && role !== "assistant" && (role !== "system" || index > 0)) return false;
    if (typeof content !== "string") return false;
    for (const name in message) if (name !== "role" && name !== "content") return false;
  }
  return true;
}

/** The rules that {@linkcode adaptTools} applies. */
const toolRules: readonly (keyof ParameterRules)[] = [
  ...["user_after_tool", "repeated_call_ids", "invalid_arguments", "tool_names", "tool_call_ids"] as const,
  ...["combined_parameters", "incomplete_schemas"] as const,
];

let adaptTools: typeof import("./_chat_tools.ts").adaptTools | undefined;

/**
 * Imports what the rules of a model for tools need, with the first request to such a model that may be subject to them.
 *
 * @returns Undefined if nothing has to be imported.
 */
function loadToolRules({ info: { parameters } }: ModelEntry, body?: ChatCompletionRequest) {
  if (adaptTools !== undefined || parameters === undefined || body !== undefined && isPlain(body)) return undefined;
  if (!toolRules.some((name) => name in parameters)) return undefined;
  return import("./_chat_tools.ts").then((loaded) => {
    adaptTools = loaded.adaptTools;
  });
}

/** Adapts messages and tools; returns the client's names if some are replaced. */
function adaptContent(
  body: ChatCompletionRequest,
  edits: Record<string, unknown>,
  { rules = {}, ownState }: { readonly rules: ParameterRules | undefined; readonly ownState: readonly string[] },
): ClientNames | undefined {
  const messages = adaptMessages(body.messages, rules, ownState);
  if (messages !== body.messages) edits.messages = messages;
  const adapted = adaptTools?.({ ...body, ...edits }, rules);
  Object.assign(edits, adapted?.edits);
  return adapted?.clientNames;
}

/** The model's rules; one that cannot reason accepts no reasoning effort, by this or another name. */
function rulesFor(
  { parameters: rules, features }: ModelInfo,
  { reasoning_effort: effort }: ChatCompletionRequest,
): ParameterRules | undefined {
  if (features?.reasoning !== false || effort === undefined && rules?.rename === undefined) return rules;
  return { ...rules, drop: [...rules?.drop ?? [], effortName] };
}

/** The state of earlier responses that a model accepts. The Responses API accepts its own, which chat does not. */
function listOwnState({ vendor, connector }: ModelEntry["instance"], api: ChatApi | undefined): readonly string[] {
  const names = connector?.ownState ?? [vendor, ...stateMembers];
  if (api === "responses") return [...names, vendor];
  return api === "chat" ? names.filter((name) => name !== vendor) : names;
}

function adaptMessages(messages: ChatMessage[], rules: ParameterRules, names: readonly string[]): ChatMessage[] {
  const own = withOwnState(messages, { names, thoughts: rules.thoughts });
  const adapted = withInstructions(own, rules);
  return rules.cache_control === false ? adapted : withPlacedMarks(adapted);
}

/** Omits parameters that the model rejects, under either name, renames others, and adds required ones. */
function applyRules(
  { drop = nothing, refuse = nothing, rename = noRules, efforts = noRules, fill = noRules }: ParameterRules,
  body: ChatCompletionRequest,
  edits: Record<string, unknown>,
): Applied {
  const isDropped = (name: string) => drop.includes(name) || drop.includes(rename[name] ?? name);
  const dropped: string[] = [];
  for (const name in body) {
    if (isDropped(name) && isGiven(body, name)) dropped.push(name);
    // rejected parameters have neutral values here, else the model would not be eligible
    if (isDropped(name) || refuse.includes(name)) edits[name] = undefined;
  }
  for (const from in rename) {
    if (!(from in body)) continue;
    const to = rename[from]!;
    edits[from] = undefined;
    // a null, or an invalid limit, is passed on if no other parameter has its name
    if (!isDropped(from) && (isGiven(body, from) ? !isGiven(body, to) : !(to in body))) edits[to] = body[from];
  }
  const { reasoning_effort: effort } = body;
  const replaced = typeof effort === "string" && Object.hasOwn(efforts, effort) ? efforts[effort]! : undefined;
  if (replaced !== undefined && replaced[effortName] !== effort && !isDropped(effortName)) {
    edits[effortName] = undefined;
    for (const [name, value] of Object.entries(replaced)) {
      if (name === effortName || !isGiven(body, name)) edits[name] = value;
    }
  }
  const added = fill === noRules
    ? nothing
    : Object.keys(fill).filter((name) => !isGiven(body, name) && !isGiven(edits, name));
  for (const name of added) edits[name] = fill[name];
  return { added, dropped };
}

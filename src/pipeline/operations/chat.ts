/**
 * The operation `chat`.
 * @module
 */
import { servesOperation } from "../../capability/operations.ts";
import type { ChatCompletion, ChatCompletionRequest } from "../../contracts/openai.ts";
import { isEmptyCompletion, normalizeChatResponse, readUsage, tokenBound } from "../read_response.ts";
import { estimateTokens, OutputEstimate, usesVendorTools } from "../estimate.ts";
import type { AnswerUsage, CheckedOperation, TakenUsage, UsageContext } from "../operation.ts";
import { measureRequest } from "../request_size.ts";
import { chatLacks } from "./_chat_lacks.ts";
import { loadToolRules, rewordChat } from "./_chat_rewording.ts";
import { isObject } from "../../util/is_object.ts";
import {
  bodyChecker,
  checkCount,
  checkId,
  checkOptional,
  invalid,
  maxTools,
  missing,
  wrongType,
} from "../check_body.ts";
import { chatMembers } from "../known_members.ts";

/** Chat completions, complete and streamed. */
export const chat: CheckedOperation<ChatCompletionRequest, ChatCompletion> = {
  name: "chat",
  serves: (leaf) => servesOperation(leaf, "chat"),
  check: checkChatRequest,
  measureNeeds(body) {
    const size = measureRequest(body);
    const tokens = estimateTokens(body, size);
    const load = usesVendorTools(body) ? { ...tokens, hasFee: true as const } : tokens;
    return { load, findLack: chatLacks(body, size) };
  },
  prepare: loadToolRules,
  reword: rewordChat,
  normalize: normalizeChatResponse,
  isEmpty: isEmptyCompletion,
  usageIn: ({ usage, choices }) => ({ usage, written: () => new OutputEstimate().add(choices).tokens }),
  readUsage: readChatUsage,
};

/** Usage that the provider does not report is estimated. */
function readChatUsage(
  { usage, written }: AnswerUsage,
  { body, model, load }: UsageContext<ChatCompletionRequest>,
): TakenUsage {
  const bound = tokenBound(model.constraints, body.n);
  const { input, output, tokens: total, cached, cacheWrite } = readUsage(usage, bound);
  if (input !== undefined && output !== undefined) {
    const tokens = Math.max(total ?? 0, input + output);
    return { quantities: { input, output, cached, cacheWrite }, tokens, isEstimated: false };
  }
  const read = input ?? Math.min(load.input, total ?? bound);
  const rest = output ?? (total === undefined ? Math.min(written(), bound) : total - read);
  return {
    quantities: { input: read, output: rest },
    tokens: Math.max(total ?? 0, read + rest),
    isEstimated: true,
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
  messages.forEach(checkMessage);
  if (stream !== undefined && stream !== null && typeof stream !== "boolean") {
    throw wrongType("stream", "a boolean", stream);
  }
  checkOptional(body, { name: "tools", expected: "an array", isValid: Array.isArray });
  checkCount(body.tools, "tools", maxTools);
  for (const name of ["stream_options", "response_format"]) {
    checkOptional(body, { name, expected: "an object", isValid: isObject });
  }
  for (const name of ["max_tokens", "max_completion_tokens", "n", "temperature", "top_p"]) {
    checkOptional(body, { name, expected: "a number", isValid: Number.isFinite });
  }
  return body as unknown as ChatCompletionRequest;
}

function checkMessage(message: unknown, index: number): void {
  const param = `messages[${index}]`;
  if (!isObject(message)) throw wrongType(param, "an object", message);
  if (message.role === undefined) throw missing(`${param}.role`);
  if (typeof message.role !== "string") throw wrongType(`${param}.role`, "a string", message.role);
  const { content, tool_calls: calls, tool_call_id: id } = message;
  checkId(id, `${param}.tool_call_id`);
  checkCount(calls, `${param}.tool_calls`, maxTools);
  if (Array.isArray(calls)) calls.forEach((call, at) => checkId(call?.id, `${param}.tool_calls[${at}].id`));
  if (content === undefined || content === null || typeof content === "string") return;
  if (!Array.isArray(content)) throw wrongType(`${param}.content`, "a string or an array", content);
  content.forEach((part, at) => {
    if (!isObject(part)) throw wrongType(`${param}.content[${at}]`, "an object", part);
  });
}

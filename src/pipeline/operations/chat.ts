/**
 * The operation `chat`.
 * @module
 */
import { servesOperation } from "../../capability/operations.ts";
import type { ChatCompletion, ChatCompletionRequest } from "../../contracts/openai.ts";
import { checkChatRequest } from "../check_request.ts";
import { isEmptyCompletion } from "../content.ts";
import { estimateTokens } from "../estimate.ts";
import { normalizeChatResponse } from "../normalize.ts";
import type { CheckedOperation, TakenUsage, UsageContext } from "../operation.ts";
import { OutputEstimate } from "../output_estimate.ts";
import { readUsage, tokenBound } from "../read_usage.ts";
import { measureRequest } from "../request_size.ts";
import type { AnswerUsage } from "../routed.ts";
import { usesVendorTools } from "../vendor_tools.ts";
import { chatLacks } from "./_chat_lacks.ts";
import { loadToolRules, rewordChat } from "./_chat_rewording.ts";

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

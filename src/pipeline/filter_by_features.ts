/**
 * Step 3, continued: the models that can take this very request, where sizes are for the provider to judge. An explicit
 * `false` rules a model out; what is not known does not.
 * @module
 */
import type { ChatCompletionRequest } from "../contracts/openai.ts";
import type { ModelFeatures, ModelInfo } from "../contracts/provider.ts";
import { UnsupportedRequestError } from "../errors.ts";
import type { Member, ModelEntry } from "../registry/registry.ts";

type Feature = keyof ModelFeatures;

/**
 * Keeps the members that can take the request.
 *
 * @param members Capable of the operation.
 * @param body The request.
 * @throws {UnsupportedRequestError} When no member is left; the message says what was asked too much.
 */
export function filterByFeatures(members: readonly Member[], body: ChatCompletionRequest): readonly Member[] {
  const needs = neededFeatures(body);
  const lackOf = ({ info }: ModelEntry) => lacking(info, needs, body);
  const able = members.filter(({ model }) => lackOf(model) === undefined);
  if (able.length === members.length) return members;
  if (able.length > 0) return able;
  const lacks = members.map(({ model }) => `"${model.name}" has no ${lackOf(model)}`);
  throw new UnsupportedRequestError(`No model of the pool can take this request: ${[...new Set(lacks)].join(", ")}`, {
    code: "unsupported_by_pool",
  });
}

function lacking(info: ModelInfo, needs: readonly Feature[], body: ChatCompletionRequest): string | undefined {
  return needs.find((feature) => info.features?.[feature] === false) ??
    info.parameters?.refuse?.find((name) => !isNeutral(name, body[name]));
}

/** Values that ask for nothing skip nobody. */
function isNeutral(name: string, value: unknown): boolean {
  if (value === null || value === undefined || value === false) return true;
  if (name === "n") return value === 1;
  if (name === "tool_choice") return value === "auto" || value === "none";
  if (name === "response_format") return (value as { type?: unknown }).type === "text";
  return Array.isArray(value) && value.length === 0;
}

function neededFeatures(body: ChatCompletionRequest): Feature[] {
  const needs: Feature[] = [];
  if (!isNeutral("tools", body.tools)) needs.push("tool_calling");
  if (!isNeutral("logprobs", body.logprobs)) needs.push("logprobs");
  if (body.response_format?.type === "json_schema") needs.push("structured_output");
  if (body.response_format?.type === "json_object") needs.push("json_mode");
  const parts = new Set<string>();
  for (const { role, content } of body.messages) {
    if (role === "system" || role === "developer") needs.push("system_prompt");
    if (Array.isArray(content)) { for (const part of content) parts.add(part?.type); }
  }
  if (parts.has("image_url")) needs.push("vision");
  if (parts.has("input_audio")) needs.push("audio_input");
  return needs;
}

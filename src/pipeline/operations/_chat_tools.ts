/**
 * Adapts the tools of a chat request, and the calls of its conversation, to a model. Imported for models with such rules.
 * @module
 */
import type { ChatCompletionRequest, JsonObject } from "../../contracts/openai.ts";
import type { ParameterRules } from "../../contracts/provider.ts";
import { type ClientNames, replaceNames } from "../client_names.ts";
import { withCalls } from "./_chat_calls.ts";
import { adaptSchemas } from "./_chat_schemas.ts";

/**
 * Adapts tools and calls.
 *
 * @param rules The model's rules.
 * @returns The members that differ; the client's names, if others are sent.
 */
export function adaptTools(
  body: ChatCompletionRequest,
  rules: ParameterRules,
): { readonly edits: JsonObject; readonly clientNames?: ClientNames } {
  const messages = withCalls(body.messages, rules);
  const edits = { ...(messages === body.messages ? {} : { messages }), ...adaptSchemas(body, rules) };
  const replaced = replaceNames({ ...body, ...edits }, rules);
  return { ...replaced, edits: { ...edits, ...replaced.edits } };
}

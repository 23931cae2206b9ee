/**
 * Adapts chat requests to a model: names and limits of parameters. The rules are data of connectors and models; this
 * module is independent of vendors.
 * @module
 */
import type { ChatCompletionRequest } from "../../contracts/openai.ts";
import type { ParameterRules } from "../../contracts/provider.ts";
import type { ModelEntry } from "../../registry/registry.ts";
import { isGiven } from "../../util/token_limit.ts";
import type { Rewording } from "../operation.ts";
import { withoutCacheControl } from "../cache_control.ts";
import { withOwnState } from "../own_state.ts";

const none: readonly string[] = [];

/**
 * Adapts a chat request.
 *
 * @param body The client's request.
 * @param model The model.
 */
export function rewordChat(body: ChatCompletionRequest, { info, instance }: ModelEntry): Rewording {
  const edits: Record<string, unknown> = {};
  const rules = info.parameters;
  const dropped = rules === undefined ? none : applyRules(rules, body, edits);
  const { vendor, connector } = instance;
  const messages = withOwnState(body.messages, { names: connector?.ownState ?? [vendor], thoughts: rules?.thoughts });
  if (messages !== body.messages) edits.messages = messages;
  if (rules?.cache_control !== false) return { edits, dropped };
  const unmarked = withoutCacheControl({ ...body, messages });
  Object.assign(edits, unmarked);
  return { edits, dropped: Object.keys(unmarked).length > 0 ? [...dropped, "cache_control"] : dropped };
}

/** Omits parameters that the model rejects, under either name, renames others, and adds required ones. */
function applyRules(
  { drop = [], refuse = [], rename = {}, efforts = {}, fill, fill_with_tools }: ParameterRules,
  body: ChatCompletionRequest,
  edits: Record<string, unknown>,
): readonly string[] {
  const isDropped = (name: string) => drop.includes(name) || drop.includes(rename[name] ?? name);
  for (const name of Object.keys(body)) {
    // rejected parameters have neutral values here, else the model would not be eligible
    if (isDropped(name) || refuse.includes(name)) edits[name] = undefined;
  }
  for (const [from, to] of Object.entries(rename)) {
    if (!(from in body)) continue;
    edits[from] = undefined;
    // a null, or an invalid limit, is passed on if no other parameter has its name
    if (!isDropped(from) && (isGiven(body, from) ? !isGiven(body, to) : !(to in body))) edits[to] = body[from];
  }
  const { reasoning_effort: effort } = body;
  if (typeof effort === "string" && Object.hasOwn(efforts, effort) && !isDropped("reasoning_effort")) {
    edits.reasoning_effort = undefined;
    for (const [name, value] of Object.entries(efforts[effort]!)) {
      if (name === "reasoning_effort" || !isGiven(body, name)) edits[name] = value;
    }
  }
  const hasTools = Array.isArray(body.tools) && body.tools.length > 0;
  for (const [name, value] of Object.entries({ ...fill, ...(hasTools ? fill_with_tools : {}) })) {
    if (!isGiven(body, name) && !isGiven(edits, name)) edits[name] = value;
  }
  return Object.keys(body).filter((name) => isGiven(body, name) && isDropped(name));
}

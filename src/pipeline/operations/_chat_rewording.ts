/**
 * Adapts chat requests to a model: names and limits of parameters. The rules are data of connectors and models; this
 * module is independent of vendors.
 * @module
 */
import type { ChatCompletionRequest, ChatMessage } from "../../contracts/openai.ts";
import type { ModelInfo, ParameterRules } from "../../contracts/provider.ts";
import type { ModelEntry } from "../../registry/registry.ts";
import { isGiven } from "../../util/token_limit.ts";
import type { Rewording } from "../operation.ts";
import {
  stateMembers,
  withInstructions,
  withoutCacheControl,
  withOwnState,
  withPlacedMarks,
} from "./_chat_messages.ts";
import type { ClientNames } from "../client_names.ts";
import { lowerToBounds } from "./_chat_lacks.ts";

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
export function rewordChat(body: ChatCompletionRequest, { info, instance }: ModelEntry): Rewording {
  const bounded = lowerToBounds(body, info);
  const edits: Record<string, unknown> = { ...bounded };
  const rules = rulesFor(info);
  const { dropped: left, added } = rules === undefined ? unruled : applyRules(rules, { ...body, ...bounded }, edits);
  const dropped = [...Object.keys(bounded), ...left];
  const clientNames = adaptContent(body, edits, { rules, instance });
  const names = clientNames === undefined ? {} : { clientNames };
  if (rules?.cache_control !== false) return { edits, dropped, added, ...names };
  const unmarked = withoutCacheControl({ ...body, ...edits });
  Object.assign(edits, unmarked);
  const all = Object.keys(unmarked).length > 0 ? [...dropped, "cache_control"] : dropped;
  return { edits, added, dropped: all, ...names };
}

/** The rules that {@linkcode adaptTools} applies. */
const toolRules: readonly (keyof ParameterRules)[] = [
  ...["user_after_tool", "repeated_call_ids", "invalid_arguments", "tool_names", "tool_call_ids"] as const,
  ...["combined_parameters", "incomplete_schemas"] as const,
];

let adaptTools: typeof import("./_chat_tools.ts").adaptTools | undefined;

/**
 * Imports what the rules of a model for tools need, with the first request to such a model.
 *
 * @returns Undefined if nothing has to be imported.
 */
export function loadToolRules({ info: { parameters = {} } }: ModelEntry): Promise<void> | undefined {
  if (adaptTools !== undefined || !toolRules.some((name) => name in parameters)) return undefined;
  return import("./_chat_tools.ts").then((loaded) => {
    adaptTools = loaded.adaptTools;
  });
}

/** Adapts messages and tools; returns the client's names if some are replaced. */
function adaptContent(
  body: ChatCompletionRequest,
  edits: Record<string, unknown>,
  { rules = {}, instance }: { readonly rules: ParameterRules | undefined; readonly instance: ModelEntry["instance"] },
): ClientNames | undefined {
  const messages = adaptMessages(body.messages, rules, instance);
  if (messages !== body.messages) edits.messages = messages;
  const adapted = adaptTools?.({ ...body, ...edits }, rules);
  Object.assign(edits, adapted?.edits);
  return adapted?.clientNames;
}

/** The model's rules; one that cannot reason accepts no reasoning effort. */
function rulesFor({ parameters: rules, features }: ModelInfo): ParameterRules | undefined {
  if (features?.reasoning !== false) return rules;
  const { [effortName]: _, ...others } = rules?.fill_with_tools ?? {};
  return { ...rules, drop: [...rules?.drop ?? [], effortName], fill_with_tools: others };
}

function adaptMessages(
  messages: ChatMessage[],
  rules: ParameterRules,
  { vendor, connector }: ModelEntry["instance"],
): ChatMessage[] {
  const names = connector?.ownState ?? [vendor, ...stateMembers];
  const own = withOwnState(messages, { names, thoughts: rules.thoughts });
  const adapted = withInstructions(own, rules);
  return rules.cache_control === false ? adapted : withPlacedMarks(adapted);
}

/** Omits parameters that the model rejects, under either name, renames others, and adds required ones. */
function applyRules(
  { drop = [], refuse = [], rename = {}, efforts = {}, fill, fill_with_tools }: ParameterRules,
  body: ChatCompletionRequest,
  edits: Record<string, unknown>,
): Applied {
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
  const replaced = typeof effort === "string" && Object.hasOwn(efforts, effort) ? efforts[effort]! : undefined;
  if (replaced !== undefined && replaced[effortName] !== effort && !isDropped(effortName)) {
    edits[effortName] = undefined;
    for (const [name, value] of Object.entries(replaced)) {
      if (name === effortName || !isGiven(body, name)) edits[name] = value;
    }
  }
  const hasTools = Array.isArray(body.tools) && body.tools.length > 0;
  const defaults = { ...fill, ...(hasTools ? fill_with_tools : {}) };
  const added = Object.keys(defaults).filter((name) => !isGiven(body, name) && !isGiven(edits, name));
  for (const name of added) edits[name] = defaults[name];
  return { added, dropped: Object.keys(body).filter((name) => isGiven(body, name) && isDropped(name)) };
}

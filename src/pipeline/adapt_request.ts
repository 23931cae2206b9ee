/**
 * Rewords a request for one model: routing fields out, names and limits as the model takes them. The rules are data
 * of the connector and the model; nothing here knows a vendor.
 * @module
 */
import type { ChatCompletionRequest } from "../contracts/openai.ts";
import type { CompletionRequest, ParameterRules } from "../contracts/provider.ts";
import { isGiven } from "../util/token_limit.ts";
import type { ModelEntry } from "../registry/registry.ts";
import { withOwnState } from "./own_state.ts";
import type { RoutedRequest } from "./request.ts";

/** Fields that steer us, or that would let a caller choose the target or the key. */
export const privateFields: readonly string[] = [
  "mesh",
  "models",
  "api_key",
  "api_base",
  "base_url",
  "extra_headers",
];

const none: readonly string[] = [];

/** A request in a model's words. */
export interface AdaptedRequest {
  readonly completion: CompletionRequest;
  /** Parameters left out because the model refuses them. */
  readonly dropped: readonly string[];
}

/**
 * Rewords a request.
 *
 * @param request As the client made it.
 * @param model The model that it is sent to.
 */
export function adaptRequest(request: RoutedRequest, model: ModelEntry): AdaptedRequest {
  const { body, text } = request;
  const edits: Record<string, unknown> = {};
  for (const name of privateFields) if (name in body) edits[name] = undefined;
  const rules = model.info.parameters;
  const dropped = rules === undefined ? none : applyRules(rules, body, edits);
  const { vendor, connector } = model.instance;
  const messages = withOwnState(body.messages, { names: connector?.ownState ?? [vendor], thoughts: rules?.thoughts });
  if (messages !== body.messages) edits.messages = messages;
  const adapted = edited(body, edits);
  return {
    completion: {
      model: model.info,
      stream: request.delivery === "stream",
      body: adapted,
      ...(text === undefined ? {} : { wire: { text, edits } }),
    },
    dropped,
  };
}

/** Leaves out what the model would refuse, under either of its names; renames what it calls otherwise; fills in the rest. */
function applyRules(
  { drop = [], refuse = [], rename = {}, fill, fill_with_tools }: ParameterRules,
  body: ChatCompletionRequest,
  edits: Record<string, unknown>,
): readonly string[] {
  const isDropped = (name: string) => drop.includes(name) || drop.includes(rename[name] ?? name);
  for (const name of Object.keys(body)) {
    // of what it refuses only values that ask for nothing have come this far
    if (isDropped(name) || refuse.includes(name)) edits[name] = undefined;
  }
  for (const [from, to] of Object.entries(rename)) {
    if (!(from in body)) continue;
    edits[from] = undefined;
    // a null, or a limit that is none, goes on as well where nothing else takes its name
    if (!isDropped(from) && (isGiven(body, from) ? !isGiven(body, to) : !(to in body))) edits[to] = body[from];
  }
  const hasTools = Array.isArray(body.tools) && body.tools.length > 0;
  for (const [name, value] of Object.entries({ ...fill, ...(hasTools ? fill_with_tools : {}) })) {
    if (!isGiven(body, name) && !isGiven(edits, name)) edits[name] = value;
  }
  return Object.keys(body).filter((name) => isGiven(body, name) && isDropped(name));
}

function edited(body: ChatCompletionRequest, edits: Readonly<Record<string, unknown>>): ChatCompletionRequest {
  const names = Object.keys(edits);
  if (names.length === 0) return body;
  const copy = { ...body, ...edits };
  for (const name of names) if (edits[name] === undefined) delete copy[name];
  return copy;
}

/**
 * Adapts the requests of most operations.
 * @module
 */
import type { RequestBody } from "../../contracts/openai.ts";
import type { ModelEntry } from "../../registry/registry.ts";
import { isGiven } from "../../util/token_limit.ts";
import type { Rewording } from "../operation.ts";

/**
 * Omits parameters that the model's rules drop or reject; rejected ones have neutral values here. Other rules concern
 * chat.
 *
 * @param body The client's request.
 */
export function dropRefused(body: RequestBody, { info: { parameters } }: ModelEntry): Rewording {
  const { drop = [], refuse = [] } = parameters ?? {};
  const edits: Record<string, undefined> = {};
  const dropped: string[] = [];
  if (drop.length + refuse.length === 0) return { edits, dropped };
  for (const name of Object.keys(body)) {
    if (!drop.includes(name) && !refuse.includes(name)) continue;
    edits[name] = undefined;
    if (drop.includes(name) && isGiven(body, name)) dropped.push(name);
  }
  return { edits, dropped };
}

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
  const left = Object.keys(body).filter((name) => drop.includes(name) || refuse.includes(name));
  return {
    edits: Object.fromEntries(left.map((name) => [name, undefined])),
    dropped: left.filter((name) => isGiven(body, name) && drop.includes(name)),
  };
}

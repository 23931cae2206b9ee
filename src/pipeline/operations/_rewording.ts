/**
 * How most operations reword their requests.
 * @module
 */
import type { RequestBody } from "../../contracts/openai.ts";
import type { ModelEntry } from "../../registry/registry.ts";
import { isGiven } from "../../util/token_limit.ts";
import type { Rewording } from "../operation.ts";

/**
 * Leaves out what the model's rules drop or refuse: of what is refused, only values that ask for nothing come this far.
 * The other rules are about chat.
 *
 * @param body As the client made it.
 * @param model The model that it is sent to.
 */
export function dropRefused(body: RequestBody, { info: { parameters } }: ModelEntry): Rewording {
  const { drop = [], refuse = [] } = parameters ?? {};
  const left = Object.keys(body).filter((name) => drop.includes(name) || refuse.includes(name));
  return {
    edits: Object.fromEntries(left.map((name) => [name, undefined])),
    dropped: left.filter((name) => isGiven(body, name) && drop.includes(name)),
  };
}

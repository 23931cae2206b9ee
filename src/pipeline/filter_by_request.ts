/**
 * Step 3, continued: the models that can take this very request. An explicit `false` or a size that is too small
 * rules a model out; what is not known does not.
 * @module
 */
import { UnsupportedRequestError } from "../errors.ts";
import type { Member } from "../registry/registry.ts";
import type { RequestNeeds } from "./operation.ts";

/** Models that an error names; a pool may have a thousand. */
const maxNamed = 10;

/**
 * Keeps the members that can take the request.
 *
 * @param members Capable of the operation.
 * @param needs What the request asks of a model.
 * @throws {UnsupportedRequestError} When no member is left; the message names what each model lacks.
 */
export function filterByRequest(
  members: readonly Member[],
  { lackOf }: Pick<RequestNeeds, "lackOf">,
): readonly Member[] {
  const eligible = members.filter(({ model }) => lackOf(model.info) === undefined);
  if (eligible.length === members.length) return members;
  if (eligible.length > 0) return eligible;
  const lacks = members.slice(0, maxNamed).map(({ model }) => `"${model.name}" has no ${lackOf(model.info)}`);
  const rest = members.length > maxNamed ? ` and ${members.length - maxNamed} more likewise` : "";
  throw new UnsupportedRequestError(
    `No model of the pool can take this request: ${[...new Set(lacks)].join(", ")}${rest}`,
    { code: "unsupported_by_pool" },
  );
}

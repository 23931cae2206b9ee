/**
 * Step 3, continued: models with the features and sizes that the request requires. An explicit `false` or a size that
 * is too small excludes a model; an unknown value does not.
 * @module
 */
import { UnsupportedRequestError } from "../errors.ts";
import type { Member, ModelEntry } from "../registry/registry.ts";

/** Maximum number of models in an error message. */
const maxNamed = 10;

/** How a lack of context begins. Clients recognize its code, and shorten their conversation. */
const roomLack = /^room for .{0,40}tokens$/;

/**
 * Keeps the eligible members.
 *
 * @param members Members that support the operation.
 * @param lackOf Returns what a model lacks for the request; undefined if it is eligible.
 * @throws {UnsupportedRequestError} `context_length_exceeded` or `unsupported_by_pool` if no member is left. The message
 * contains what each model lacks.
 */
export function filterByRequest(
  members: readonly Member[],
  lackOf: (model: ModelEntry) => string | undefined,
): readonly Member[] {
  const eligible = members.filter(({ model }) => lackOf(model) === undefined);
  if (eligible.length === members.length) return members;
  if (eligible.length > 0) return eligible;
  const lacks = members.slice(0, maxNamed).map(({ model }) => `"${model.name}" has no ${lackOf(model)}`);
  const isTooLong = members.every(({ model }) => roomLack.test(lackOf(model) ?? ""));
  const rest = members.length > maxNamed ? ` and ${members.length - maxNamed} more likewise` : "";
  throw new UnsupportedRequestError(
    `No model of the pool can take this request: ${[...new Set(lacks)].join(", ")}${rest}`,
    { code: isTooLong ? "context_length_exceeded" : "unsupported_by_pool" },
  );
}

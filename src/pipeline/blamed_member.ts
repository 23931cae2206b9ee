/**
 * Finds the member of a request that a provider's error names.
 * @module
 */
import type { Failure } from "./failure.ts";

/** Statuses of requests that a provider rejects as invalid. */
const rejections: ReadonlySet<number | undefined> = new Set([400, 422]);

/** Names that are no words: an error that contains one means the member. Others count only in quotation marks. */
const unmistakable = /_|logprobs/;

/**
 * Returns the first of some members that a failure blames; undefined if it blames none of them.
 *
 * @param failure The failure of a try.
 * @param names The names of the members.
 */
export function findBlamedMember({ status, fault }: Failure, names: readonly string[]): string | undefined {
  if (fault === undefined || !rejections.has(status)) return undefined;
  const { message, param } = fault.error;
  const path = param?.split(/[.[]/) ?? [];
  return names.find((name) => path.includes(name) || mentions(message, name));
}

function mentions(message: string, name: string): boolean {
  return unmistakable.test(name)
    ? message.split(/\W+/).includes(name)
    : [`"${name}"`, `'${name}'`, `\`${name}\``].some((quoted) => message.includes(quoted));
}

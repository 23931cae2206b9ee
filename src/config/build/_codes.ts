/**
 * Lists of statuses that are retried, and of those that are not.
 * @module
 */
import { defaultNonRetryableCodes, defaultRetryableCodes } from "../settings/defaults.ts";

/** One layer's lists; a list that is left out leaves the layer below in effect. */
export interface CodeLists {
  readonly retryable?: readonly number[];
  readonly nonRetryable?: readonly number[];
}

/**
 * The lists in effect: a layer's list replaces those below it, and removes its codes from their other list.
 *
 * @param layers The strongest first; below them is what is built in.
 */
export function mergeCodes(layers: readonly CodeLists[]): Required<CodeLists> {
  let retryable = defaultRetryableCodes;
  let nonRetryable = defaultNonRetryableCodes;
  for (const { retryable: more, nonRetryable: less } of [...layers].reverse()) {
    if (more !== undefined) {
      retryable = more;
      nonRetryable = nonRetryable.filter((code) => !more.includes(code));
    }
    if (less !== undefined) {
      nonRetryable = less;
      retryable = retryable.filter((code) => !less.includes(code));
    }
  }
  return { retryable, nonRetryable };
}

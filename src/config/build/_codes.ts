/**
 * Merges lists of retryable and non-retryable HTTP statuses.
 * @module
 */
import { defaultNonRetryableCodes, defaultRetryableCodes } from "../settings/defaults.ts";

/** The lists of one layer; an omitted list inherits from the layer below. */
export interface CodeLists {
  readonly retryable?: readonly number[];
  readonly nonRetryable?: readonly number[];
}

/**
 * Merges the layers: a list replaces those below it, and removes its statuses from the opposite list.
 *
 * @param layers Layers, highest precedence first; the built-in lists are below them.
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

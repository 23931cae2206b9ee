/**
 * Merges lists of retryable and non-retryable HTTP statuses.
 * @module
 */
import { defaultNonRetryableCodes, defaultRetryableCodes } from "../settings/defaults.ts";

/** The lists of one layer; an omitted list inherits from the layer below. */
export interface CodeLists {
  readonly retryable?: readonly number[] | undefined;
  readonly nonRetryable?: readonly number[] | undefined;
}

/**
 * Merges the layers, list by list. A configured list removes its statuses from the opposite default list.
 *
 * @param layers Layers, highest precedence first; the built-in lists are below them.
 */
export function mergeCodes(
  layers: readonly CodeLists[],
): { readonly retryable: readonly number[]; readonly nonRetryable: readonly number[] } {
  const retryable = layers.find((layer) => layer.retryable !== undefined)?.retryable;
  const nonRetryable = layers.find((layer) => layer.nonRetryable !== undefined)?.nonRetryable;
  return {
    retryable: retryable ?? without(nonRetryable, defaultRetryableCodes),
    nonRetryable: nonRetryable ?? without(retryable, defaultNonRetryableCodes),
  };
}

function without(taken: readonly number[] = [], codes: readonly number[]): readonly number[] {
  return codes.filter((code) => !taken.includes(code));
}

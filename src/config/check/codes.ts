/**
 * Validates lists of retryable and non-retryable HTTP statuses.
 * @module
 */
import { everyPool, type PoolValues } from "../schema/pools.ts";
import type { CodeValues, ProviderValues } from "../schema/providers.ts";
import { type Report, under } from "../schema/report.ts";

/** The lists of one entry, and its path. */
type CodeLayer = readonly [codes: CodeValues | undefined, path: string];

/** Reports statuses that are configured as both, in one entry or in entries that are merged. */
export function checkCodes(
  pools: ReadonlyMap<string, PoolValues>,
  providers: ReadonlyMap<string, ProviderValues>,
  report: Report,
): void {
  const retriesOf = (name: string): CodeLayer => [pools.get(name)?.retry, `${under("pools", name)}.retry`];
  const errors = [...providers].map(([id, { error }]): CodeLayer => [error, `${under("providers", id)}.error`]);
  for (const layer of errors) checkLayers([layer], report);
  for (const name of new Set([everyPool, ...pools.keys()])) {
    const layers = name === everyPool ? [retriesOf(name)] : [retriesOf(name), retriesOf(everyPool)];
    checkLayers(layers, report);
    for (const [codes, path] of errors) if (codes !== undefined) checkLayers([...layers, [codes, path]], report);
  }
}

/** @param layers Layers, highest precedence first; the first list of either kind applies. */
function checkLayers(layers: readonly CodeLayer[], report: Report): void {
  const retried = layers.findIndex(([codes]) => codes?.retryable_codes !== undefined);
  const others = layers.findIndex(([codes]) => codes?.non_retryable_codes !== undefined);
  if (retried === -1 || others === -1) return;
  const [lists, listsPath] = layers[retried]!;
  const [otherLists, otherPath] = layers[others]!;
  const both = new Set(lists!.retryable_codes!.filter((code) => otherLists!.non_retryable_codes!.includes(code)));
  const path = others <= retried ? `${otherPath}.non_retryable_codes` : `${listsPath}.retryable_codes`;
  if (both.size === 0 || report.hasProblemAt(path)) return;
  const other = others === retried
    ? "retryable_codes"
    : others < retried
    ? `${listsPath}.retryable_codes`
    : `${otherPath}.non_retryable_codes`;
  const isOne = both.size === 1;
  report.problem(path, `${[...both].join(", ")} ${isOne ? "is" : "are"} in "${other}" as well: list each once`);
}

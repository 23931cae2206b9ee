/**
 * Invalid token counts.
 * @module
 */

/** Numbers, and invalid values in their place. */
export const oddCounts: readonly unknown[] = [
  "20",
  "",
  {},
  [],
  [7],
  null,
  true,
  -1,
  -1e15,
  0.5,
  1e16,
  1e308,
  Number.MAX_SAFE_INTEGER,
  100_000_001,
];

/** Invalid usage objects. */
export const oddUsages: readonly unknown[] = ["20", 20, [], {}, true, { prompt_tokens: {} }];

/**
 * Returns a random usage object, valid or not.
 *
 * @param random Random number generator, uniform in [0, 1).
 */
export function someUsage(random: () => number): unknown {
  const pick = <Item>(list: readonly Item[]) => list[Math.floor(random() * list.length)]!;
  if (random() < 0.1) return pick(oddUsages);
  const count = () => random() < 0.5 ? Math.floor(random() * 100) : pick(oddCounts);
  const names = ["prompt_tokens", "completion_tokens", "total_tokens"].filter(() => random() < 0.9);
  const details = random() < 0.3
    ? { prompt_tokens_details: { cached_tokens: count(), cache_write_tokens: count() } }
    : {};
  return { ...Object.fromEntries(names.map((name) => [name, count()])), ...details };
}

/**
 * Random JSON from a seed, for code that must handle any input.
 * @module
 */

const texts = [
  "",
  "a",
  " ",
  "image_url",
  "input_audio",
  "file",
  "text",
  "system",
  "data:;base64,AA==",
  "__proto__",
  "中",
  "9".repeat(300),
];
const names = [
  ...["role", "content", "type", "text", "image_url", "url", "input_audio", "data", "format", "file", "file_data"],
  ...["function", "name", "tool_calls", "arguments", "only", "ignore", "order", "max_price", "deadline", "session"],
  ...["tags", "__proto__", "constructor", "toString"],
];
const numbers = [0, -1, 1, 0.5, 1e300, -1e300, 2 ** 53];

/**
 * Returns a random JSON value, often an object or an array with members that the tested code reads.
 *
 * @param random Random number generator, uniform in [0, 1).
 * @param depth Maximum depth.
 */
export function junk(random: () => number, depth = 4): unknown {
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)]!;
  const kind = Math.floor(random() * (depth > 0 ? 8 : 4));
  if (kind === 0) return pick([null, true, false]);
  if (kind === 1) return pick(numbers);
  if (kind < 4) return pick(texts);
  const length = Math.floor(random() * 5);
  if (kind < 6) return Array.from({ length }, () => junk(random, depth - 1));
  return Object.fromEntries(Array.from({ length }, () => [pick(names), junk(random, depth - 1)]));
}

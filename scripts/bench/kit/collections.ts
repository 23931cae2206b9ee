/**
 * Garbage collections of a contestant, from what V8 prints with `--trace-gc`. A sample that collected more than others
 * measured a different state of the process, not a different program.
 * @module
 */

/** Collections during a measurement. */
export interface Collections {
  /** Number of scavenges: collections of the young generation. */
  readonly scavenges: number;
  /** Their total duration, ms. */
  readonly scavengeMs: number;
  /** Number of collections of the whole heap. */
  readonly full: number;
  /** Their pauses, ms. */
  readonly fullMs: number;
}

/** Flag of V8 that prints a line per collection. */
export const traceFlag = "--trace-gc";

/** `[12:0x5f] 320 ms: Scavenge 9.8 (12.0) -> 8.1 (13.0) MB, pooled: 0 MB, 0.71 / 0.00 ms  (average …` */
const line = /\bms: (Scavenge|Mark-Compact)\b.*? MB, (?:pooled: [\d.]+ MB, )?([\d.]+) \/ /g;

/** Counts the collections in a part of a log. */
export function collectionsIn(log: string): Collections {
  const found = [...log.matchAll(line)];
  const listDurations = (kind: string) => found.filter(([, type]) => type === kind).map(([, , ms]) => Number(ms));
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const [young, old] = [listDurations("Scavenge"), listDurations("Mark-Compact")];
  return { scavenges: young.length, scavengeMs: sum(young), full: old.length, fullMs: sum(old) };
}

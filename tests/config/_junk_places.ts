/** Values of every kind, and every place of the configuration where one could be put. */
import type { Field } from "../../src/config/schema/field.ts";

const shared = { a: 1 };
/** What a program, or a file, may hand in. */
export const junk: readonly unknown[] = [
  ...[null, undefined, true, 0, -1, 1.5, NaN, Infinity, 10n, Symbol("x"), "", " ", "x", "5s", "5MB", "a\nb", "*"],
  ...["${secrets:A}", "${secrets:", "$${secrets:", "${A}", "toString", "__proto__", "x".repeat(1000), "\ud800", "٣"],
  ...[[], [null], [[]], ["x", "x"], [{}], Array(3), {}, { a: 1 }, { "": 1 }, { ".": 1 }, {
    "a.b": shared,
    a: { b: shared },
  }],
  ...[{ "*": {} }, { x: null }, { toString: 1 }, Object.create(null), () => 1, new Date(0), new Map([["a", 1]]), /x/],
  ...[{ select: () => undefined, score: () => 0 }, { complete() {}, stream() {} }],
];

/** Every place of the schema as a function that puts a value there. */
export function* listPlaces(
  field: Field,
  put: (value: unknown) => unknown = (value) => value,
): Generator<(value: unknown) => unknown> {
  yield put;
  const { fields = {}, item, options = [], type, isSingleAllowed } = field;
  for (const [key, inner] of Object.entries(fields)) yield* listPlaces(inner, (value) => put({ [key]: value }));
  for (const inner of options) yield* listPlaces(inner, put);
  if (item === undefined) return;
  if (isSingleAllowed) yield* listPlaces(item, put);
  yield* listPlaces(item, (value) => put(type === "list" ? [value] : { "acme.llm.v1": value }));
}

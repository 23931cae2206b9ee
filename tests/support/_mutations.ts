/**
 * Mutations of JSON and of text, from a seed: what is well-formed becomes what a careless, old or hostile peer would send.
 * @module
 */

/** A pseudorandom generator, uniform in [0, 1). */
export type Random = () => number;

/**
 * Creates a generator (mulberry32).
 *
 * @param seed An integer. Equal seeds give equal numbers.
 */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns one of a list. */
export function pick<Value>(list: readonly Value[], random: Random): Value {
  return list[Math.floor(random() * list.length)]!;
}

const deep = Array.from({ length: 40 }).reduce<unknown>((inner) => [inner], "deep");

/** Values where another was expected. */
const odd: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 1e308, -1e308, 2 ** 53, 1e-320],
  ...["", " ", "a", "null", "NaN", "\u0000", "\ud800", "\u2028", "𝒳𝒳", "9".repeat(400), "{", "{}", "[]", '{"a":1}'],
  ...[
    "data:;base64,",
    "data:image/png;base64,%%%",
    "http://[",
    "https://a.example/b.png",
    "stop",
    "tool_calls",
    "text",
  ],
  ...[[], {}, [[]], [null], [{}], [""], [1, "a", null], { a: null }, { type: null }, { type: "text" }, deep],
];

/** Objects that cannot be converted to text or numbers, and objects whose members are those of other types. */
const unprintable: readonly unknown[] = [
  ...[{ toString: 1 }, { toString: null, valueOf: {} }, [{ toString: 1 }], { toString: 1, type: "text", text: "a" }],
  ...[{ toJSON: 1 }, { length: 1e9 }, { then: 1 }, "constructor", "__proto__"],
];

/** Names of members that nothing expects, or that an object has by itself. */
const oddNames = ["__proto__", "constructor", "toString", "length", "", "type", "Role", "null", "0", "then"];

/** A member of an object, or an element of a list. */
interface Slot {
  readonly holder: Record<string, unknown> | unknown[];
  readonly key: string;
}

function slotsIn(value: unknown): Slot[] {
  if (typeof value !== "object" || value === null) return [];
  const holder = value as Slot["holder"];
  return Object.keys(holder).flatMap((key) => [{ holder, key }, ...slotsIn(Reflect.get(holder, key))]);
}

/** Sets a member, also one called `__proto__`. */
function put({ holder, key }: Slot, value: unknown): void {
  Object.defineProperty(holder, key, { value, configurable: true, enumerable: true, writable: true });
}

function remove({ holder, key }: Slot): void {
  if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else delete holder[key];
}

type Edit = (slot: Slot, random: Random, all: readonly Slot[]) => void;

const valueOf = ({ holder, key }: Slot): unknown => Reflect.get(holder, key);

const edits: readonly Edit[] = [
  (slot, random) => put(slot, structuredClone(pick(odd, random))),
  (slot, random) => put(slot, structuredClone(pick(odd, random))),
  (slot, random) => put(slot, structuredClone(pick(unprintable, random))),
  (slot) => put(slot, null),
  remove,
  (slot) => put(slot, [valueOf(slot)]),
  (slot) => put(slot, { value: valueOf(slot) }),
  (slot) => put(slot, JSON.stringify(valueOf(slot))),
  (slot) => put(slot, `${JSON.stringify(valueOf(slot))} `),
  (slot) => put(slot, Object.values(Object(valueOf(slot)))),
  (slot) => {
    const { holder } = slot;
    if (Array.isArray(holder)) holder.push(structuredClone(valueOf(slot)));
    else put({ holder, key: slot.key.toUpperCase() }, valueOf(slot));
  },
  (slot, random) => {
    const value = valueOf(slot);
    remove(slot);
    if (!Array.isArray(slot.holder)) put({ holder: slot.holder, key: pick(oddNames, random) }, value);
  },
  (slot, random) => {
    if (!Array.isArray(slot.holder)) {
      put({ holder: slot.holder, key: pick(oddNames, random) }, structuredClone(pick(odd, random)));
    }
  },
  // what another place holds
  (slot, random, all) => put(slot, structuredClone(valueOf(pick(all, random)))),
];

/**
 * Returns a changed copy of a JSON value: one to three places have another value, name or type, or are missing.
 *
 * @param value The value; not changed.
 * @param random Random number generator.
 */
export function mutated(value: unknown, random: Random): unknown {
  const root = [structuredClone(value)];
  const count = pick([1, 1, 1, 2, 3], random);
  for (let index = 0; index < count; index++) {
    const all = slotsIn(root);
    if (all.length > 0) pick(edits, random)(pick(all, random), random, all);
  }
  return root[0];
}

const junkTexts = [
  "\u0000",
  "{",
  "}",
  '"',
  ",",
  "\n\n",
  "\r",
  "data: ",
  "[DONE]",
  "\\u",
  "null",
  ":",
  "event: error\n",
  "😀",
];

/**
 * Returns a changed copy of a text: cut, with something inserted or left out, or with a part of it twice.
 *
 * @param random Random number generator.
 */
export function mutatedText(text: string, random: Random): string {
  const at = Math.floor(random() * (text.length + 1));
  const to = Math.min(text.length, at + Math.floor(random() * 20));
  const kind = Math.floor(random() * 4);
  if (kind === 0) return text.slice(0, at);
  if (kind === 1) return text.slice(0, at) + pick(junkTexts, random) + text.slice(at);
  if (kind === 2) return text.slice(0, at) + text.slice(to);
  return text.slice(0, to) + text.slice(at);
}

/**
 * Spellings of the connector parameters in the specification, such as `provider.execution.timeout`. A document leaves
 * out their first words.
 * @module
 */
import { isPlainObject } from "./tree.ts";

/** Where the parameters of a first word are, by that word; empty for the section itself. */
export type Spellings = Readonly<Record<string, string>>;

/** Number of keys that a message may list. */
const maxShown = 20;

/** A key, and the key to write instead. */
interface Respelled {
  /** What follows the path of the section. */
  readonly key: string;
  readonly instead: string;
}

/**
 * Finds the spelling to write for a key and what is in it; none if it does not begin like a parameter of the
 * specification.
 *
 * @param key An unknown key, possibly dotted.
 */
export function findSpellings(key: string, value: unknown, spellings: Spellings): readonly Respelled[] {
  return [...leafKeys(key, value)].slice(0, maxShown).flatMap((leaf) => {
    const prefix = Object.keys(spellings).find((one) => leaf.startsWith(`${one}.`));
    if (prefix === undefined) return [];
    const [section, rest] = [spellings[prefix]!, leaf.slice(prefix.length + 1)];
    return { key: leaf, instead: section === "" ? rest : `${section}.${rest}` };
  });
}

function* leafKeys(key: string, value: unknown): Generator<string> {
  const members = isPlainObject(value) ? Object.entries(value) : [];
  if (members.length === 0) yield key;
  for (const [name, member] of members) yield* leafKeys(`${key}.${name}`, member);
}

/**
 * What every secret store that can be written does. It needs no Deno, like the suite of storages.
 * @module
 */
import type { SecretStore } from "../../src/contracts/secret_store.ts";
import { type ConformanceCase, rejection, same } from "./_plain.ts";

export type { ConformanceCase };

/** Makes an empty store that shares nothing with the one before. */
export type MakeSecretStore = () => Required<SecretStore> | Promise<Required<SecretStore>>;

/** What differs from store to store. */
export interface SecretStoreTraits {
  /** Names it can have; all sorts unless given. */
  readonly names?: readonly string[];
  /** Names it cannot have. */
  readonly refused?: readonly string[];
  /** It cannot keep an empty value. */
  readonly refusesEmpty?: boolean;
}

const oddNames = ["__proto__", "constructor", "with space", "слово", "a.b/c", "OPENAI_API_KEY"];
const values = ["one", "", " two\nlines ", "crlf\r\nand\ttab", "ключ 👍", `'"\`$HOME \${X} \\n#=`, "x".repeat(10_000)];

type Prove = (store: Required<SecretStore>, traits: Required<SecretStoreTraits>) => Promise<void>;

const cases: Record<string, Prove> = {
  async "a secret that is not there is undefined"(store, { names }) {
    same([await store.get("NAME"), await store.list(), await store.delete("NAME")], [undefined, [], false]);
    for (const name of names) same(await store.get(name), undefined);
  },
  async "what was set is got, and setting again replaces it"(store, { refusesEmpty }) {
    for (const value of values.filter((value) => value !== "" || !refusesEmpty)) {
      await store.set("NAME", value);
      same(await store.get("NAME"), value);
    }
    same(await store.list(), ["NAME"]);
  },
  async "names are listed, sorted, without values"(store, { names }) {
    for (const name of names) await store.set(name, `value of ${name}`);
    same(await store.list(), [...names].sort());
    for (const name of names) same(await store.get(name), `value of ${name}`);
  },
  async "deleting tells whether there was one"(store) {
    await store.set("NAME", "value");
    await store.set("NAME2", "other");
    same([await store.delete("NAME"), await store.delete("NAME")], [true, false]);
    same([await store.get("NAME"), await store.list()], [undefined, ["NAME2"]]);
  },
  async "what was deleted can be set again"(store) {
    await store.set("NAME", "before");
    await store.delete("NAME");
    await store.set("NAME", "after");
    same([await store.get("NAME"), await store.list()], ["after", ["NAME"]]);
  },
  async "secrets that are set at once are all kept"(store) {
    const names = [1, 2, 3, 4, 5].map((number) => `NAME${number}`);
    await Promise.all(names.map((name) => store.set(name, `value of ${name}`)));
    same(await store.list(), names);
    same(await Promise.all(names.map((name) => store.get(name))), names.map((name) => `value of ${name}`));
  },
  async "a name it cannot have is refused, and the value is not told"(store, { refused }) {
    for (const name of refused) {
      const { message } = await rejection(store.set(name, "do-not-show-me")) as Error;
      same([message.includes(`"${name}"`), message.includes("do-not-show-me")], [true, false]);
    }
    same(await store.list(), []);
  },
  async "no value can be seen on the store itself"(store) {
    await store.set("NAME", "do-not-show-me");
    same([JSON.stringify(store), String(store)].some((text) => text.includes("do-not-show-me")), false);
  },
};

/**
 * The tests of a secret store. Each one gets a store of its own.
 *
 * @param make Makes it, empty.
 * @param traits What it cannot do.
 */
export function secretStoreConformance(make: MakeSecretStore, traits: SecretStoreTraits = {}): ConformanceCase[] {
  const known = { names: oddNames, refused: [], refusesEmpty: false, ...traits };
  return Object.entries(cases).map(([name, prove]) => ({ name, run: async () => await prove(await make(), known) }));
}

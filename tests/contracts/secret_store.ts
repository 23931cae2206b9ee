/**
 * What every secret store that can be written does. It needs no Deno, like the suite of storages.
 * @module
 */
import type { SecretStore } from "../../src/contracts/secret_store.ts";
import { type ConformanceCase, same } from "./_plain.ts";

export type { ConformanceCase };

/** Makes an empty store that shares nothing with the one before. */
export type MakeSecretStore = () => Required<SecretStore> | Promise<Required<SecretStore>>;

const oddNames = ["__proto__", "constructor", "with space", "слово", "a.b/c", "OPENAI_API_KEY"];

const cases: Record<string, (store: Required<SecretStore>) => Promise<void>> = {
  async "a secret that is not there is undefined"(store) {
    same([await store.get("NAME"), await store.list(), await store.delete("NAME")], [undefined, [], false]);
    for (const name of oddNames) same(await store.get(name), undefined);
  },
  async "what was set is got, and setting again replaces it"(store) {
    for (const value of ["one", "", " two\nlines ", "ключ 👍", "x".repeat(10_000)]) {
      await store.set("NAME", value);
      same(await store.get("NAME"), value);
    }
  },
  async "names are listed, sorted, without values"(store) {
    for (const name of oddNames) await store.set(name, `value of ${name}`);
    same(await store.list(), [...oddNames].sort());
    for (const name of oddNames) same(await store.get(name), `value of ${name}`);
  },
  async "deleting tells whether there was one"(store) {
    await store.set("NAME", "value");
    await store.set("NAME_2", "other");
    same([await store.delete("NAME"), await store.delete("NAME")], [true, false]);
    same([await store.get("NAME"), await store.list()], [undefined, ["NAME_2"]]);
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
 */
export function secretStoreConformance(make: MakeSecretStore): ConformanceCase[] {
  return Object.entries(cases).map(([name, prove]) => ({ name, run: async () => await prove(await make()) }));
}

/**
 * What every secret store that can be written does.
 * @module
 */
import { afterEach, describe, it } from "@std/testing/bdd";
import { secretStoreConformance, type SecretStoreTraits } from "../contracts/secret_store.ts";
import { type UsedStore, usedStores } from "./_secret_stores.ts";

const traits: Readonly<Record<string, SecretStoreTraits>> = {
  "mesh.dotenv.v1": {
    names: ["__proto__", "constructor", "a.b-c", "OPENAI_API_KEY"],
    refused: ["1A", "A B", "é", "A=B"],
  },
  "aws.secrets-manager.v1": {
    names: ["__proto__", "constructor", "a.b/c", "me@here+x=y", "OPENAI_API_KEY"],
    refused: ["with space", "слово"],
    refusesEmpty: true,
  },
  "google.secret-manager.v1": {
    names: ["__proto__", "constructor", "a-b", "OPENAI_API_KEY"],
    refused: ["with space", "a.b", "a/b", "x".repeat(256)],
    refusesEmpty: true,
  },
  "microsoft.key-vault.v1": {
    names: ["constructor", "a-b", "OPENAI-API-KEY"],
    refused: ["with space", "a.b", "a/b", "x".repeat(128)],
    refusesEmpty: true,
  },
};

/** Defines the suite of a store. */
export function testSecretStore(id: keyof typeof usedStores): void {
  describe(`the secret store ${id}`, () => {
    const open: UsedStore[] = [];
    afterEach(async () => {
      for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
    });
    const makeStore = async () => {
      const one = await usedStores[id]!();
      open.push(one);
      return one.store;
    };
    for (const { name, run } of secretStoreConformance(makeStore, traits[id])) it(name, run);
  });
}

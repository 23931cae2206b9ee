/**
 * Secrets in memory: they last as long as the object does.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { SecretStore } from "../../src/contracts/secret_store.ts";

/** A {@linkcode SecretStore} that can be written, too. */
export type WritableSecretStore = Required<SecretStore>;

/**
 * A secret store that keeps nothing beyond its own life.
 *
 * @param values Secrets it begins with, by name.
 *
 * @example
 * ```ts ignore
 * import { create, memorySecrets, MeshConfig } from "@modelmesh/core/browser";
 *
 * const secrets = memorySecrets({ OPENAI_API_KEY: keyOfThisUser });
 * const client = create({ config: MeshConfig.parse(document, { secrets }) });
 * ```
 */
export function memorySecrets(values: Readonly<Record<string, string>> = {}): WritableSecretStore {
  const secrets = new Map(Object.entries(values));
  return {
    get: (name) => Promise.resolve(secrets.get(name)),
    set(name, value) {
      secrets.set(name, value);
      return Promise.resolve();
    },
    list: () => Promise.resolve([...secrets.keys()].sort()),
    delete: (name) => Promise.resolve(secrets.delete(name)),
  };
}

/** Secrets in memory; settings: none. */
export const memorySecretsConnector: Connector<"secretStore"> = {
  id: "mesh.memory.v1",
  kind: "secretStore",
  attributes: {},
  create: () => memorySecrets(),
};

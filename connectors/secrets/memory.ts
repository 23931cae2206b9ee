/**
 * Secrets in memory.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { SecretStore } from "../../src/contracts/secret_store.ts";

/** A {@linkcode SecretStore} that is also writable. */
export type WritableSecretStore = Required<SecretStore>;

/**
 * Creates a secret store that does not persist.
 *
 * @param values Initial secrets, by name.
 *
 * @example
 * ```ts
 * import { create, memorySecrets, MeshConfig } from "@modelmesh/core/browser";
 *
 * const secrets = memorySecrets({ OPENAI_API_KEY: "the-key-of-this-user" });
 * const config = MeshConfig.parse({ providers: { "openai.llm.v1": {} } }, { secrets });
 * const client = create("chat-completion", { config });
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

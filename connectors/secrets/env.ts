/**
 * Secrets from environment variables, read-only.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";

/**
 * A secret is the environment variable of its name; a blank one counts as unset. Names are not listed, since most
 * variables are not secrets.
 */
export const envSecrets: Connector<"secretStore"> = {
  id: "mesh.env.v1",
  kind: "secretStore",
  attributes: {},
  create: (_settings, runtime) => ({
    get: (name) => {
      const value = runtime.env(name);
      return Promise.resolve(value?.trim() === "" ? undefined : value);
    },
  }),
};

/**
 * What `create` takes in a browser.
 * @module
 */
import type { MeshConfigBase } from "../config/mesh_config.ts";
import type { ProviderInstance } from "../contracts/browser_provider.ts";
import type { ProviderConnector } from "../contracts/connector.ts";
import type { SecretStore } from "../contracts/secret_store.ts";
import type { StateKeeping } from "../background/state_keeper.ts";
import type { CreateOptions } from "./options.ts";

/** Options of `create` in a browser, where there is no environment: providers are given. */
export interface BrowserCreateOptions extends
  Pick<
    CreateOptions,
    "capability" | "models" | "strategy" | "pool" | "middleware" | "fetch" | "clock" | "random" | "on"
  > {
  /**
   * The providers, in order of preference: instances, such as one of a class over `BrowserBaseProvider`, and vendors'
   * connectors, such as `openai`, whose keys are in `apiKeys` or `secrets`.
   */
  providers?: readonly (ProviderInstance | ProviderConnector)[];
  /**
   * Keys by vendor (`openai`), connector id, instance id or variable (`OPENAI_API_KEY`). Beside a `config`: by the name
   * of its secret references.
   */
  apiKeys?: Readonly<Record<string, string | undefined>>;
  /** Where keys are that `apiKeys` lacks: read by `client.ready()`, under the connector's variable (`OPENAI_API_KEY`). */
  secrets?: SecretStore;
  /** Where states outlive the page: what rests before a reload rests after it. In memory when left out. */
  storage?: StateKeeping;
  /** A configuration in place of `providers`, `models` and `strategy`: made by this entry's `MeshConfig.parse(document)`. */
  config?: MeshConfigBase;
}

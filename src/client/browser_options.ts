/**
 * What `create` takes in a browser.
 * @module
 */
import type { StatePersistence } from "../state/persistence/state_store.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { GivenProvider } from "../contracts/browser_provider.ts";
import type { Connector } from "../contracts/connector.ts";
import type { SelectionStrategy } from "../contracts/rotation.ts";
import type { EngineParts } from "../engine/engine_parts.ts";
import type { CreateOptions } from "./options.ts";

/** What a client is made of: settings, and the code that serves them. */
export interface ClientPlan extends Pick<EngineParts, "connectors"> {
  /** The settings. */
  readonly settings: Settings;
}

/** A configuration that brings what reads it, such as this entry's `MeshConfig`. */
export interface PlannedConfig {
  /**
   * Makes the plan.
   *
   * @param options What stands beside the configuration.
   * @throws {ConfigError} When one of them is for the configuration to say.
   * @throws {NoProvidersError} When it has no providers.
   *
   * @internal
   */
  plan(options: BrowserCreateOptions): ClientPlan;
}

/** Options of `create` in a browser, where there is no environment: providers are given. */
export interface BrowserCreateOptions
  extends Pick<CreateOptions, "capability" | "pool" | "middleware" | "fetch" | "clock" | "random" | "on"> {
  /**
   * The providers, in order of preference: instances, such as `openai({ apiKey })` or one of a class over
   * `BrowserBaseProvider`.
   */
  providers?: readonly GivenProvider[];
  /** Selection strategy, such as `roundRobin` of this entry, or an instance; `stickUntilFailure` when left out. */
  strategy?: SelectionStrategy | Connector<"strategy">;
  /** Where states outlive the page: what rests before a reload rests after it. In memory when left out. */
  storage?: StatePersistence;
  /** A configuration in place of `providers` and `strategy`: made by this entry's `MeshConfig.parse(document)`. */
  config?: PlannedConfig;
}

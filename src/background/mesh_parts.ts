/**
 * What a mesh is put together from.
 * @module
 */
import type { PluggableConnector } from "../contracts/connector.ts";
import type { MeshEvent, RoutingRecord } from "../contracts/events.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { RouteDeps } from "../pipeline/request.ts";
import type { FillRegistry } from "../registry/build.ts";
import type { meteringOf } from "../state/usage_trackers.ts";
import type { costNanoUsd } from "../util/cost.ts";
import type { askProviders } from "./ask_providers.ts";
import type { discoverModels } from "./discover.ts";
import type { StatePersistence } from "../state/persistence/state_store.ts";
import type { startWatch } from "./watch.ts";

/** What a mesh is made with. */
export interface MeshParts {
  /** Connectors it can use, in order of detection. */
  readonly connectors: readonly PluggableConnector[];
  /** The door to the outside. */
  readonly runtime: Runtime;
  /** Told every event and routing decision, beside the sinks configured. */
  readonly on?: (record: MeshEvent | RoutingRecord) => void;
  /** Where its state outlives it: read at the start, written at every change of a state and at the end. */
  readonly storage?: StatePersistence;
  /**
   * Reads what settings say of models and pools: `fillAsConfigured`. Without it there are the catalogue's models.
   *
   * @internal
   */
  readonly fill?: FillRegistry;
  /**
   * Asks local servers for their models: `discoverModels`. Without it nobody is asked.
   *
   * @internal
   */
  readonly discover?: typeof discoverModels;
  /**
   * Asks providers what they know of their models: `askProviders`. Without it the catalogue and the settings say all.
   *
   * @internal
   */
  readonly askProviders?: typeof askProviders;
  /**
   * What an answer costs: `costNanoUsd`. Without it no cost is told.
   *
   * @internal
   */
  readonly costOf?: typeof costNanoUsd;
  /**
   * Estimates what was written where a provider does not say it. Without it nothing is estimated.
   *
   * @internal
   */
  readonly estimateOutput?: RouteDeps["estimateOutput"];
  /**
   * Counts rates, tokens and money: `meteringOf`. Without it nothing has a limit.
   *
   * @internal
   */
  readonly metering?: typeof meteringOf;
  /**
   * Finds whom a request fits: `eligibility`. Without it the short check of features holds.
   *
   * @internal
   */
  readonly eligibility?: RouteDeps["eligibility"];
  /**
   * Rotates over the keys of a provider: `tryKeys`.
   *
   * @internal
   */
  readonly tryKeys?: RouteDeps["tryKeys"];
  /**
   * Probes providers and keeps calendars: `startWatch`. Without it rests end by their time alone.
   *
   * @internal
   */
  readonly watch?: typeof startWatch;
}

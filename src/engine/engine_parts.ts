/**
 * Constructor options of an engine.
 * @module
 */
import type { CacheMemory } from "../background/open_cache.ts";
import type { PluggableConnector } from "../contracts/connector.ts";
import type { MeshEvent, RoutingRecord } from "../contracts/events.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { ObjectRecords } from "../infrastructure/object_records.ts";
import type { Statistics } from "../observe/statistics.ts";
import type { MeshState } from "../state/model/mesh_state.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { StatePersistence } from "../state/state_persistence.ts";

/** Constructor options of an engine. */
export interface EngineParts {
  /** Available connectors, in order of detection. */
  readonly connectors: readonly PluggableConnector[];
  /** The runtime port. */
  readonly runtime: Runtime;
  /** Called with every event and routing record, in addition to the configured sinks. */
  readonly on?: (record: MeshEvent | RoutingRecord) => void;
  /** Where state is persisted: read at the start, written at every change of state and at the end. */
  readonly storage?: StatePersistence;
  /**
   * Statistics of an earlier engine, to be continued.
   * @default none
   */
  readonly statistics?: Statistics;
  /**
   * Files, batches and fine-tuning jobs of an earlier engine, to be continued.
   * @default none
   */
  readonly objects?: { records?: ObjectRecords };
  /**
   * Entries of the cache in the memory of an earlier engine, to be continued.
   * @default none
   */
  readonly cacheMemory?: CacheMemory;
  /** Returns the earlier state whose counters continue under these settings. */
  readonly stateBefore?: (settings: Settings) => MeshState | undefined;
}

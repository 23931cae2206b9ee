/**
 * What an engine is put together from.
 * @module
 */
import type { PluggableConnector } from "../contracts/connector.ts";
import type { MeshEvent, RoutingRecord } from "../contracts/events.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { ObjectBook } from "../infrastructure/object_book.ts";
import type { Statistics } from "../observe/statistics.ts";
import type { MeshState } from "../state/mesh_state.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { StatePersistence } from "../state/persistence/state_store.ts";

/** What an engine is made with. */
export interface EngineParts {
  /** Connectors it can use, in order of detection. */
  readonly connectors: readonly PluggableConnector[];
  /** The door to the outside. */
  readonly runtime: Runtime;
  /** Gets every event and routing decision, beside the sinks configured. */
  readonly on?: (record: MeshEvent | RoutingRecord) => void;
  /** Where its state outlives it: read at the start, written at every change of a state and at the end. */
  readonly storage?: StatePersistence;
  /**
   * The numbers that go on with this engine.
   * @default none
   */
  readonly statistics?: Statistics;
  /**
   * The files, batches and fine-tuning jobs of a mesh that goes on as this one.
   * @default none
   */
  readonly objects?: { book?: ObjectBook };
  /** The state whose counts go on under these settings. */
  readonly stateBefore?: (settings: Settings) => MeshState | undefined;
}

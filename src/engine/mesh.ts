/**
 * The engine as programs see it.
 * @module
 */
import type { StatsRecord } from "../contracts/events.ts";
import type { Observability } from "../contracts/observability.ts";
import type { ListedModel, PoolStatus } from "../registry/status.ts";

/** Where a facade has its engine; registered, so that two copies of this package in one program agree. */
export const engineKey: symbol = /* @__PURE__ */ Symbol.for("modelmesh.engine");

/** A configured pool's name and capability. */
export interface ListedPool {
  /** Its name. */
  readonly name: string;
  /** The node it targets; null for a list of models with nothing in common. */
  readonly capability: string | null;
}

/** The engine behind a client or a proxy: its pools, models and sinks. `ModelMesh` is one, and can do more. */
export interface Mesh {
  /** Whether it can answer requests at once. */
  readonly isReady: boolean;
  /** Adds a sink for records. */
  addSink(sink: Observability): void;
  /**
   * Reads secrets, makes providers, asks local servers for their models, restores the state of the last process.
   * Memoised.
   *
   * Rejects with a `ConnectorError` when the storage cannot be read.
   */
  ready(): Promise<void>;
  /** Per-pool health and model counts, by pool name. */
  poolStatus(): Record<string, PoolStatus>;
  /** The numbers of every model, provider and pool: requests, tokens, cost, latencies, standby. */
  stats(): readonly StatsRecord[];
  /** Entry ids of the providers that have an active model. */
  activeProviders(): string[];
  /** Configured pools and their capabilities. */
  listPools(): ListedPool[];
  /** All models and their status. */
  listModels(): ListedModel[];
  /**
   * Ends timers, writes the state and what sinks still hold.
   *
   * Rejects with a `ConnectorError` when the storage does not take the state.
   */
  close(): Promise<void>;
}

/**
 * Makes an engine known as that of a mesh.
 *
 * @param mesh What programs have of it.
 * @param engine The engine.
 */
export function bindEngine(mesh: Mesh, engine: object): void {
  Object.defineProperty(mesh, engineKey, { value: engine });
}

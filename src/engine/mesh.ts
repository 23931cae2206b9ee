/**
 * The public interface of an engine.
 * @module
 */
import type { StatsRecord } from "../contracts/events.ts";
import type { Observability } from "../contracts/observability.ts";
import type { ListedModel, PoolStatus } from "../registry/status.ts";

/**
 * Key under which a facade holds its engine. The symbol is registered, so that two copies of this package in one
 * program share it.
 */
export const engineKey: symbol = /* @__PURE__ */ Symbol.for("modelmesh.engine");

/** Name and capability of a pool. */
export interface ListedPool {
  /** Name of the pool. */
  readonly name: string;
  /** The capability node it targets; null when its models share none. */
  readonly capability: string | null;
}

/** The engine behind a client or a proxy: its pools, models and sinks. `ModelMesh` implements it, and adds methods. */
export interface Mesh {
  /** Whether requests can be sent without waiting for `ready()`. */
  readonly isReady: boolean;
  /** Adds a sink, which receives events, routing records, traces and statistics. */
  addSink(sink: Observability): void;
  /**
   * Reads secrets, creates providers, lists the models of local servers, and restores the persisted state. Memoized.
   *
   * Rejects with a `ConnectorError` when the storage cannot be read.
   */
  ready(): Promise<void>;
  /** Returns health and model counts per pool, by pool name. */
  poolStatus(): Record<string, PoolStatus>;
  /** Returns the statistics of every model, provider and pool: requests, tokens, cost, latency, standby. */
  stats(): readonly StatsRecord[];
  /** Returns the ids of providers with at least one active model. */
  activeProviders(): string[];
  /** Returns the pools and their capabilities. */
  listPools(): ListedPool[];
  /** Returns all models with their status. */
  listModels(): ListedModel[];
  /**
   * Stops timers, writes the state and flushes sinks.
   *
   * Rejects with a `ConnectorError` when the state cannot be written.
   */
  close(): Promise<void>;
}

/** Attaches an engine to a facade. */
export function bindEngine(mesh: Mesh, engine: object): void {
  Object.defineProperty(mesh, engineKey, { value: engine });
}

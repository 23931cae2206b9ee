/**
 * Discovery: syncing the model registry with providers' model lists, and health monitoring.
 * @module
 */
import type { ModelInfo } from "./provider.ts";

/** The view of a mesh that a registry sync reads and updates. */
export interface SyncHost {
  /** Entry ids of the providers to query. */
  readonly providers: readonly string[];
  /** Upstream ids of the provider's models in the registry. */
  modelsOf(provider: string): ReadonlySet<string>;
  /** Upstream ids that the provider listed at startup; undefined if it was not queried. */
  listedAtStart(provider: string): ReadonlySet<string> | undefined;
  /**
   * Requests a provider's model list.
   *
   * @throws {Error} If the request fails or the response is not a list. The message contains no secrets.
   */
  listModels(provider: string): Promise<readonly ModelInfo[]>;
  /** Registers models. They can be requested by name, and are appended to the pools that match. */
  register(provider: string, models: readonly ModelInfo[]): Promise<void>;
  /**
   * Deactivates a model in every pool until {@linkcode SyncHost.restore} is called. The model stays in the registry.
   */
  deactivate(provider: string, model: string): void;
  /** Reverts {@linkcode SyncHost.deactivate}. */
  restore(provider: string, model: string): void;
  /** Emits a log line, and a trace entry of the component `registry`. */
  notify(notice: RegistryNotice): void;
}

/** A notice of a registry sync about one model. */
export interface RegistryNotice {
  /** Severity of the notice. */
  readonly severity: "info" | "warning";
  /** The provider's entry id. */
  readonly provider: string;
  /** The upstream model id. */
  readonly model: string;
  /** Description of the change. */
  readonly message: string;
}

/** Result of the latest sync of one provider. */
export interface SyncStatus {
  /** The provider's entry id. */
  readonly provider: string;
  /** Time of the sync, ms since the Unix epoch. */
  readonly at: number;
  /** Number of models in the provider's list; undefined if no usable list was returned. */
  readonly listed?: number;
  /** Upstream ids that appeared in the list for the first time and were not registered. */
  readonly added: readonly string[];
  /** Upstream ids of registered models that an earlier list contained and this one does not. */
  readonly deprecated: readonly string[];
  /** Why the sync changed nothing, if it did not. */
  readonly problem?: string;
}

/** Synchronization of the registry with the providers' model lists. */
export interface RegistrySync {
  /**
   * Queries the providers' model lists and updates the mesh. A failed or empty list changes nothing.
   *
   * @returns One result per queried provider.
   */
  sync(host: SyncHost): Promise<readonly SyncStatus[]>;
  /** The latest result of every provider. */
  getSyncStatus(): readonly SyncStatus[];
}

/** The view of a mesh that a health monitor uses. */
export interface ProbeHost {
  /**
   * Sends an inexpensive request to a provider, to learn whether it is reachable.
   *
   * @param timeoutMs Timeout, ms.
   * @returns The failure, such as `timeout`; undefined on success, and when the provider responds but rejects the
   * request (401, 403, 404, 405, 429, 501), which says nothing about other requests.
   */
  ask(provider: string, timeoutMs: number): Promise<string | undefined>;
}

/** The health of one provider. */
export interface ProviderHealth {
  /** The provider's entry id. */
  readonly provider: string;
  /** `unhealthy` after too many consecutive failed probes; the provider's models stay in standby meanwhile. */
  readonly status: "healthy" | "unhealthy";
  /** Number of consecutive failed probes. */
  readonly failures: number;
  /** Time of the latest probe, ms since the Unix epoch. */
  readonly at: number;
  /** Duration of the latest probe, ms. */
  readonly latencyMs: number;
  /** The failure of the latest probe, such as `timeout`. */
  readonly failure?: string;
}

/** Monitoring of providers by probes. */
export interface HealthMonitoring {
  /**
   * Probes a provider once.
   *
   * @param provider The provider's entry id.
   * @param host Sends the probe.
   */
  probe(provider: string, host: ProbeHost): Promise<ProviderHealth>;
  /**
   * Called when the provider has served a request, which proves that it is reachable: earlier failed probes no longer
   * count.
   */
  clearFailures?(provider: string): void;
  /** The latest health of every probed provider. */
  getHealthReport(): readonly ProviderHealth[];
}

/**
 * A discovery connector. The connector named by `discovery.sync.connector` implements the sync methods, the one named by
 * `discovery.health.connector` the probe methods.
 */
export type Discovery = Partial<RegistrySync & HealthMonitoring>;

/**
 * Discovery: which models providers have by now, and whether they are there.
 * @module
 */
import type { ModelInfo } from "./provider.ts";

/** What a registry sync sees of a mesh, and does to it. */
export interface SyncHost {
  /** Entry ids of the providers to ask. */
  readonly providers: readonly string[];
  /** Upstream ids of the models that the mesh has of a provider. */
  modelsOf(provider: string): ReadonlySet<string>;
  /** Upstream ids that the provider listed when the mesh started; undefined where it was not asked. */
  listedAtStart(provider: string): ReadonlySet<string> | undefined;
  /**
   * Asks a provider for its list.
   *
   * @throws {Error} With a message without secrets, when there is no answer, or none that is a list.
   */
  listModels(provider: string): Promise<readonly ModelInfo[]>;
  /** Adds models: they are reached by name, and take their places in pools behind those that are there. */
  register(provider: string, models: readonly ModelInfo[]): Promise<void>;
  /** Deactivates a model in every pool until {@linkcode SyncHost.restore}. It stays in the registry. */
  deactivate(provider: string, model: string): void;
  /** Ends what {@linkcode SyncHost.deactivate} did. */
  restore(provider: string, model: string): void;
  /** Writes a line of the log and a trace of the component `registry`. */
  notify(notice: RegistryNotice): void;
}

/** What a registry sync has to say of one model. */
export interface RegistryNotice {
  /** How bad. */
  readonly severity: "info" | "warning";
  /** The provider's entry id. */
  readonly provider: string;
  /** The upstream id. */
  readonly model: string;
  /** What happened. */
  readonly message: string;
}

/** What the latest sync of a provider did. */
export interface SyncStatus {
  /** The provider's entry id. */
  readonly provider: string;
  /** When, ms since 1970. */
  readonly at: number;
  /** Models in its list; undefined when there was none to go by. */
  readonly listed?: number;
  /** Upstream ids that the list had for the first time, and that the mesh had not. */
  readonly added: readonly string[];
  /** Upstream ids of models of the mesh that an earlier list had, and this one has not. */
  readonly deprecated: readonly string[];
  /** Why nothing was changed. */
  readonly problem?: string;
}

/** Spec: Registry Sync. */
export interface RegistrySync {
  /**
   * Asks providers for their lists, and brings a mesh up to date. A list that fails or is empty changes nothing.
   *
   * @param host The mesh.
   * @returns What was done, for each provider asked.
   */
  sync(host: SyncHost): Promise<readonly SyncStatus[]>;
  /** The latest of every provider. */
  getSyncStatus(): readonly SyncStatus[];
}

/** What a health monitor sees of a mesh. */
export interface ProbeHost {
  /**
   * Asks a provider for something cheap.
   *
   * @param timeoutMs Longest wait, ms.
   * @returns How it failed, such as `timeout`; undefined when it answered.
   */
  ask(provider: string, timeoutMs: number): Promise<string | undefined>;
}

/** A provider's health. */
export interface ProviderHealth {
  /** The provider's entry id. */
  readonly provider: string;
  /** `unhealthy` once it failed too many probes in a row: its models are in standby while it is. */
  readonly status: "healthy" | "unhealthy";
  /** Failed probes in a row. */
  readonly failures: number;
  /** When it was probed last, ms since 1970. */
  readonly at: number;
  /** How long the probe took, ms. */
  readonly latencyMs: number;
  /** How the probe failed, such as `timeout`. */
  readonly failure?: string;
}

/** Spec: Health Monitoring. */
export interface HealthMonitoring {
  /**
   * Probes a provider once.
   *
   * @param provider Its entry id.
   * @param host Asks it.
   */
  probe(provider: string, host: ProbeHost): Promise<ProviderHealth>;
  /** The latest of every provider that was probed. */
  getHealthReport(): readonly ProviderHealth[];
}

/** Spec: Discovery. What `discovery.sync.connector` names has to sync, what `discovery.health.connector` names to probe. */
export type Discovery = Partial<RegistrySync & HealthMonitoring>;

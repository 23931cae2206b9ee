/**
 * The background work of a mesh, under settings that may change.
 * @module
 */
import type { Settings } from "../config/settings/settings.ts";
import type { ProviderHealth, SyncStatus } from "../contracts/discovery.ts";
import { MeshError, ModelNotFoundError } from "../errors.ts";
import type { DiscoveryConnectors, DiscoveryMethods } from "./discovery_connectors.ts";
import type { MonitoringParts, PeriodicTasks } from "./periodic_tasks.ts";

/** Runs health probes, model synchronization and maintenance windows from the start of a mesh to its end. */
export class Monitoring {
  #parts: MonitoringParts | undefined;
  #tasks: PeriodicTasks | undefined;
  #connectors: DiscoveryConnectors | undefined;
  #discovery: DiscoveryMethods | undefined;

  /**
   * Starts the configured background work, in place of earlier work. Its parts are imported on demand.
   *
   * @returns Settles when the work required before the first request is complete.
   * @throws {ConnectorError} When a discovery connector cannot be imported.
   */
  async start(parts: MonitoringParts): Promise<void> {
    this.stop();
    this.#parts = parts;
    if (isMonitored(parts)) await (await this.#begin(parts))?.isBegun;
  }

  /** Restarts with other settings. Has no effect once stopped. */
  async renew(settings: Settings): Promise<void> {
    if (this.#parts !== undefined) await this.start({ ...this.#parts, settings });
  }

  /** Synchronizes the models of all providers of `discovery.sync.providers` now. */
  async sync(): Promise<readonly SyncStatus[]> {
    const { tasks } = await this.#running();
    return await tasks.syncAll();
  }

  /** Returns the latest sync result of each provider. */
  getSyncStatus(): readonly SyncStatus[] {
    return this.#discovery?.getSyncStatus() ?? [];
  }

  /**
   * Probes a provider now.
   *
   * @throws {ModelNotFoundError} When there is no provider of this id.
   */
  async probe(provider: string): Promise<ProviderHealth> {
    const { tasks, parts: { registry } } = await this.#running();
    const instance = registry.instances.find(({ entry }) => entry.id === provider);
    if (instance === undefined) throw new ModelNotFoundError(`No provider is named ${JSON.stringify(provider)}`);
    const health = await tasks.probe(instance);
    if (health === undefined) throw new MeshError("The health monitor failed", { code: "probe_failed" });
    return health;
  }

  /** Returns the health of every provider that has been probed. */
  getHealthReport(): readonly ProviderHealth[] {
    return this.#discovery?.getHealthReport() ?? [];
  }

  /** Stops the background work. */
  stop(): void {
    this.#parts = undefined;
    this.#tasks?.stop();
    this.#tasks = undefined;
  }

  async #running(): Promise<{ readonly tasks: PeriodicTasks; readonly parts: MonitoringParts }> {
    const parts = this.#parts;
    const tasks = this.#tasks ?? (parts && await this.#begin(parts));
    if (parts === undefined || tasks === undefined) {
      throw new MeshError("The mesh is not running", { code: "not_initialized" });
    }
    return { tasks, parts };
  }

  async #begin(parts: MonitoringParts): Promise<PeriodicTasks | undefined> {
    const [{ PeriodicTasks }, { DiscoveryConnectors }] = await Promise.all([
      import("./periodic_tasks.ts"),
      import("./discovery_connectors.ts"),
    ]);
    this.#connectors ??= new DiscoveryConnectors();
    const discovery = await this.#connectors.load(parts);
    if (this.#parts !== parts) return; // stopped meanwhile, or started anew
    this.#discovery = discovery;
    return this.#tasks ??= new PeriodicTasks(parts, discovery);
  }
}

/** Also where a monitor of an earlier process opened a breaker: without one that probes, none would close it. */
function isMonitored({ settings: { health, sync }, registry, state }: MonitoringParts): boolean {
  return health?.intervalMs !== undefined || sync?.intervalMs !== undefined ||
    registry.instances.some(({ entry }) => entry.catalogue?.refreshIntervalMs !== undefined) ||
    registry.pools.some(({ routing: { recovery, deactivation } }) =>
      recovery.probeIntervalMs !== undefined || recovery.probeOnStart || deactivation.maintenance !== undefined
    ) ||
    state.breakers.some(({ standby }) => standby?.reason === "health_probe");
}

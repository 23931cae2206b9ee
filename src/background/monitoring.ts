/**
 * What goes on in the background of a mesh, under settings that change while it runs.
 * @module
 */
import type { Settings } from "../config/settings/settings.ts";
import type { Discovery, ProviderHealth, SyncStatus } from "../contracts/discovery.ts";
import { MeshError, ModelNotFoundError } from "../errors.ts";
import type { DiscoveryConnectors } from "./discovery_connectors.ts";
import type { MonitorParts, Monitors } from "./monitors.ts";

/** Probes providers, keeps models up to date and keeps calendars from the start of a mesh to its end. */
export class Monitoring {
  #parts: MonitorParts | undefined;
  #monitors: Monitors | undefined;
  #connectors: DiscoveryConnectors | undefined;
  #discovery: Required<Discovery> | undefined;

  /**
   * Starts what the settings ask for, in place of what went on before. What most pages do without is imported when it is
   * asked for.
   *
   * @param parts What monitors need.
   * @returns Settles when what has to be done before the first request is done.
   * @throws {ConnectorError} When a discovery connector cannot be imported.
   */
  async start(parts: MonitorParts): Promise<void> {
    this.stop();
    this.#parts = parts;
    if (isAskedFor(parts)) await (await this.#begin(parts))?.isBegun;
  }

  /**
   * Starts it with other settings; does nothing once it is stopped.
   *
   * @param settings The present ones.
   */
  async renew(settings: Settings): Promise<void> {
    if (this.#parts !== undefined) await this.start({ ...this.#parts, settings });
  }

  /** Brings the models of all providers of `discovery.sync.providers` up to date, now. */
  async sync(): Promise<readonly SyncStatus[]> {
    const { monitors, parts } = await this.#running();
    const { syncedProviders } = await import("./monitors.ts");
    return await monitors.sync(syncedProviders(parts));
  }

  /** The latest sync of every provider. */
  getSyncStatus(): readonly SyncStatus[] {
    return this.#discovery?.getSyncStatus() ?? [];
  }

  /**
   * Probes a provider now.
   *
   * @throws {ModelNotFoundError} When there is none of this id.
   */
  async probe(provider: string): Promise<ProviderHealth> {
    const { monitors, parts: { registry } } = await this.#running();
    const instance = registry.instances.find(({ entry }) => entry.id === provider);
    if (instance === undefined) throw new ModelNotFoundError(`No provider is named ${JSON.stringify(provider)}`);
    const health = await monitors.probe(instance);
    if (health === undefined) throw new MeshError("The health monitor failed", { code: "probe_failed" });
    return health;
  }

  /** The health of every provider that was probed. */
  getHealthReport(): readonly ProviderHealth[] {
    return this.#discovery?.getHealthReport() ?? [];
  }

  /** Ends it. */
  stop(): void {
    this.#parts = undefined;
    this.#monitors?.stop();
    this.#monitors = undefined;
  }

  async #running(): Promise<{ readonly monitors: Monitors; readonly parts: MonitorParts }> {
    const parts = this.#parts;
    const monitors = this.#monitors ?? (parts && await this.#begin(parts));
    if (parts === undefined || monitors === undefined) {
      throw new MeshError("The mesh is not running", { code: "not_initialized" });
    }
    return { monitors, parts };
  }

  async #begin(parts: MonitorParts): Promise<Monitors | undefined> {
    const [{ Monitors }, { DiscoveryConnectors }] = await Promise.all([
      import("./monitors.ts"),
      import("./discovery_connectors.ts"),
    ]);
    this.#connectors ??= new DiscoveryConnectors();
    const discovery = await this.#connectors.load(parts);
    if (this.#parts !== parts) return; // stopped meanwhile, or started anew
    this.#discovery = discovery;
    return this.#monitors ??= new Monitors(parts, discovery);
  }
}

/** Also where a monitor of an earlier process opened a breaker: without one that probes, none would close it. */
function isAskedFor({ settings: { health, sync }, registry, state }: MonitorParts): boolean {
  return health?.intervalMs !== undefined || sync?.intervalMs !== undefined ||
    registry.instances.some(({ entry }) => entry.refreshMs !== undefined) ||
    registry.pools.some(({ routing: { recovery, deactivation } }) =>
      recovery.probeIntervalMs !== undefined || recovery.probeOnStart || deactivation.maintenance !== undefined
    ) ||
    state.breakers.some(({ standby }) => standby?.reason === "health_probe");
}

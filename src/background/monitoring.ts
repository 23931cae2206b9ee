/**
 * What goes on in the background of a mesh, under settings that change while it runs.
 * @module
 */
import type { Settings } from "../config/settings/settings.ts";
import type { MonitorParts, Monitors } from "./monitors.ts";

/** Probes providers and keeps calendars from the start of a mesh to its end. */
export class Monitoring {
  #parts: MonitorParts | undefined;
  #monitors: Monitors | undefined;

  /**
   * Starts what the settings ask for, in place of what went on before. What most pages do without is imported when it is
   * asked for.
   *
   * @param parts What monitors need.
   * @returns Settles when what has to be done before the first request is done.
   */
  async start(parts: MonitorParts): Promise<void> {
    this.stop();
    this.#parts = parts;
    if (!isAskedFor(parts)) return;
    const { startMonitors } = await import("./monitors.ts");
    if (this.#parts !== parts) return; // stopped meanwhile, or started anew
    this.#monitors = startMonitors(parts);
    await this.#monitors.isBegun;
  }

  /**
   * Starts it with other settings; does nothing once it is stopped.
   *
   * @param settings The present ones.
   */
  async renew(settings: Settings): Promise<void> {
    if (this.#parts !== undefined) await this.start({ ...this.#parts, settings });
  }

  /** Ends it. */
  stop(): void {
    this.#parts = undefined;
    this.#monitors?.stop();
    this.#monitors = undefined;
  }
}

/** Also where a monitor of an earlier process opened a breaker: without one that probes, none would close it. */
function isAskedFor({ settings: { health }, registry, state }: MonitorParts): boolean {
  return health?.intervalMs !== undefined ||
    registry.pools.some(({ routing: { recovery, deactivation } }) =>
      recovery.probeIntervalMs !== undefined || recovery.probeOnStart || deactivation.maintenance !== undefined
    ) ||
    state.breakers.some(({ standby }) => standby?.reason === "health_probe");
}

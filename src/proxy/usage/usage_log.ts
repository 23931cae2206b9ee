/**
 * The daily usage of a proxy, across configurations: counts requests, and adds the counts to the storage.
 * @module
 */
import type { Cancel } from "../../contracts/runtime.ts";
import type { Engine } from "../../engine/engine.ts";
import { MeshError } from "../../errors.ts";
import { DailyUsage, type DatedUsage } from "./daily_usage.ts";

/** Interval at which usage is added to the storage, ms. */
const flushMs = 5_000;

/** Counts the requests of one proxy. */
export class UsageLog {
  readonly #daily: DailyUsage;
  #mesh: Engine;
  #cancel: Cancel = () => {};
  #failure: string | undefined;

  /** @param mesh A mesh that is ready and has a storage. */
  constructor(mesh: Engine) {
    this.#daily = new DailyUsage(mesh.runtime.clock, (text) => this.#mesh.redact(text));
    this.#mesh = mesh;
    this.use(mesh);
  }

  /** Changes to another mesh. What was counted so far is added to its storage. */
  use(mesh: Engine): void {
    this.#mesh = mesh;
    mesh.hub.on("request_finished", (request) => this.#daily.add(request));
    mesh.onClose(() => this.#close(mesh));
    this.#cancel();
    this.#cancel = mesh.runtime.clock.every(flushMs, () => this.#flush());
  }

  /**
   * Returns the rows of days, of all processes of the storage.
   *
   * @param days UTC, in order.
   * @throws {ConnectorError} If the storage fails.
   */
  readRows(days: readonly string[]): Promise<DatedUsage[]> {
    return this.#daily.readRows(this.#mesh.storage!, days);
  }

  /** The last mesh writes the remaining usage. */
  async #close(mesh: Engine): Promise<void> {
    if (mesh !== this.#mesh) return;
    this.#cancel();
    await this.#flush();
  }

  /** Traces a persistent failure once. What was counted is added later. */
  async #flush(): Promise<void> {
    try {
      await this.#daily.flush(this.#mesh.storage!);
      this.#failure = undefined;
    } catch (error) {
      const message = MeshError.isInstance(error) ? error.message : "the storage failed";
      if (message === this.#failure) return;
      this.#failure = message;
      this.#mesh.hub.trace({ severity: "error", component: "usage", message: `Daily usage: ${message}` });
    }
  }
}

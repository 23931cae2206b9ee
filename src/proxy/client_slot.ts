/**
 * Holds the clients created at runtime, and the daily usage. Their code is imported when a proxy has a storage.
 * @module
 */
import type { Engine } from "../engine/engine.ts";
import type { Client } from "./client.ts";
import type { RuntimeClients } from "./clients/runtime_clients.ts";
import type { Processes } from "./processes/processes.ts";
import type { UsageLog } from "./usage/usage_log.ts";

/** The clients created at runtime of one proxy, across configurations. */
export class ClientSlot {
  /** Undefined if the configuration has no storage. */
  clients: RuntimeClients | undefined;
  /** The same applies. */
  usage: UsageLog | undefined;
  /** Undefined unless several processes may share the storage. */
  processes: Processes | undefined;
  #configured: ReadonlyMap<string, Client> = new Map();
  #mesh: Engine | undefined;
  #used: Promise<void> | undefined;

  /** Configured clients, by name. */
  set configured(clients: ReadonlyMap<string, Client>) {
    this.#configured = clients;
    if (this.clients !== undefined) this.clients.configured = clients;
  }

  /**
   * Loads the clients from the storage of a mesh.
   *
   * @param mesh A mesh that is ready. Repeated calls with the same one have no effect.
   */
  use(mesh: Engine): Promise<void> {
    if (mesh === this.#mesh) return this.#used!;
    this.#mesh = mesh;
    return this.#used = this.#use(mesh);
  }

  async #use(mesh: Engine): Promise<void> {
    const { clients } = this;
    await this.#join(mesh);
    if (mesh.storage === undefined) return void (this.clients = this.usage = undefined);
    await this.#count(mesh);
    if (clients !== undefined) return await clients.use(mesh);
    const { RuntimeClients } = await import("./clients/runtime_clients.ts");
    const created = new RuntimeClients();
    await created.use(mesh);
    if (this.#mesh !== mesh) return;
    created.configured = this.#configured;
    this.clients = created;
  }

  /** Lists this process among those that share the storage. */
  async #join(mesh: Engine): Promise<void> {
    const { processes } = this;
    if (!isShared(mesh)) {
      processes?.stop();
      return void (this.processes = undefined);
    }
    if (processes !== undefined) return processes.use(mesh);
    const { Processes } = await import("./processes/processes.ts");
    if (this.#mesh === mesh) this.processes = new Processes(mesh);
  }

  /** Counts the requests of a mesh. */
  async #count(mesh: Engine): Promise<void> {
    if (this.usage !== undefined) return this.usage.use(mesh);
    const { UsageLog } = await import("./usage/usage_log.ts");
    if (this.#mesh === mesh) this.usage = new UsageLog(mesh);
  }
}

/** Whether several processes may share the storage of a mesh, by its connector or its policy. */
function isShared({ storage, settings }: Pick<Engine, "storage" | "settings">): boolean {
  const policy = settings.storage?.policy;
  return storage !== undefined && (storage.shared !== undefined || policy === "periodic" || policy === "immediate");
}

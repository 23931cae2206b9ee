/**
 * Where clients made at runtime are, once a proxy has a storage: their code is imported then.
 * @module
 */
import type { Engine } from "../engine/engine.ts";
import type { Client } from "./client.ts";
import type { RuntimeClients } from "./clients/runtime_clients.ts";

/** The clients of one proxy, under one configuration after the other. */
export class ClientSlot {
  /** Undefined where the configuration has no storage. */
  clients: RuntimeClients | undefined;
  #configured: ReadonlyMap<string, Client> = new Map();
  #mesh: Engine | undefined;
  #used: Promise<void> | undefined;

  /** Clients of the configuration, by name. */
  set configured(clients: ReadonlyMap<string, Client>) {
    this.#configured = clients;
    if (this.clients !== undefined) this.clients.configured = clients;
  }

  /**
   * Takes the clients of a mesh's storage.
   *
   * @param mesh Ready; the same one is taken once.
   */
  use(mesh: Engine): Promise<void> {
    if (mesh === this.#mesh) return this.#used!;
    this.#mesh = mesh;
    return this.#used = this.#use(mesh);
  }

  async #use(mesh: Engine): Promise<void> {
    const { clients } = this;
    if (mesh.storage === undefined) return void (this.clients = undefined);
    if (clients !== undefined) return await clients.use(mesh);
    const { RuntimeClients } = await import("./clients/runtime_clients.ts");
    const made = new RuntimeClients();
    await made.use(mesh);
    if (this.#mesh !== mesh) return;
    made.configured = this.#configured;
    this.clients = made;
  }
}

/**
 * The engines of a simulated proxy: one answers, and those before it end with their last request.
 * @module
 */
import { serverConnectors } from "../../connectors/server.ts";
import type { Observability } from "../../mod.ts";
import { activate, deactivate } from "../../src/background/manual.ts";
import type { Runtime } from "../../src/contracts/runtime.ts";
import { MeshGeneration } from "../../src/proxy/mesh_generation.ts";
import type { Engine } from "../../src/engine/engine.ts";

/** What engines are made of. */
export interface EngineWorld {
  readonly runtime: Runtime;
  readonly sink: Observability;
  /** Called when another engine answers. */
  readonly onReload: () => void;
  /** The configuration, read anew by every reload. */
  readonly config: () => Readonly<Record<string, unknown>>;
}

/** The engines of one world. */
export class Engines {
  readonly #world: EngineWorld;
  /** Requests under way, by mesh that is not closed. */
  readonly #requests = new Map<Engine, number>();
  #engine: MeshGeneration;
  #last: Promise<void> = Promise.resolve();

  /** @param world What they are made of. */
  constructor(world: EngineWorld) {
    this.#world = world;
    this.#engine = this.#make();
    this.#requests.set(this.mesh, 0);
  }

  /** The mesh that answers. */
  get mesh(): Engine {
    return this.#engine.mesh;
  }

  /** Starts the first one. */
  start(): Promise<void> {
    return this.#engine.start(this.#world.config());
  }

  /** Another engine takes over, as a proxy's reload has it; one after the other. */
  reload(): Promise<void> {
    return this.#last = this.#last.then(async () => {
      const before = this.#engine;
      const next = this.#make(before);
      await next.start(this.#world.config());
      this.#engine = next;
      this.#requests.set(next.mesh, 0);
      this.#world.onReload();
      await before.retire(next);
      await this.#closeIdle();
    });
  }

  /** A request that is answered by the mesh that answers now. */
  async serve<T>(request: (mesh: Engine) => Promise<T>): Promise<T> {
    const { mesh } = this;
    this.#requests.set(mesh, this.#requests.get(mesh)! + 1);
    try {
      return await request(mesh);
    } finally {
      this.#requests.set(mesh, this.#requests.get(mesh)! - 1);
      await this.#closeIdle();
    }
  }

  /** Sets a model or a provider aside by hand, or takes it back. */
  act(kind: "activate" | "deactivate", target: string): void {
    (kind === "activate" ? activate : deactivate)(target, this.mesh);
  }

  async close(): Promise<void> {
    await this.#last;
    await this.mesh.close();
  }

  #make(before?: MeshGeneration): MeshGeneration {
    const { runtime, sink } = this.#world;
    return new MeshGeneration({ connectors: serverConnectors, runtime, sinks: [sink] }, before);
  }

  async #closeIdle(): Promise<void> {
    for (const [mesh, count] of this.#requests) {
      if (count > 0 || mesh === this.mesh) continue;
      this.#requests.delete(mesh);
      await mesh.close();
    }
  }
}

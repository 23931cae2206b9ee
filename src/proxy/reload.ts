/**
 * Reloads the configuration of a running proxy.
 * @module
 */
import { MeshError } from "../errors.ts";
import type { Engine } from "../engine/engine.ts";
import type { ConfigSource } from "../config/load/sources.ts";
import { type GenerationParts, MeshGeneration } from "./mesh_generation.ts";

interface ReloadOptions {
  readonly parts: GenerationParts;
  /** Only a file can be reloaded. */
  readonly config: ConfigSource | undefined;
  /** Throws if the running server cannot serve this mesh. */
  readonly check: (mesh: Engine) => void;
  /** Routes new requests to this mesh. Resolves when the previous mesh has none left. */
  readonly replace: (mesh: Engine) => Promise<void>;
}

/** The meshes of a proxy: the current one, and those with remaining requests. */
export class Reloader {
  readonly #options: ReloadOptions;
  readonly #open: Set<Engine>;
  #current: MeshGeneration;
  #last: Promise<void> = Promise.resolve();
  #pending: Promise<void> | undefined;
  #isStopped = false;

  /**
   * @param options Dependencies and steps of a reload.
   */
  constructor(first: MeshGeneration, options: ReloadOptions) {
    this.#current = first;
    this.#options = options;
    this.#open = new Set([first.mesh]);
  }

  get mesh(): Engine {
    return this.#current.mesh;
  }

  /**
   * Reloads the configuration. Reloads run one after the other; calls while one is waiting share that one.
   *
   * @throws Any startup error; nothing has then changed.
   */
  reload(): Promise<void> {
    this.#pending ??= this.#last.then(() => {
      this.#pending = undefined;
      return this.#reload();
    });
    const reloaded = this.#pending;
    this.#last = reloaded.catch(() => {});
    return reloaded;
  }

  /** Stops reloading. No further mesh takes over. */
  stop(): void {
    this.#isStopped = true;
  }

  async close(): Promise<void> {
    await this.#last;
    await Promise.all([...this.#open].map((mesh) => this.#close(mesh)));
  }

  async #reload(): Promise<void> {
    const { parts, config, check, replace } = this.#options;
    if (typeof config !== "string") {
      throw new MeshError("There is no configuration file to read again", { code: "not_reloadable" });
    }
    if (this.#isStopped) return;
    const before = this.#current;
    const next = new MeshGeneration(parts, before);
    await next.start(config);
    try {
      check(next.mesh);
    } catch (error) {
      await next.mesh.close();
      throw error;
    }
    if (this.#isStopped) return await next.mesh.close();
    this.#open.add(next.mesh);
    this.#current = next;
    const idle = Promise.allSettled([replace(next.mesh)]);
    await before.retire(next);
    idle.then(() => this.#close(before.mesh)).catch(() => {}); // losses are traced
  }

  async #close(mesh: Engine): Promise<void> {
    if (this.#open.delete(mesh)) await mesh.close();
  }
}

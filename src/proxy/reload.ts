/**
 * Another configuration for a proxy that runs.
 * @module
 */
import { MeshError } from "../errors.ts";
import type { Mesh } from "../mesh.ts";
import type { ConfigSource } from "../config/config_source.ts";
import { type GenerationParts, MeshGeneration } from "./mesh_generation.ts";

/** What a reload does beside making another engine. */
export interface ReloadHooks {
  /** Where the configuration is. */
  readonly config: ConfigSource | undefined;
  /** Throws when the server that runs cannot serve this mesh. */
  readonly check: (mesh: Mesh) => void;
  /** Has new requests answered by this mesh; resolves once the mesh before it has none left. */
  readonly replace: (mesh: Mesh) => Promise<void>;
}

/** The engines of a proxy: the one that answers, and those that have requests left. */
export class Reloader {
  readonly #parts: GenerationParts;
  readonly #steps: ReloadHooks;
  readonly #open: Set<Mesh>;
  #engine: MeshGeneration;
  #last: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  #isStopped = false;

  /**
   * @param first The engine that answers now.
   * @param parts What later ones are made of.
   * @param steps What else a reload does.
   */
  constructor(first: MeshGeneration, parts: GenerationParts, steps: ReloadHooks) {
    this.#engine = first;
    this.#parts = parts;
    this.#steps = steps;
    this.#open = new Set([first.mesh]);
  }

  /** The mesh that answers. */
  get mesh(): Mesh {
    return this.#engine.mesh;
  }

  /**
   * Reads the configuration again. One after the other; whoever asks while one waits for its turn gets that one.
   *
   * @throws Whatever would make a start impossible; nothing has changed then.
   */
  reload(): Promise<void> {
    this.#next ??= this.#last.then(() => {
      this.#next = undefined;
      return this.#reload();
    });
    const reloaded = this.#next;
    this.#last = reloaded.catch(() => {});
    return reloaded;
  }

  /** No further one takes over. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Closes all engines. */
  async close(): Promise<void> {
    await this.#last;
    await Promise.all([...this.#open].map((mesh) => this.#close(mesh)));
  }

  async #reload(): Promise<void> {
    const { config, check, replace } = this.#steps;
    if (typeof config !== "string") {
      throw new MeshError("There is no configuration file to read again", { code: "not_reloadable" });
    }
    if (this.#isStopped) return;
    const before = this.#engine;
    const engine = new MeshGeneration(this.#parts, before);
    await engine.start(config);
    try {
      check(engine.mesh);
    } catch (error) {
      await engine.mesh.close();
      throw error;
    }
    if (this.#isStopped) return await engine.mesh.close();
    this.#open.add(engine.mesh);
    this.#engine = engine;
    const over = replace(engine.mesh);
    await before.retire(engine);
    over.then(() => this.#close(before.mesh)).catch(() => {}); // what is lost with it was traced
  }

  async #close(mesh: Mesh): Promise<void> {
    if (this.#open.delete(mesh)) await mesh.close();
  }
}

/**
 * The engine for programs that use it without a client. The shells bind it to their connectors and runtime.
 * @module
 */
import { persistenceOnDemand } from "../background/persistence_on_demand.ts";
import { type ConfigSource, readSource, type SourcedDocument } from "../config/load/sources.ts";
import { Engine } from "../engine/engine.ts";
import { getEngine } from "../engine/get_engine.ts";
import { loadPackages } from "../registry/packages.ts";
import { ClientMesh } from "./client_mesh.ts";
import { configureWith } from "./configure.ts";
import type { MeshOptions } from "./options.ts";
import { type ConnectedRuntime, runtimeWith } from "./runtime_with.ts";

/** The base of `ModelMesh`, independent of a runtime and of built-in connectors. */
export class ModelMeshBase extends ClientMesh {
  /**
   * Called by a shell.
   *
   * @param parts Connectors and runtime.
   * @param options Replacements for parts of the runtime, and where state is persisted.
   * @internal
   */
  constructor(parts: ConnectedRuntime, options: MeshOptions) {
    const { on, storage = persistenceOnDemand(() => engine) } = options;
    const engine: Engine = new Engine({
      connectors: parts.connectors,
      runtime: runtimeWith(parts, options),
      on,
      storage,
    });
    super({ engine, ready: () => engine.ready() });
  }

  /**
   * Loads a configuration and prepares for requests. Without a `providers` section, providers are detected.
   *
   * @param config A configuration: a document as an object, a `MeshConfig`, or the path of a file.
   * @throws {ConfigError} When the configuration is invalid; lists every problem.
   * @throws {NoProvidersError} When no provider is configured or detected.
   * @throws {SecretNotFoundError} When a secret it refers to does not exist.
   */
  async initialize(config: ConfigSource): Promise<void> {
    await this.start(await readSource(config, getEngine(this).runtime.files));
  }

  /**
   * Starts with a document that a shell has read.
   *
   * @param read The document, and its source for error messages.
   * @internal
   */
  protected async start(read: SourcedDocument): Promise<void> {
    const engine = getEngine(this);
    await loadPackages(read.document, engine);
    configureWith(engine, read);
    await this.ready();
  }
}

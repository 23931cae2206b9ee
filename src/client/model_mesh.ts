/**
 * The engine for programs that use it without a client. The shells bind it to their connectors and runtime.
 * @module
 */
import { persistenceOnDemand } from "../background/persistence_on_demand.ts";
import { activate, deactivate } from "../background/manual.ts";
import type { Monitoring } from "../background/monitoring.ts";
import { checkedDocument, MeshConfigBase } from "../config/load/mesh_config.ts";
import type { NewProvider } from "../config/load/new_provider.ts";
import { saveConfigFile, storeConfig } from "../config/load/save.ts";
import { settingsOf } from "../config/load/sources.ts";
import { type ConfigSource, readSource, type SourcedDocument } from "../config/load/config_source.ts";
import type { PluggableConnector } from "../contracts/connector.ts";
import type { ProviderHealth, SyncStatus } from "../contracts/discovery.ts";
import type { StatsRecord } from "../contracts/events.ts";
import type { Observability } from "../contracts/observability.ts";
import type { RequestBody } from "../contracts/openai.ts";
import type { Storage } from "../contracts/storage.ts";
import { Engine } from "../engine/engine.ts";
import { bindEngine, type ListedPool, type Mesh } from "../engine/mesh.ts";
import { MeshError } from "../errors.ts";
import type { Explanation } from "../pipeline/explain.ts";
import { configContextOf } from "../registry/catalogue.ts";
import { loadPackages } from "../registry/packages.ts";
import type { ListedModel, PoolStatus } from "../registry/status.ts";
import { SnapshotMapper } from "../state/persistence/snapshot_mapper.ts";
import { leftOutOf } from "../state/persistence/snapshot_codec.ts";
import type { MeshSnapshot } from "../state/persistence/snapshot.ts";
import type { ExplainOptions } from "./explain.ts";
import type { MeshOptions } from "./options.ts";
import { type ConnectedRuntime, runtimeWith } from "./runtime_with.ts";

/** The base of `ModelMesh`, independent of a runtime and of built-in connectors. */
export class ModelMeshBase implements Mesh {
  readonly #engine: Engine;
  #config: MeshConfigBase | undefined;
  /** The latest `addProvider`. Calls run one after the other. */
  #adding: Promise<void> = Promise.resolve();

  /**
   * Called by a shell.
   *
   * @param parts Connectors and runtime.
   * @param options Replacements for parts of the runtime, and where state is persisted.
   * @internal
   */
  constructor(parts: ConnectedRuntime, options: MeshOptions) {
    const { on, storage = persistenceOnDemand(() => this.#engine) } = options;
    this.#engine = new Engine({ connectors: parts.connectors, runtime: runtimeWith(parts, options), on, storage });
    bindEngine(this, this.#engine);
  }

  /** Whether requests can be sent without waiting for `ready()`. */
  get isReady(): boolean {
    return this.#engine.isReady;
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
    await this.start(await readSource(config, this.#engine.runtime.files));
  }

  /**
   * Starts with a document that a shell has read.
   *
   * @param read The document, and its source for error messages.
   * @internal
   */
  protected async start({ document, source }: SourcedDocument): Promise<void> {
    const engine = this.#engine;
    await loadPackages(document, engine);
    const settings = settingsOf(document, configContextOf(engine), source === undefined ? {} : { source });
    this.#config = new MeshConfigBase(checkedDocument(document, settings));
    engine.configure(settings);
    await engine.ready();
  }

  /**
   * Reads secrets, creates providers, lists the models of local servers, and restores the persisted state. Memoized;
   * `initialize` calls it.
   *
   * @throws {ConnectorError} When the storage cannot be read.
   */
  ready(): Promise<void> {
    return this.#engine.ready();
  }

  /** Adds a sink, which receives events, routing records, traces and statistics. */
  addSink(sink: Observability): void {
    this.#engine.addSink(sink);
  }

  /**
   * Registers a connector under an id. The id can be used wherever a configuration names a connector.
   *
   * @param id The connector's id.
   * @param connector The connector.
   */
  registerConnector(id: string, connector: PluggableConnector): void {
    this.#engine.catalogue.register(id, connector);
  }

  /**
   * Adds a provider to the running mesh, as if its entry were the last of `providers`: its models become the last
   * members of their pools. State, sessions, counters and requests in flight are kept. When it throws, nothing has
   * changed.
   *
   * @param provider An entry as in `providers`, with its `id`; its `models` as in the `models` section.
   * @throws {ConfigError} When the entry is invalid, or its id or the name of a model is taken; lists every problem.
   * @throws {SecretNotFoundError} When a secret it refers to does not exist.
   *
   * @example
   * ```ts ignore
   * await mesh.addProvider({ id: "groq.api.v1", api_key: "${secrets:GROQ_API_KEY}" });
   * ```
   */
  addProvider(provider: NewProvider): Promise<void> {
    const added = this.#adding.then(async () => {
      const { document } = this.#written;
      await this.ready();
      const { addProvider } = await import("../engine/add_provider.ts"); // most programs add none
      this.#config = await addProvider(provider, { engine: this.#engine, document });
    });
    this.#adding = added.catch(() => {});
    return added;
  }

  /**
   * Writes the current configuration, including added providers. References to secrets are written as references;
   * comments are lost. A file is replaced atomically.
   *
   * @param target A path that ends in `.yaml`, `.yml` or `.json`; or a storage, which stores it under the key `config`.
   * @throws {ConfigError} For a path with another extension.
   * @throws {MeshError} `config_not_saved`, such as for a configuration that contains an object of the program.
   * @throws {ConnectorError} When the storage cannot write it.
   *
   * @example
   * ```ts ignore
   * await mesh.saveConfig("modelmesh.yaml");
   * ```
   */
  async saveConfig(target: string | Storage): Promise<void> {
    if (typeof target === "string") await saveConfigFile(this.#written, target, this.#engine.runtime.files);
    else await storeConfig(this.#written, target);
  }

  /** Returns health and model counts per pool, by pool name. */
  poolStatus(): Record<string, PoolStatus> {
    return this.#engine.poolStatus();
  }

  /** Returns the ids of providers with at least one active model. */
  activeProviders(): string[] {
    return this.#engine.activeProviders();
  }

  /** Returns the pools and their capabilities. */
  listPools(): ListedPool[] {
    return this.#engine.listPools();
  }

  /** Returns all models with their status. */
  listModels(): ListedModel[] {
    return this.#engine.listModels();
  }

  /**
   * Returns the statistics of every model, provider and pool since the mesh was created: requests, tokens, cost,
   * latency, standby.
   *
   * @example
   * ```ts ignore
   * const { requests_total, cost_total } = mesh.stats().find(({ scope, id }) => scope === "pool" && id === "chat")!;
   * ```
   */
  stats(): readonly StatsRecord[] {
    return this.#engine.stats();
  }

  /**
   * Lists the models of providers, and adds and removes models of the mesh accordingly, as `discovery.sync` does at its
   * interval. Works without a configured interval.
   *
   * @returns The result for each provider.
   *
   * @example
   * ```ts ignore
   * for (const { provider, added, problem } of await mesh.sync()) console.log(provider, problem ?? added);
   * ```
   */
  async sync(): Promise<readonly SyncStatus[]> {
    return await (await this.#monitoring()).sync();
  }

  /** Returns the latest sync result of each provider. */
  getSyncStatus(): readonly SyncStatus[] {
    return this.#engine.run?.monitoring.getSyncStatus() ?? [];
  }

  /**
   * Probes a provider with its cheapest call. A successful probe ends the provider's standby.
   *
   * @param provider The provider's id in the configuration.
   * @throws {ModelNotFoundError} When there is no provider of this id.
   */
  async probe(provider: string): Promise<ProviderHealth> {
    return await (await this.#monitoring()).probe(provider);
  }

  /** Returns the health of every provider that has been probed. */
  getHealthReport(): readonly ProviderHealth[] {
    return this.#engine.run?.monitoring.getHealthReport() ?? [];
  }

  /**
   * Puts a model or a provider in standby in every pool, with reason `manual`, until {@linkcode
   * ModelMeshBase.activate}.
   *
   * @param name The name of a model or the id of a provider.
   * @throws {ModelNotFoundError} When there is neither.
   */
  deactivate(name: string): void {
    deactivate(name, this.#engine);
  }

  /**
   * Ends every standby of a model or a provider. A limit that is still reached puts it in standby again.
   *
   * @param name The name of a model or the id of a provider.
   * @throws {ModelNotFoundError} When there is neither.
   */
  activate(name: string): void {
    activate(name, this.#engine);
  }

  /**
   * Returns where a request would be routed, and why. Sends nothing.
   *
   * @param request A request in OpenAI's shape; its `model` is a pool, alias, capability or model of this mesh.
   * @param options The operation, `chat` by default.
   * @throws {ModelNotFoundError} When `model` is unknown.
   * @throws {UnsupportedRequestError} When the request is malformed.
   *
   * @example
   * ```ts ignore
   * const { order, excluded } = await mesh.explain({ model: "chat", messages });
   * console.log(order[0]?.model, excluded);
   * ```
   */
  async explain(request: RequestBody, options: ExplainOptions = {}): Promise<Explanation> {
    await this.ready();
    const engine = this.#engine;
    const { explainRequest } = await import("./explain.ts"); // imported on demand
    return explainRequest(request, { ...options, engine, poolFor: () => engine.registry.pools[0]?.name ?? "" });
  }

  /** Returns a snapshot of the state as plain JSON, for {@linkcode ModelMeshBase.importState}. */
  exportState(): MeshSnapshot {
    const { state, runtime } = this.#engine;
    return new SnapshotMapper(state, runtime.clock).snapshot();
  }

  /**
   * Restores a snapshot. Entries are matched by name; an entry that cannot be read is skipped with a warning.
   *
   * @param snapshot The result of {@linkcode ModelMeshBase.exportState}, possibly serialized to JSON and parsed.
   * @throws {MeshError} `invalid_state` when it is not a snapshot. Nothing has changed then.
   */
  importState(snapshot: unknown): void {
    const { state, runtime } = this.#engine;
    const message = leftOutOf(new SnapshotMapper(state, runtime.clock).restore(snapshot));
    if (message !== undefined) this.#engine.warn([message]);
    this.#engine.publishMembers();
  }

  /**
   * Stops timers, writes the state and flushes sinks.
   *
   * @throws {ConnectorError} When the state cannot be written.
   */
  close(): Promise<void> {
    return this.#engine.close();
  }

  async #monitoring(): Promise<Monitoring> {
    await this.ready();
    return this.#engine.run!.monitoring;
  }

  get #written(): MeshConfigBase {
    if (this.#config !== undefined) return this.#config;
    throw new MeshError("There is no configuration yet: await initialize() first", { code: "not_initialized" });
  }
}

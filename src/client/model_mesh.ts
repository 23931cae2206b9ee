/**
 * The engine for programs that want it bare. The shells bind it to their connectors and runtime.
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

/** The part of `ModelMesh` that knows neither a runtime nor connectors of its own. */
export class ModelMeshBase implements Mesh {
  readonly #engine: Engine;
  #config: MeshConfigBase | undefined;
  /** Providers are added one after the other. */
  #adding: Promise<void> = Promise.resolve();

  /**
   * Made by a shell.
   *
   * @param parts Connectors and runtime.
   * @param options What replaces the runtime's own; where states are kept.
   * @internal
   */
  constructor(parts: ConnectedRuntime, options: MeshOptions) {
    const { on, storage = persistenceOnDemand(() => this.#engine) } = options;
    this.#engine = new Engine({ connectors: parts.connectors, runtime: runtimeWith(parts, options), on, storage });
    bindEngine(this, this.#engine);
  }

  /** Whether it can answer requests at once. */
  get isReady(): boolean {
    return this.#engine.isReady;
  }

  /**
   * Loads a configuration and makes ready for requests. Without a `providers` section the providers are those detected.
   *
   * @param config A configuration: a document as an object, a `MeshConfig`, or a file's path.
   * @throws {ConfigError} With all that is wrong.
   * @throws {NoProvidersError} When it has no providers and none is detected.
   * @throws {SecretNotFoundError} When a secret it refers to does not exist.
   */
  async initialize(config: ConfigSource): Promise<void> {
    await this.start(await readSource(config, this.#engine.runtime.files));
  }

  /**
   * The same, for a document that a shell has read.
   *
   * @param read The document, and where it came from, for messages.
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
   * Reads secrets, makes providers, asks local servers for their models, restores the state of the last process.
   * Memoised; `initialize` has done it.
   *
   * @throws {ConnectorError} When the storage cannot be read.
   */
  ready(): Promise<void> {
    return this.#engine.ready();
  }

  /** Adds a sink for records. */
  addSink(sink: Observability): void {
    this.#engine.addSink(sink);
  }

  /**
   * Adds a connector of one's own; its id works wherever a connector's id does.
   *
   * @param id The id it goes by.
   * @param connector What it is.
   */
  registerConnector(id: string, connector: PluggableConnector): void {
    this.#engine.catalogue.register(id, connector);
  }

  /**
   * Adds a provider to the running mesh, as if its entry stood last in `providers`: its models take their places in
   * pools behind those that are there. States, sessions, counts and requests under way go on. Nothing has changed when
   * it throws.
   *
   * @param provider Its entry as in `providers`, with its `id`; its `models` as in the section of that name.
   * @throws {ConfigError} With all that is wrong, or when the id or a model's name is taken.
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
   * Writes the present configuration, providers added since included. Secret references stay references; comments are
   * lost. A file is replaced whole or not at all.
   *
   * @param target A path that ends in `.yaml`, `.yml` or `.json`; or a storage, which keeps it under the key `config`.
   * @throws {ConfigError} For a path that ends otherwise.
   * @throws {MeshError} `config_not_saved`; or when the configuration has an object of the program in it.
   * @throws {ConnectorError} When the storage does not take it.
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

  /** Per-pool health and model counts, by pool name. */
  poolStatus(): Record<string, PoolStatus> {
    return this.#engine.poolStatus();
  }

  /** Entry ids of the providers that have an active model. */
  activeProviders(): string[] {
    return this.#engine.activeProviders();
  }

  /** Configured pools and their capabilities. */
  listPools(): ListedPool[] {
    return this.#engine.listPools();
  }

  /** All models and their status. */
  listModels(): ListedModel[] {
    return this.#engine.listModels();
  }

  /**
   * The numbers of every model, provider and pool since this mesh was made: requests, tokens, cost, latencies, standby.
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
   * Asks providers for their lists of models, and brings the models of this mesh up to date, as `discovery.sync` does
   * at its interval. Works without an interval, too.
   *
   * @returns What was done, for each provider asked.
   *
   * @example
   * ```ts ignore
   * for (const { provider, added, problem } of await mesh.sync()) console.log(provider, problem ?? added);
   * ```
   */
  async sync(): Promise<readonly SyncStatus[]> {
    return await (await this.#monitoring()).sync();
  }

  /** What the latest sync of every provider did. */
  getSyncStatus(): readonly SyncStatus[] {
    return this.#engine.run?.monitoring.getSyncStatus() ?? [];
  }

  /**
   * Probes a provider by the cheapest call it has. One that answers recovers.
   *
   * @param provider Its entry id.
   * @throws {ModelNotFoundError} When there is none of this id.
   */
  async probe(provider: string): Promise<ProviderHealth> {
    return await (await this.#monitoring()).probe(provider);
  }

  /** The health of every provider that was probed. */
  getHealthReport(): readonly ProviderHealth[] {
    return this.#engine.run?.monitoring.getHealthReport() ?? [];
  }

  /**
   * Sets a model or a provider aside in every pool until {@linkcode ModelMeshBase.activate}; reason `manual`.
   *
   * @param name A model's name or a provider's entry id.
   * @throws {ModelNotFoundError} When it is neither.
   */
  deactivate(name: string): void {
    deactivate(name, this.#engine);
  }

  /**
   * Ends every standby of a model or provider. A limit that is still reached begins one again.
   *
   * @param name A model's name or a provider's entry id.
   * @throws {ModelNotFoundError} When it is neither.
   */
  activate(name: string): void {
    activate(name, this.#engine);
  }

  /**
   * Where a request would go, and why. Sends nothing.
   *
   * @param request A request in OpenAI's shape, its `model` a name of this mesh.
   * @param options Which operation it is for, `chat` by default.
   * @throws {ModelNotFoundError} When its `model` stands for nothing.
   * @throws {UnsupportedRequestError} When it is malformed.
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
    const { explainRequest } = await import("./explain.ts"); // most programs never ask
    return explainRequest(request, { ...options, engine, poolFor: () => engine.registry.pools[0]?.name ?? "" });
  }

  /** Everything that is remembered of states, as plain JSON: what {@linkcode ModelMeshBase.importState} takes. */
  exportState(): MeshSnapshot {
    const { state, runtime } = this.#engine;
    return new SnapshotMapper(state, runtime.clock).snapshot();
  }

  /**
   * Becomes what was remembered, by names. An entry that cannot be read is left out, with a warning.
   *
   * @param snapshot What {@linkcode ModelMeshBase.exportState} gave, by way of JSON.
   * @throws {MeshError} `invalid_state` when it is anything else; nothing has changed then.
   */
  importState(snapshot: unknown): void {
    const { state, runtime } = this.#engine;
    const message = leftOutOf(new SnapshotMapper(state, runtime.clock).restore(snapshot));
    if (message !== undefined) this.#engine.warn([message]);
    this.#engine.publishMembers();
  }

  /**
   * Ends timers, writes the state and what sinks still hold.
   *
   * @throws {ConnectorError} When the storage does not take the state.
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

/**
 * The engine behind a client, for programs: its pools, models, providers and state.
 * @module
 */
import type { NewProvider } from "../config/load/new_provider.ts";
import type { PluggableConnector } from "../contracts/connector.ts";
import type { ProviderHealth, SyncStatus } from "../contracts/discovery.ts";
import type { StatsRecord } from "../contracts/events.ts";
import type { Observability } from "../contracts/observability.ts";
import type { RequestBody } from "../contracts/openai.ts";
import type { Storage } from "../contracts/storage.ts";
import type { Engine } from "../engine/engine.ts";
import { bindEngine, type ListedPool, type Mesh } from "../engine/mesh.ts";
import { MeshError } from "../errors.ts";
import type { Explanation } from "../pipeline/explain.ts";
import type { ListedModel, PoolStatus } from "../registry/status.ts";
import type { MeshSnapshot } from "../state/persistence/snapshot.ts";
import type { ExplainOptions } from "./explain.ts";

/** What acts on a mesh. Pages import it with {@linkcode ClientMesh.ready}. */
export type MeshControls = typeof import("./mesh_controls.ts");

/** Dependencies of a {@linkcode ClientMesh}. */
interface ClientMeshParts {
  readonly engine: Engine;
  /** Reads the configuration, and starts the engine. */
  readonly ready: () => Promise<void>;
  /** Returns what acts on the mesh, where the start has imported it. */
  readonly controls?: () => MeshControls | undefined;
}

/** The mesh of a client: what `ModelMesh` has, except `initialize`. */
export class ClientMesh implements Mesh {
  readonly #parts: ClientMeshParts;
  #controls: MeshControls | undefined;
  /** The latest `addProvider`. Calls run one after the other. */
  #adding: Promise<void> = Promise.resolve();

  /**
   * Called by `create` and by `ModelMesh`.
   *
   * @param parts The engine, and how it starts.
   * @internal
   */
  constructor(parts: ClientMeshParts) {
    this.#parts = parts;
    bindEngine(this, parts.engine);
  }

  /** Whether requests can be sent without waiting for `ready()`. */
  get isReady(): boolean {
    return this.#engine.isReady;
  }

  /**
   * Reads secrets, creates providers, lists the models of local servers, and restores the persisted state. Memoized. In
   * a page, it also imports what `deactivate`, `activate`, `exportState` and `importState` need.
   *
   * @throws {ConnectorError} When the storage cannot be read.
   */
  async ready(): Promise<void> {
    await this.#load();
  }

  /** Adds a sink, which receives events, routing records, traces and statistics. */
  addSink(sink: Observability): void {
    this.#engine.addSink(sink);
  }

  /**
   * Registers a connector under an id. The id can be used wherever a configuration names a connector.
   *
   * @param id The connector's id.
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
   * ```ts
   * import { ModelMesh } from "@modelmesh/core";
   *
   * const mesh = await ModelMesh.fromYaml("modelmesh.yaml");
   * await mesh.addProvider({ id: "groq.api.v1", api_key: "${secrets:GROQ_API_KEY}" });
   * ```
   */
  addProvider(provider: NewProvider): Promise<void> {
    const added = this.#adding.then(async () => (await this.#load()).addProvider(provider, this.#engine));
    this.#adding = added.catch(() => {});
    return added;
  }

  /**
   * Writes the current configuration, including added providers. References to secrets are written as references;
   * comments are lost. A file is replaced atomically. For a client without a configuration, its detected providers and its
   * pools are written.
   *
   * @param target A path that ends in `.yaml`, `.yml` or `.json`; or a storage, which stores it under the key `config`.
   * @throws {ConfigError} For a path with another extension.
   * @throws {MeshError} `config_not_saved`, such as for a configuration that contains an object of the program.
   * @throws {MeshError} `not_initialized` when there is no configuration yet.
   * @throws {ConnectorError} When the storage cannot write it.
   *
   * @example
   * ```ts
   * import { ModelMesh } from "@modelmesh/core";
   *
   * const mesh = new ModelMesh();
   * await mesh.initialize({ pools: { chat: { capability: "chat-completion" } } });
   * await mesh.saveConfig("modelmesh.yaml");
   * ```
   */
  async saveConfig(target: string | Storage): Promise<void> {
    await (await this.#load()).saveConfig(target, this.#engine);
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
   * ```ts
   * import { ModelMesh } from "@modelmesh/core";
   *
   * const mesh = await ModelMesh.fromYaml("modelmesh.yaml");
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
   * ```ts
   * import { ModelMesh } from "@modelmesh/core";
   *
   * const mesh = await ModelMesh.fromYaml("modelmesh.yaml");
   * for (const { provider, added, problem } of await mesh.sync()) console.log(provider, problem ?? added);
   * ```
   */
  async sync(): Promise<readonly SyncStatus[]> {
    return await (await this.#load()).sync(this.#engine);
  }

  /** Returns the latest sync result of each provider. */
  getSyncStatus(): readonly SyncStatus[] {
    return this.#engine.lifecycle?.monitoring.getSyncStatus() ?? [];
  }

  /**
   * Probes a provider with its cheapest call. A successful probe ends the provider's standby.
   *
   * @param provider The provider's id in the configuration.
   * @throws {ModelNotFoundError} When there is no provider of this id.
   */
  async probe(provider: string): Promise<ProviderHealth> {
    return await (await this.#load()).runProbe(provider, this.#engine);
  }

  /** Returns the health of every provider that has been probed. */
  getHealthReport(): readonly ProviderHealth[] {
    return this.#engine.lifecycle?.monitoring.getHealthReport() ?? [];
  }

  /**
   * Puts a model or a provider in standby in every pool, with reason `manual`, until {@linkcode
   * ClientMesh.activate}.
   *
   * @param name The name of a model or the id of a provider.
   * @throws {ModelNotFoundError} When there is neither.
   */
  deactivate(name: string): void {
    this.#loaded.deactivate(name, this.#engine);
  }

  /**
   * Ends every standby of a model or a provider. A limit that is still reached puts it in standby again.
   *
   * @param name The name of a model or the id of a provider.
   * @throws {ModelNotFoundError} When there is neither.
   */
  activate(name: string): void {
    this.#loaded.activate(name, this.#engine);
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
   * ```ts
   * import { ModelMesh } from "@modelmesh/core";
   *
   * const mesh = await ModelMesh.fromYaml("modelmesh.yaml");
   * const { order, excluded } = await mesh.explain({ model: "chat", messages: [{ role: "user", content: "Hello" }] });
   * console.log(order[0]?.model, excluded);
   * ```
   */
  async explain(request: RequestBody, options: ExplainOptions = {}): Promise<Explanation> {
    return await (await this.#load()).explain(request, options, this.#engine);
  }

  /** Returns a snapshot of the state as plain JSON, for {@linkcode ClientMesh.importState}. */
  exportState(): MeshSnapshot {
    return this.#loaded.exportState(this.#engine);
  }

  /**
   * Restores a snapshot. Entries are matched by name; an entry that cannot be read is skipped with a warning.
   *
   * @param snapshot The result of {@linkcode ClientMesh.exportState}, possibly serialized to JSON and parsed.
   * @throws {MeshError} `invalid_state` when it is not a snapshot. Nothing has changed then.
   */
  importState(snapshot: unknown): void {
    this.#loaded.importState(snapshot, this.#engine);
  }

  /**
   * Stops timers, writes the state and flushes sinks.
   *
   * @throws {ConnectorError} When the state cannot be written.
   */
  close(): Promise<void> {
    return this.#engine.close();
  }

  get #engine(): Engine {
    return this.#parts.engine;
  }

  async #load(): Promise<MeshControls> {
    await this.#parts.ready();
    return this.#controls ??= this.#parts.controls?.() ?? await import("./mesh_controls.ts"); // few pages need them
  }

  get #loaded(): MeshControls {
    const controls = this.#controls ?? this.#parts.controls?.();
    if (controls !== undefined) return controls;
    throw new MeshError("The mesh is not ready yet: await its ready() first", { code: "not_initialized" });
  }
}

/**
 * The engine: settings in, responses out. It wires the other directories together, and knows neither runtimes nor vendors.
 * @module
 */
import type { CacheMemory } from "../background/open_cache.ts";
import type { SettingsPlan } from "../config/build/explicit.ts";
import type { MeshConfigBase } from "../config/load/mesh_config.ts";
import type { SettingsSecrets } from "../config/secrets/settings_secrets.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { StatsRecord } from "../contracts/events.ts";
import type { Observability } from "../contracts/observability.ts";
import type { RequestBody } from "../contracts/openai.ts";
import type { Storage } from "../contracts/storage.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { MeshError } from "../errors.ts";
import type { ObjectRecords } from "../infrastructure/object_records.ts";
import type { InfrastructureServices } from "../infrastructure/services.ts";
import { Hub } from "../observe/hub.ts";
import type { RecordKind } from "../observe/output.ts";
import { Redactor, withSecretVariables } from "../observe/redact.ts";
import { countEvents, Statistics } from "../observe/statistics.ts";
import type { Caching } from "../pipeline/cache/caching.ts";
import type { Delivered } from "../pipeline/perform.ts";
import type { RouteDeps, RoutedRequest } from "../pipeline/request.ts";
import { ConnectorCatalogue } from "../registry/catalogue.ts";
import type { Registry } from "../registry/registry.ts";
import type { Pool } from "../registry/registry.ts";
import { activeProviders, type ListedModel, listModels, type PoolStatus, toPoolStatus } from "../registry/status.ts";
import type { MeshState, ScopedBudgetWindow } from "../state/model/mesh_state.ts";
import type { StateStore } from "../state/persistence/state_store.ts";
import { findStoreMaker } from "../state/state_persistence.ts";
import type { Transition } from "../state/breaker/circuit_breaker.ts";
import { onceResolved } from "../util/once.ts";
import {
  type Assembly,
  type AssemblyContext,
  type AssemblyPlan,
  listener,
  listMeshMembers,
  namesIn,
  type Outline,
  outline,
  toTransitionEvent,
} from "./assembly.ts";
import type { EngineParts } from "./engine_parts.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { bindEngine, type ListedPool, type Mesh } from "./mesh.ts";

/** The engine. `ModelMesh` and `MeshClient` are facades over it. */
export class Engine implements Mesh {
  /** The runtime port. */
  readonly runtime: Runtime;
  /** Connectors by id. */
  readonly catalogue: ConnectorCatalogue;
  /** Distributes records to sinks. */
  readonly hub: Hub;
  /** Statistics of models, providers and pools. */
  readonly statistics: Statistics;
  readonly #parts: EngineParts;
  /** Removes secrets from strings. */
  readonly redactor: Redactor = new Redactor();
  /** Returns a string with its secrets redacted. */
  readonly redact = (text: string): string => this.redactor.redact(text);
  /** Creation time, monotonic ms. */
  readonly startedAt: number;
  /** The configuration document, including added providers; undefined without one. */
  config: MeshConfigBase | undefined;
  /** Records of files, batches and fine-tuning jobs, once any was requested. */
  readonly objects: { records?: ObjectRecords };
  /** Entries of the cache in memory, once there are any. */
  readonly cacheMemory: CacheMemory;
  /** Undefined before it is configured. */
  #plan: AssemblyPlan | undefined;
  /** Undefined until something needs it before the start. */
  #outline: Outline | undefined;
  /** Undefined before the start. */
  #assembly: Assembly | undefined;
  #ready: Promise<void> | undefined;
  #lifecycle: Lifecycle | undefined;
  readonly #infrastructure: () => Promise<InfrastructureServices> = onceResolved(async () => {
    await this.ready();
    const { InfrastructureServices } = await import("../infrastructure/services.ts");
    return new InfrastructureServices(this);
  });
  #secrets: SettingsSecrets | undefined;
  readonly #store: StateStore | undefined;
  readonly #closing: (() => Promise<void>)[] = [];
  #isReady = false;
  #isClosed = false;

  constructor(parts: EngineParts) {
    const { connectors, runtime, on, storage } = parts;
    bindEngine(this, this);
    this.#parts = parts;
    this.runtime = withSecretVariables(runtime, this.redactor);
    this.catalogue = new ConnectorCatalogue(connectors);
    this.hub = new Hub(runtime.clock, this.redact);
    this.statistics = parts.statistics ?? new Statistics(runtime.clock);
    this.objects = parts.objects ?? {};
    this.cacheMemory = parts.cacheMemory ?? {};
    countEvents(this.hub, this.statistics);
    this.#store = findStoreMaker(storage)?.({ clock: runtime.clock, hub: this.hub });
    this.startedAt = runtime.clock.monotonic();
    if (on !== undefined) this.hub.add(listener(on));
  }

  /** Current settings. Throws before it is configured. */
  get settings(): Settings {
    return this.#configured.settings;
  }

  /** Whether its settings are known. Secrets and remote stores are read by `ready()`. */
  get isConfigured(): boolean {
    return this.#plan !== undefined;
  }

  /** Models, providers and pools. Throws before it is configured. */
  get registry(): Registry {
    return (this.#assembly ?? (this.#outline ??= outline(this.#configured, this))).registry;
  }

  /** State of models and providers. Throws before the start. */
  get state(): MeshState {
    return this.#started.state;
  }

  /** Dependencies of the pipeline. Throws before the start. */
  get routeDeps(): RouteDeps {
    return this.#started.deps;
  }

  /** The cache of responses; undefined without one. Throws before the start. */
  get caching(): Caching | undefined {
    return this.#started.deps.caching;
  }

  /** Resolves the secrets of the settings; undefined before the start, and when no secret store is configured. */
  get secrets(): SettingsSecrets | undefined {
    return this.#secrets;
  }

  /** The storage of the state, once it is open. */
  get storage(): Storage | undefined {
    return this.#store?.storage;
  }

  /** Messages among the worker processes of one proxy; undefined with one process. */
  get siblings(): StateStore["siblings"] {
    return this.#store?.siblings;
  }

  /** Registers a task to be run when the mesh closes, before the storage closes. */
  onClose(task: () => Promise<void>): void {
    this.#closing.push(task);
  }

  /** The background work of the engine; undefined before the start. */
  get lifecycle(): Lifecycle | undefined {
    return this.#lifecycle;
  }

  /** Whether requests can be sent without waiting for `ready()`. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /**
   * Replaces the settings, and keeps registry and state.
   *
   * @param settings The new settings, such as with an added provider.
   * @param secrets Resolves their secrets.
   */
  adopt(settings: Settings, secrets: SettingsSecrets | undefined): void {
    this.#plan = this.#assembly = { ...this.#started, settings };
    this.#secrets = secrets;
  }

  /** Asks providers again for lists of models that could not be had, such as after a provider was added. */
  async relist(): Promise<void> {
    await this.#lifecycle?.relist(this.#started);
  }

  /**
   * Adds a sink for records.
   *
   * @param kinds Kinds of records it receives.
   * @default all
   */
  addSink(sink: Observability, kinds?: readonly RecordKind[]): void {
    this.hub.add(sink, kinds);
  }

  /**
   * Configures the engine. Sends and reads nothing yet.
   *
   * @param settings A validated configuration.
   * @param addPools Adds pools that the configuration does not name, such as those of detected providers.
   */
  configure(settings: Settings, addPools: AssemblyPlan["addPools"] = () => {}): void {
    this.#plan = { settings, addPools };
    this.#outline = this.#assembly = undefined;
    this.#ready = undefined;
    this.#isReady = false;
  }

  /** Registers the connectors of a plan, and configures the engine with its settings. */
  configureBy({ settings, connectors }: SettingsPlan, addPools?: AssemblyPlan["addPools"]): undefined {
    for (const connector of connectors) this.catalogue.register(connector.id, connector);
    this.configure(settings, addPools);
  }

  /**
   * Reads secrets, creates providers, lists the models of local servers, and restores the persisted state. Memoized.
   *
   * @throws {ConnectorError} When the storage cannot be read.
   */
  ready(): Promise<void> {
    return this.#ready ??= this.#start().catch(async (error) => {
      this.#ready = undefined; // a transient failure may be gone at the next call
      await this.hub.flush(); // the program may exit on this error
      throw error;
    });
  }

  /**
   * Performs a request.
   *
   * @param request The request to route.
   * @throws {MeshError} When the request fails. An aborted request throws the signal's reason.
   */
  perform<Body extends RequestBody, Response>(
    request: RoutedRequest<Body, Response>,
  ): Promise<Delivered<Response>> {
    const isLimited = request.labels !== undefined && request.scopes === undefined;
    const isPlain = this.#isReady && !this.#isClosed && !isLimited;
    const performing = isPlain
      ? this.#lifecycle!.perform(request, this.#assembly!.deps)
      : this.#performLimited(request);
    return performing.catch((error) => {
      if (MeshError.isInstance(error)) error.requestId = request.id;
      throw error;
    });
  }

  /** Performs a request that may have limits of its own, and may come before the start or after the end. */
  async #performLimited<Body extends RequestBody, Response>(
    request: RoutedRequest<Body, Response>,
  ): Promise<Delivered<Response>> {
    if (this.#isClosed) throw new MeshError("The mesh is closed", { code: "shutting_down" });
    if (!this.#isReady) await this.ready();
    const { perform } = this.#lifecycle!;
    const { deps, state: { scopes } } = this.#started;
    if (scopes === undefined || request.labels === undefined || request.scopes !== undefined) {
      return await perform(request, deps);
    }
    const { performLimited } = await import("../pipeline/perform_limited.ts");
    return await performLimited(request, scopes, (limited) => perform(limited, deps));
  }

  /** Returns the services for files, batches and fine-tuning jobs. Imported on demand, since most meshes use none. */
  infrastructure(): Promise<InfrastructureServices> {
    return this.#infrastructure();
  }

  /** Returns health and model counts per pool, by pool name. */
  poolStatus(): Record<string, PoolStatus> {
    return Object.fromEntries(this.registry.pools.map((pool) => [pool.name, toPoolStatus(pool, this.runtime.clock)]));
  }

  /** Returns the statistics of every model, provider and pool. */
  stats(): readonly StatsRecord[] {
    return this.statistics.records();
  }

  /** Returns the limits of all budgets. */
  listBudgets(): readonly ScopedBudgetWindow[] {
    return this.state.listBudgets(this.runtime.clock.now());
  }

  /** Returns the ids of providers with at least one active model. */
  activeProviders(): string[] {
    return activeProviders(this.registry, this.runtime.clock.monotonic());
  }

  /** Returns the pools and their capabilities. */
  listPools(): ListedPool[] {
    return this.registry.pools.map(({ name, capability }) => ({ name, capability }));
  }

  /** Returns all models with their status. */
  listModels(): ListedModel[] {
    return listModels(this.registry, this.runtime.clock.monotonic());
  }

  /**
   * Stops timers, writes the state and flushes sinks.
   *
   * @throws {ConnectorError} When the state cannot be written.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#lifecycle?.close();
    await this.hub.flush(({ usesStorage }) => usesStorage === true);
    try {
      await Promise.all(this.#closing.splice(0).map((task) => task()));
      await this.#store?.close();
    } finally {
      await this.hub.flush();
    }
  }

  /**
   * Publishes `members_changed`: at the start, when members are added, and when state is replaced without events.
   *
   * @param added The pool whose members alone are new.
   */
  publishMembers(added?: Pool): void {
    if (added !== undefined) return this.hub.publish("members_added", namesIn(added));
    this.#lifecycle?.outages.begin(this.registry.pools);
    this.hub.publish("members_changed", listMeshMembers(this.#started));
  }

  /** Traces warnings. */
  warn(messages: readonly string[]): void {
    for (const message of messages) this.hub.trace({ severity: "warning", component: "mesh", message });
  }

  get #started(): Assembly {
    if (this.#assembly !== undefined) return this.#assembly;
    throw new MeshError("The mesh is not ready yet: await its ready() first", { code: "not_initialized" });
  }

  get #configured(): AssemblyPlan {
    if (this.#plan !== undefined) return this.#plan;
    const message = "The configuration is not read yet: await ready() or initialize()";
    throw new MeshError(message, { code: "not_initialized" });
  }

  get #context(): AssemblyContext {
    const { runtime, hub, redact, redactor, catalogue } = this;
    return {
      runtime,
      hub,
      redact,
      redactor,
      catalogue,
      stateBefore: (settings) => this.#parts.stateBefore?.(settings),
      onTransition: (transition) => this.#apply(transition),
    };
  }

  async #start(): Promise<void> {
    const { Lifecycle } = await import("./lifecycle.ts");
    const lifecycle = this.#lifecycle ??= new Lifecycle(this, { context: this.#context, store: this.#store });
    const { assembly, secrets } = await lifecycle.open(this.#configured);
    this.#plan = this.#assembly = assembly;
    this.#secrets = secrets;
    await lifecycle.begin(assembly);
    if (this.#isClosed) await lifecycle.close(); // closed during the start
    this.#isReady = true;
    // polling waits for the start, and reports its own failure
    if (assembly.registry.models.some(({ batch }) => batch?.polling)) this.infrastructure().catch(() => {});
    await lifecycle.report(assembly);
  }

  #apply(transition: Transition): void {
    this.hub.event(toTransitionEvent(transition));
    this.#store?.mark();
    if (this.#assembly !== undefined) this.#lifecycle?.follow(transition, this.#assembly);
  }
}

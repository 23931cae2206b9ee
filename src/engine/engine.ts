/**
 * The engine: settings in, responses out. It wires the rooms together and knows no runtime and no vendor.
 * @module
 */
import type { SettingsPlan } from "../config/build/explicit.ts";
import type { SettingsSecrets } from "../config/secrets/settings_secrets.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { StatsRecord } from "../contracts/events.ts";
import type { Observability } from "../contracts/observability.ts";
import type { RequestBody } from "../contracts/openai.ts";
import type { Storage } from "../contracts/storage.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { MeshError } from "../errors.ts";
import type { ObjectBook } from "../infrastructure/object_book.ts";
import type { InfrastructureServices } from "../infrastructure/services.ts";
import { Hub } from "../observe/hub.ts";
import type { RecordKind } from "../observe/output.ts";
import { Redactor } from "../observe/redact.ts";
import { countEvents, Statistics } from "../observe/statistics.ts";
import type { Answer } from "../pipeline/answer.ts";
import type { RouteDeps } from "../pipeline/deps.ts";
import type { RoutedRequest } from "../pipeline/request.ts";
import { ConnectorCatalogue } from "../registry/catalogue.ts";
import type { Registry } from "../registry/registry.ts";
import { activeProviders, type ListedModel, listModels, type PoolStatus, statusOf } from "../registry/status.ts";
import type { MeshState } from "../state/mesh_state.ts";
import { type StateStore, storeMakerOf } from "../state/persistence/state_store.ts";
import type { Transition } from "../state/breaker/circuit_breaker.ts";
import { withSecretVariables } from "../observe/secret_names.ts";
import { onceResolved } from "../util/once.ts";
import { assemble, type Assembly, type AssemblyContext, type AssemblyPlan, membersOf } from "./assembly.ts";
import type { EngineParts } from "./engine_parts.ts";
import type { EngineRun } from "./run.ts";
import { eventOf, listener } from "./records.ts";
import { bindEngine, type ListedPool, type Mesh } from "./mesh.ts";

/** The engine. Programs use it by way of `ModelMesh` and `MeshClient`, which are facades over one each. */
export class Engine implements Mesh {
  /** The door to the outside. */
  readonly runtime: Runtime;
  /** Its connectors by id. */
  readonly catalogue: ConnectorCatalogue;
  /** All its sinks. */
  readonly hub: Hub;
  /** All its numbers. */
  readonly statistics: Statistics;
  readonly #parts: EngineParts;
  /** What it takes out of texts. */
  readonly redactor: Redactor = new Redactor();
  /** The text without a secret in it. */
  readonly redact = (text: string): string => this.redactor.redact(text);
  /** When it was made, monotonic ms. */
  readonly startedAt: number;
  /** Where files, batches and fine-tuning jobs that were made are, once any was asked for. */
  readonly objects: { book?: ObjectBook };
  #assembly: Assembly | undefined;
  #ready: Promise<void> | undefined;
  #run: EngineRun | undefined;
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
    countEvents(this.hub, this.statistics);
    this.#store = storeMakerOf(storage)?.({ clock: runtime.clock, hub: this.hub });
    this.startedAt = runtime.clock.monotonic();
    if (on !== undefined) this.hub.add(listener(on));
  }

  /** What it runs by. Throws before it is configured. */
  get settings(): Settings {
    return this.#current.settings;
  }

  /** What exists. Throws before it is configured. */
  get registry(): Registry {
    return this.#current.registry;
  }

  /** What has happened. Throws before it is configured. */
  get state(): MeshState {
    return this.#current.state;
  }

  /** What its pipeline works with. */
  get routeDeps(): RouteDeps {
    return this.#current.deps;
  }

  /** Where the secrets of its settings are looked up; undefined before the start, and where no store is named. */
  get secrets(): SettingsSecrets | undefined {
    return this.#secrets;
  }

  /** Where its state is kept, once that is open. */
  get storage(): Storage | undefined {
    return this.#store?.storage;
  }

  /** Has something done when the mesh closes, before its storage does. */
  onClose(task: () => Promise<void>): void {
    this.#closing.push(task);
  }

  /** What goes on beside requests; undefined before the start. */
  get run(): EngineRun | undefined {
    return this.#run;
  }

  /** Whether it can answer requests at once. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /**
   * Goes on under other settings with the same registry and state.
   *
   * @param settings With what was added to them, such as a provider.
   * @param secrets Where their secrets are looked up.
   */
  adopt(settings: Settings, secrets: SettingsSecrets | undefined): void {
    this.#assembly = { ...this.#current, settings };
    this.#secrets = secrets;
  }

  /**
   * Adds a sink for records.
   *
   * @param sink Takes them.
   * @param kinds Which it takes.
   *   @default all
   */
  addSink(sink: Observability, kinds?: readonly RecordKind[]): void {
    this.hub.add(sink, kinds);
  }

  /**
   * Takes settings; sends nothing and reads nothing yet.
   *
   * @param settings A validated configuration.
   * @param addPools Adds pools that the configuration does not name, such as those of detected providers.
   */
  configure(settings: Settings, addPools: AssemblyPlan["addPools"] = () => {}): void {
    this.#assembly = assemble({ settings, addPools }, this.#context);
    this.#ready = undefined;
    this.#isReady = false;
  }

  /** The same with connectors that belong to the settings. */
  configureBy({ settings, connectors }: SettingsPlan, addPools?: AssemblyPlan["addPools"]): undefined {
    for (const connector of connectors) this.catalogue.register(connector.id, connector);
    this.configure(settings, addPools);
  }

  /**
   * Reads secrets, makes providers, asks local servers for their models, takes up the state of the last process. Memoised.
   *
   * @throws {ConnectorError} When the storage cannot be read.
   */
  ready(): Promise<void> {
    return this.#ready ??= this.#start().catch(async (error) => {
      this.#ready = undefined; // what was away for a moment may be back at the next try
      await this.hub.flush(); // the program may end by this error
      throw error;
    });
  }

  /**
   * Answers a request.
   *
   * @param request What is asked.
   * @throws A `MeshError`, or the client's abort.
   */
  async perform<Body extends RequestBody, Response>(
    request: RoutedRequest<Body, Response>,
  ): Promise<Answer<Response>> {
    if (this.#isClosed) throw new MeshError("The mesh is closed", { code: "shutting_down" });
    if (!this.#isReady) await this.ready();
    try {
      return await this.#run!.perform(request, this.routeDeps);
    } catch (error) {
      if (MeshError.isInstance(error)) error.requestId = request.id;
      throw error;
    }
  }

  /** Files, batches and fine-tuning jobs; most meshes have none, so that what has them is imported when it is asked for. */
  infrastructure(): Promise<InfrastructureServices> {
    return this.#infrastructure();
  }

  /** Per-pool health and model counts, by pool name. */
  poolStatus(): Record<string, PoolStatus> {
    return Object.fromEntries(this.registry.pools.map((pool) => [pool.name, statusOf(pool, this.runtime.clock)]));
  }

  /** The numbers of every model, provider and pool. */
  stats(): readonly StatsRecord[] {
    return this.statistics.records();
  }

  /** Entry ids of the providers that have an active model. */
  activeProviders(): string[] {
    return activeProviders(this.registry, this.runtime.clock.monotonic());
  }

  /** Configured pools and their capabilities. */
  listPools(): ListedPool[] {
    return this.registry.pools.map(({ name, capability }) => ({ name, capability }));
  }

  /** All models and their status. */
  listModels(): ListedModel[] {
    return listModels(this.registry, this.runtime.clock.monotonic());
  }

  /**
   * Ends timers, writes the state and what sinks still hold.
   *
   * @throws {ConnectorError} When the storage does not take the state.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#run?.close();
    await this.hub.flush(({ usesStorage }) => usesStorage === true);
    try {
      await Promise.all(this.#closing.splice(0).map((task) => task()));
      await this.#store?.close();
    } finally {
      await this.hub.flush();
    }
  }

  /** Publishes `members_changed`: at the start, for new members, and when states were replaced without an event. */
  publishMembers(): void {
    this.#run?.outages.begin(this.registry.pools);
    this.hub.publish("members_changed", membersOf(this.#current));
  }

  /** Traces warnings. */
  warn(messages: readonly string[]): void {
    for (const message of messages) this.hub.trace({ severity: "warning", component: "mesh", message });
  }

  get #current(): Assembly {
    if (this.#assembly !== undefined) return this.#assembly;
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
    const { EngineRun } = await import("./run.ts");
    const run = this.#run ??= new EngineRun(this, { context: this.#context, store: this.#store });
    const { assembly, secrets } = await run.open(this.#current);
    this.#assembly = assembly;
    this.#secrets = secrets;
    await run.begin(assembly);
    if (this.#isClosed) await run.close(); // meanwhile
    this.#isReady = true;
    // what polls waits for the start, and one that fails says so itself
    if (assembly.registry.models.some(({ batch }) => batch?.isPolled)) this.infrastructure().catch(() => {});
    await run.report(assembly);
  }

  #apply(transition: Transition): void {
    this.hub.event(eventOf(transition));
    this.#store?.mark();
    if (this.#assembly !== undefined) this.#run?.follow(transition, this.#assembly);
  }
}

/**
 * The engine: settings in, answers out. It wires the rooms together and knows no runtime and no vendor.
 * @module
 */
import { askProviders } from "../background/ask_providers.ts";
import { discoverModels } from "../background/discover.ts";
import type { MeshParts } from "../background/mesh_parts.ts";
import { openProvider } from "../background/open_provider.ts";
import { RecoveryTimer } from "../background/recovery.ts";
import { Monitoring } from "../background/monitoring.ts";
import type { SettingsSecrets } from "../config/secrets/settings_secrets.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { MeshEvent, RoutingRecord, StatsRecord } from "../contracts/events.ts";
import type { Observability } from "../contracts/observability.ts";
import type { ModelListing } from "../contracts/provider.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { MeshError } from "../errors.ts";
import { Hub } from "../observe/hub.ts";
import { Redactor } from "../observe/redact.ts";
import { countEvents, Statistics } from "../observe/statistics.ts";
import { chat, type ChatAnswer } from "../pipeline/chat.ts";
import type { RouteDeps } from "../pipeline/deps.ts";
import type { RoutedRequest } from "../pipeline/request.ts";
import { buildRegistry } from "../registry/build.ts";
import { ConnectorCatalogue, loadConnectors, loadSinks } from "../registry/catalogue.ts";
import type { ProviderAnswers } from "../registry/provider_answers.ts";
import type { Registry } from "../registry/registry.ts";
import { type ListedModel, listModels, type PoolStatus, statusOf } from "../registry/status.ts";
import { MeshState } from "../state/mesh_state.ts";
import type { StateStore } from "../state/persistence/state_store.ts";
import { loadKeyPools } from "../state/limits/key_pools.ts";
import type { Transition } from "../state/breaker/circuit_breaker.ts";

/** What became of asking local servers for their models, by provider entry id. */
type Discovered = ReadonlyMap<string, ModelListing>;

/** A configured pool's name and capability. */
export interface ListedPool {
  /** Its name. */
  readonly name: string;
  /** The node it targets; null for a list of models with nothing in common. */
  readonly capability: string | null;
}

/** What {@linkcode Engine.configure} makes and {@linkcode Engine.ready} replaces once secrets are known. */
interface Assembly {
  readonly settings: Settings;
  readonly state: MeshState;
  readonly registry: Registry;
  /** Adds the pools that no configuration names. */
  readonly addPools: (registry: Registry) => void;
  /** What its pipeline works with. */
  readonly deps: RouteDeps;
}

/**
 * The engine. Programs use `ModelMesh`, which is this with a runtime and its connectors.
 */
export class Engine {
  /**
   * The door to the outside.
   *
   * @internal
   */
  readonly runtime: Runtime;
  /**
   * Its connectors by id.
   *
   * @internal
   */
  readonly catalogue: ConnectorCatalogue;
  /**
   * All its sinks.
   *
   * @internal
   */
  readonly hub: Hub;
  /**
   * All its numbers.
   *
   * @internal
   */
  readonly statistics: Statistics;
  readonly #parts: MeshParts;
  /**
   * What it takes out of texts.
   *
   * @internal
   */
  readonly redactor: Redactor = new Redactor();
  /**
   * The text without a secret in it.
   *
   * @internal
   */
  readonly redact = (text: string): string => this.redactor.redact(text);
  /**
   * When it was made, monotonic ms.
   *
   * @internal
   */
  readonly startedAt: number;
  #assembly: Assembly | undefined;
  #ready: Promise<void> | undefined;
  readonly #recovery: RecoveryTimer;
  /**
   * What goes on in the background.
   *
   * @internal
   */
  readonly monitoring: Monitoring = new Monitoring();
  #secrets: SettingsSecrets | undefined;
  readonly #keeper: StateStore | undefined;
  #isReady = false;
  #isClosed = false;

  /**
   * Makes one.
   *
   * @param parts Connectors, runtime, a listener, a storage, and what else its settings need.
   */
  constructor(parts: MeshParts) {
    const { connectors, runtime, on, storage } = parts;
    this.#parts = parts;
    this.runtime = runtime;
    this.catalogue = new ConnectorCatalogue(connectors);
    this.hub = new Hub(runtime.clock);
    this.statistics = parts.statistics ?? new Statistics(runtime.clock);
    countEvents(this.hub, this.statistics);
    this.#recovery = new RecoveryTimer(runtime.clock);
    this.#keeper = storage?.storeFor({ clock: runtime.clock, hub: this.hub });
    this.startedAt = runtime.clock.monotonic();
    if (on !== undefined) this.hub.add(listener(on));
  }

  /**
   * What it runs by. Throws before it is configured.
   *
   * @internal
   */
  get settings(): Settings {
    return this.#current.settings;
  }

  /**
   * What exists. Throws before it is configured.
   *
   * @internal
   */
  get registry(): Registry {
    return this.#current.registry;
  }

  /**
   * What has happened. Throws before it is configured.
   *
   * @internal
   */
  get state(): MeshState {
    return this.#current.state;
  }

  /**
   * What its pipeline works with.
   *
   * @internal
   */
  get routeDeps(): RouteDeps {
    return this.#current.deps;
  }

  /**
   * Where the secrets of its settings are looked up; undefined before the start, and where no store is named.
   *
   * @internal
   */
  get secrets(): SettingsSecrets | undefined {
    return this.#secrets;
  }

  /** Whether it can answer requests at once. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Adds a sink for records. */
  addSink(sink: Observability): void {
    this.hub.add(sink);
  }

  /**
   * Takes settings; sends nothing and reads nothing yet.
   *
   * @param settings A validated configuration.
   * @param addPools Adds pools that the configuration does not name, such as those of detected providers.
   *
   * @internal
   */
  configure(settings: Settings, addPools: (registry: Registry) => void = () => {}): void {
    this.#assembly = this.#assemble(settings, addPools);
    this.#ready = undefined;
    this.#isReady = false;
  }

  /**
   * Reads secrets, makes providers, asks local servers for their models, takes up the state of the last process. Memoised.
   *
   * @throws {ConnectorError} When the storage cannot be read.
   */
  ready(): Promise<void> {
    return this.#ready ??= this.#start().catch((error) => {
      this.#ready = undefined; // what was away for a moment may be back at the next try
      throw error;
    });
  }

  /**
   * Answers a chat request.
   *
   * @param request What is asked.
   * @throws A `MeshError`, or the client's abort.
   *
   * @internal
   */
  async chat(request: RoutedRequest): Promise<ChatAnswer> {
    if (this.#isClosed) throw new MeshError("The mesh is closed", { code: "shutting_down" });
    if (!this.#isReady) await this.ready();
    try {
      return await chat(request, this.routeDeps);
    } catch (error) {
      if (MeshError.isInstance(error)) error.requestId = request.id;
      throw error;
    }
  }

  /** Per-pool health and model counts, by pool name. */
  poolStatus(): Record<string, PoolStatus> {
    return Object.fromEntries(this.registry.pools.map((pool) => [pool.name, statusOf(pool, this.runtime.clock)]));
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
    return this.statistics.records();
  }

  /** Entry ids of the providers that have an active model. */
  activeProviders(): string[] {
    const active = listModels(this.registry, this.runtime.clock.monotonic()).filter(({ status }) =>
      status === "active"
    );
    const ids = new Set(active.map(({ provider }) => provider));
    return this.registry.instances.map(({ entry }) => entry.id).filter((id) => ids.has(id));
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
    this.#recovery.stop();
    this.monitoring.stop();
    try {
      await this.#keeper?.close();
    } finally {
      await this.hub.flush();
    }
  }

  /**
   * Puts secrets in where settings refer to them.
   *
   * @param written As validated.
   * @returns The settings to run by, and where their secrets are looked up; that is imported where a store is named.
   *
   * @internal
   */
  async resolveSecrets(written: Settings): Promise<{ settings: Settings; secrets?: SettingsSecrets }> {
    if (written.secrets === undefined) return { settings: written };
    const { SettingsSecrets } = await import("../config/secrets/settings_secrets.ts");
    const secrets = await SettingsSecrets.open(written, this);
    return { settings: await secrets.resolve(), secrets };
  }

  /**
   * Publishes `members_changed`: at the start, for new members, and when states were replaced without an event.
   *
   * @internal
   */
  publishMembers(): void {
    const { registry, state } = this.#current;
    this.hub.publish("members_changed", {
      members: () =>
        registry.allPools.flatMap(({ name: pool, members }) =>
          members.map(({ model }) => ({ pool, model: model.name, provider: model.instance.entry.id }))
        ),
      ownersInStandby: () => state.breakers.filter(({ standby }) => standby !== undefined).map(({ owner }) => owner),
    });
  }

  get #current(): Assembly {
    if (this.#assembly === undefined) {
      const message = "The configuration is not read yet: await ready() or initialize()";
      throw new MeshError(message, { code: "not_initialized" });
    }
    return this.#assembly;
  }

  /** The same with what providers answered, over the same instances of them. */
  #reassemble(
    { settings, addPools, registry }: Assembly,
    discovered: Discovered | undefined,
    answers: ProviderAnswers,
  ) {
    const made = this.#assemble(settings, addPools, discovered, answers);
    made.registry.instances.forEach((instance, place) => {
      const { provider, credential } = registry.instances[place]!;
      Object.assign(instance, { provider, credential });
    });
    return made;
  }

  #assemble(
    settings: Settings,
    addPools: Assembly["addPools"],
    discovered?: Discovered,
    answers?: ProviderAnswers,
  ): Assembly {
    const { runtime, hub, redact, catalogue } = this;
    const state = new MeshState({
      settings,
      clock: runtime.clock,
      onTransition: (transition) => this.#tell(transition),
      onPolicyFailure: (pool) => {
        const message = `The rotation policy of the pool "${pool}" failed`;
        this.hub.trace({ severity: "error", component: "pool", message });
      },
      before: this.#parts.stateBefore?.(settings),
    });
    const registry = buildRegistry({ settings, catalogue, state, runtime, discovered, answers });
    addPools(registry);
    return { settings, state, registry, addPools, deps: { registry, runtime, hub, redact } };
  }

  /** Renews keys on servers, and in pages whose documents name a secret store. */
  async #keyRenewal({ secrets }: Settings): Promise<Observability[]> {
    if (!secrets?.reloadOnRotation) return [];
    const { KeyRenewal } = await import("../background/key_renewal.ts");
    return [new KeyRenewal(this)];
  }

  async #start(): Promise<void> {
    const { settings: written, addPools } = this.#current;
    const { settings, secrets } = await this.resolveSecrets(written);
    this.#secrets = secrets;
    this.hub.configure([...await loadSinks(settings, this), ...await this.#keyRenewal(settings)]);
    await loadKeyPools(settings.providers.values());
    await loadConnectors(settings, this.catalogue);
    const assemble = async (discovered?: Discovered) => {
      const made = this.#assemble(settings, addPools, discovered);
      for (const instance of made.registry.instances) await openProvider(instance, this);
      return made;
    };
    const first = await assemble();
    const discovered = await discoverModels(first.registry.instances, { ...this.routeDeps, settings });
    const listed = discovered.size > 0 ? await assemble(discovered) : first;
    const answers = await askProviders(listed.registry.instances, listed.registry, this);
    const assembly = answers ? this.#reassemble(listed, discovered, answers) : listed;
    this.#assembly = assembly;
    await this.#keeper?.load(assembly.state);
    this.#recovery.schedule(assembly.state);
    assembly.registry.onMembersChanged = () => this.publishMembers();
    this.publishMembers();
    await this.monitoring.start({ ...this.routeDeps, ...assembly });
    this.#isReady = true;
    for (const { path, message } of settings.warnings) {
      this.hub.trace({ severity: "warning", component: "mesh", message: `${path}: ${message}` });
    }
  }

  #tell({ owner, to, reason, standbyMs, metadata }: Transition): void {
    this.hub.event({
      event: to === "standby" ? "deactivation" : "recovery",
      ...owner,
      from: to === "standby" ? "active" : "standby",
      to,
      reason,
      metadata: { ...(standbyMs === undefined ? {} : { standby_ms: Math.round(standbyMs) }), ...metadata },
    });
    this.#keeper?.mark();
    if (to === "standby" && this.#assembly !== undefined) this.#recovery.schedule(this.#assembly.state);
  }
}

function listener(on: (record: MeshEvent | RoutingRecord) => void): Observability {
  return { emit: on, trace: () => {}, flush: () => Promise.resolve() };
}

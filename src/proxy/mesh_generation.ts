/**
 * The mesh of a proxy, and how one under another configuration takes over from it.
 * @module
 */
import { serverParts } from "../background/server_parts.ts";
import { ConfiguredStore } from "../background/configured_store.ts";
import type { StateStore } from "../state/persistence/state_store.ts";
import type { Watch } from "../background/watch.ts";
import { type ConfigSource, readSource } from "../config/config_source.ts";
import { settingsOf, settingsOfDetection } from "../config/sources.ts";
import { defaultSink } from "../config/defaults.ts";
import type { PluggableConnector } from "../contracts/connector.ts";
import type { Observability } from "../contracts/observability.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { ServerMesh } from "../server_mesh.ts";
import { handOver, statesFor } from "./handover.ts";
import { loadPackages } from "../registry/packages.ts";
import { addLeafPools } from "../registry/build.ts";
import { surroundingsOf } from "../registry/catalogue.ts";
import { SnapshotMapper } from "../state/persistence/snapshot_mapper.ts";
import type { Settings } from "../config/settings.ts";
import { UsageTrackers } from "../state/usage_trackers.ts";

/** What engines are made of, the first and every later one. */
export interface GenerationParts {
  /** Connectors, in order of detection. */
  readonly connectors: readonly PluggableConnector[];
  /** The door to the outside. */
  readonly runtime: Runtime;
  /** Told everything. */
  readonly sinks?: readonly Observability[];
  /** Told everything, unless the configuration has a console sink of its own. */
  readonly console?: Observability;
}

/** One mesh under one configuration. */
export class MeshGeneration {
  /** The mesh. */
  readonly mesh: ServerMesh;
  readonly #keeper: ConfiguredStore;
  #metering: UsageTrackers | undefined;
  readonly #console: Observability | undefined;
  #watch: Watch | undefined;
  /** The engine before, until it retires: whoever still held it then would hold every one before it. */
  #before: MeshGeneration | undefined;
  /** The engine that has taken over. */
  #next: MeshGeneration | undefined;

  /**
   * @param parts What it is made of.
   * @param before The engine it will take over from: what is there in both goes on with its states, counts and money.
   */
  constructor({ connectors, runtime, sinks = [], console }: GenerationParts, before?: MeshGeneration) {
    this.#console = console;
    this.#before = before;
    this.#keeper = new ConfiguredStore(() => this.mesh, before && before.#keeper);
    this.mesh = new ServerMesh({
      connectors,
      runtime,
      metering: (settings, clock) =>
        (this.#metering = new UsageTrackers(settings, clock, this.#before?.countsFor(settings))).makeState,
      watch: (parts) => this.#watch = serverParts.watch(parts),
      storage: { storeFor: () => this.#stateKeeper() },
    });
    for (const sink of sinks) this.mesh.addSink(sink);
  }

  /**
   * Reads a configuration and makes ready for requests.
   *
   * @param config Where it is.
   * @throws Whatever makes a start impossible; the engine is closed then.
   */
  async start(config: ConfigSource | undefined): Promise<void> {
    try {
      await this.#configure(config);
      await this.mesh.ready();
    } catch (error) {
      await this.mesh.close(); // what the sinks were told of a start that failed is not lost
      throw error;
    }
  }

  /**
   * Another engine has taken over: nothing goes on here any more but the requests under way.
   *
   * @param next The other one.
   */
  async retire(next: MeshGeneration): Promise<void> {
    const { state, runtime: { clock } } = this.mesh;
    const states = statesFor(this.mesh, next.mesh.settings); // some may have come since the other one was started
    new SnapshotMapper(next.mesh.state, clock).merge(states);
    this.#watch?.stop();
    next.#before = undefined;
    await next.#keeper.takeOver(next.mesh.state);
    if (this.#keeper.isSharedWith(next.mesh.settings.storage)) return; // like a process beside it, up to its last request
    new SnapshotMapper(next.mesh.state, clock).merge(states); // where it is kept elsewhere by now
    this.#next = next;
    state.retire((transition) => handOver(transition, this.mesh, this.#latest.mesh));
  }

  /**
   * The counting that goes on under other settings; none where both share theirs, as two processes do.
   *
   * @param settings Those.
   */
  countsFor({ storage }: Settings): UsageTrackers | undefined {
    return this.#keeper.isSharedWith(storage) ? undefined : this.#metering;
  }

  /** The one that answers now. */
  get #latest(): MeshGeneration {
    return this.#next === undefined ? this : this.#next.#latest;
  }

  /** The states of an engine that still runs, where the first one looks for those of the last process. */
  #stateKeeper(): StateStore {
    const keeper = this.#keeper;
    return {
      load: async (state) => {
        const before = this.#before;
        if (before === undefined) return await keeper.load(state);
        const { settings, runtime: { clock } } = this.mesh;
        const states = statesFor(before.mesh, settings);
        const isShared = before.#keeper.isSharedWith(settings.storage);
        if (!isShared) new SnapshotMapper(state, clock).restore(states);
        await keeper.load(state);
        if (isShared) new SnapshotMapper(state, clock).merge(states);
      },
      mark: () => keeper.mark(),
      close: () => keeper.close(),
    };
  }

  async #configure(config: ConfigSource | undefined): Promise<void> {
    const { mesh } = this;
    if (config === undefined) {
      this.#addConsole();
      return mesh.configure(settingsOfDetection(surroundingsOf(mesh)), addLeafPools);
    }
    const { document, source } = await readSource(config, mesh.runtime.files);
    await loadPackages(document, mesh);
    const settings = settingsOf(document, surroundingsOf(mesh), source === undefined ? {} : { source });
    if (!settings.observability.some(({ connector }) => connector === defaultSink)) this.#addConsole();
    mesh.configure(settings);
  }

  #addConsole(): void {
    if (this.#console !== undefined) this.mesh.addSink(this.#console);
  }
}

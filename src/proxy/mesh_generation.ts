/**
 * The mesh of a proxy under one configuration, and its handover to the next.
 * @module
 */
import { ConfiguredStore } from "../background/configured_store.ts";
import type { StateStore } from "../state/persistence/state_store.ts";
import { statePersistence } from "../state/state_persistence.ts";
import { type ConfigSource, readSettings, readSource, settingsOfDetection } from "../config/load/sources.ts";
import { defaultSink } from "../config/settings/defaults.ts";
import type { PluggableConnector } from "../contracts/connector.ts";
import type { Observability } from "../contracts/observability.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { LocalShared } from "../state/sharing/shared_sums.ts";
import { Engine } from "../engine/engine.ts";
import { loadPackages } from "../registry/packages.ts";
import { addLeafPools } from "../registry/build.ts";
import { createConfigContext } from "../registry/catalogue.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { MeshState } from "../state/model/mesh_state.ts";

/** The section of a configuration whose sinks receive a kind of record. */
const sections = { event: "routing", log: "logging", trace: "tracing" } as const;

/** Dependencies of all generations. */
export interface GenerationParts {
  /** Connectors, in order of detection. */
  readonly connectors: readonly PluggableConnector[];
  readonly runtime: Runtime;
  /** Sinks in addition to those of the configuration. */
  readonly sinks?: readonly Observability[];
  /** A further sink, for records that no configured console sink receives. */
  readonly console?: Observability;
  /** State shared with other processes on the same port. */
  readonly shared?: LocalShared;
}

/** One mesh under one configuration. */
export class MeshGeneration {
  readonly mesh: Engine;
  readonly #store: ConfiguredStore;
  readonly #console: Observability | undefined;
  /** The previous generation until it retires. A longer reference would keep all earlier generations in memory. */
  #before: MeshGeneration | undefined;
  #next: MeshGeneration | undefined;

  /**
   * @param before The previous generation. State, counters and budgets that both configure continue.
   */
  constructor({ connectors, runtime, sinks = [], console, shared }: GenerationParts, before?: MeshGeneration) {
    this.#console = console;
    this.#before = before;
    this.#store = new ConfiguredStore(() => this.mesh, { before: before && before.#store, shared });
    this.mesh = new Engine({
      connectors,
      runtime,
      ...(before && {
        statistics: before.mesh.statistics,
        objects: before.mesh.objects,
        cacheMemory: before.mesh.cacheMemory,
      }),
      stateBefore: (settings) => this.#before?.stateFor(settings),
      storage: statePersistence(() => this.#stateStore()),
    });
    for (const sink of sinks) this.mesh.addSink(sink);
  }

  /**
   * Reads a configuration and prepares for requests.
   *
   * @param config Undefined to detect providers.
   * @throws Any startup error; the mesh is then closed.
   */
  async start(config: ConfigSource | undefined): Promise<void> {
    try {
      await this.#configure(config);
      if (this.mesh.settings.proxy?.jwt !== undefined) await (await import("./jwt/load_jose.ts")).loadJose();
      await this.mesh.ready();
    } catch (error) {
      await this.mesh.close(); // the records of a failed start are flushed
      throw error;
    }
  }

  /** Ends background work after the handover. Requests in progress continue. */
  async retire(next: MeshGeneration): Promise<void> {
    const { closeQueues, handOver, SnapshotMapper, statesFor } = await import("./handover.ts");
    const { state, runtime: { clock } } = this.mesh;
    const states = statesFor(this.mesh, next.mesh.settings); // includes changes since the next one started
    new SnapshotMapper(next.mesh.state, clock).merge(states);
    this.mesh.lifecycle?.retire();
    closeQueues(this.mesh, next.mesh);
    next.#before = undefined;
    await next.#store.takeOver(next.mesh.state);
    if (this.#store.isSharedWith(next.mesh.settings.storage)) return; // it continues as a second process until its last request
    new SnapshotMapper(next.mesh.state, clock).merge(states); // the store may have loaded an older snapshot
    this.#next = next;
    state.retire((transition) => handOver(transition, { before: this.mesh, next: this.#latest.mesh }));
  }

  /** The state that continues under other settings; undefined if both replicate theirs, as two processes do. */
  stateFor({ storage }: Settings): MeshState | undefined {
    return this.#store.isSharedWith(storage) ? undefined : this.mesh.state;
  }

  get #latest(): MeshGeneration {
    return this.#next === undefined ? this : this.#next.#latest;
  }

  /** Loads the state of the previous generation instead of the persisted one. */
  #stateStore(): StateStore {
    const store = this.#store;
    return {
      get storage() {
        return store.storage;
      },
      siblings: store.siblings,
      load: async (state) => {
        const before = this.#before;
        if (before === undefined) return await store.load(state);
        const { SnapshotMapper, statesFor } = await import("./handover.ts");
        const { settings, runtime: { clock } } = this.mesh;
        const states = statesFor(before.mesh, settings);
        const isShared = before.#store.isSharedWith(settings.storage);
        if (!isShared) new SnapshotMapper(state, clock).restore(states);
        await store.load(state);
        if (isShared) new SnapshotMapper(state, clock).merge(states);
      },
      mark: () => store.mark(),
      close: () => store.close(),
    };
  }

  async #configure(config: ConfigSource | undefined): Promise<void> {
    const { mesh } = this;
    if (config === undefined) {
      this.#addConsole({ observability: [] });
      return mesh.configure(settingsOfDetection(createConfigContext(mesh)), addLeafPools);
    }
    const { document, source } = await readSource(config, mesh.runtime.files);
    await loadPackages(document, mesh);
    const settings = readSettings(document, createConfigContext(mesh), source === undefined ? {} : { source });
    this.#addConsole(settings);
    mesh.configure(settings);
  }

  /** Receives records that no configured console sink receives. */
  #addConsole({ observability }: Pick<Settings, "observability">): void {
    const configured = observability.filter(({ connector }) => connector === defaultSink);
    const kinds = (["event", "log", "trace"] as const).filter((kind) =>
      !configured.some((sink) => sink[sections[kind]] !== undefined)
    );
    if (this.#console !== undefined) this.mesh.addSink(this.#console, kinds);
  }
}

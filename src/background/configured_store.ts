/**
 * Persists states according to a mesh's configuration, after it has been read.
 * @module
 */
import type { Settings } from "../config/settings/settings.ts";
import type { StorageSettings } from "../config/settings/storage.ts";
import type { LocalShared } from "../state/sharing/shared_sums.ts";
import { ConnectorError, MeshError } from "../errors.ts";
import type { Hub } from "../observe/hub.ts";
import { RetryTimer } from "../util/retry_timer.ts";
import { writeRetry } from "../state/persistence/_failure.ts";
import type { CodedStorage } from "../storage/coded_storage.ts";
import type { MeshState } from "../state/model/mesh_state.ts";
import type { StateStore } from "../state/persistence/state_store.ts";
import type { StorageUser } from "./open_storage.ts";

const loadStores = () => import("../state/open.ts");

/** The mesh whose state is persisted. */
export interface ConfiguredMesh extends StorageUser {
  readonly settings: Settings;
  /** Receives traces of failures. */
  readonly hub: Hub;
}

/**
 * Persists the state of a mesh, or of a mesh that takes over from another one. The code that opens storages is imported
 * if the configuration has one.
 */
export class ConfiguredStore implements StateStore {
  readonly #mesh: () => ConfiguredMesh;
  readonly #shared: LocalShared | undefined;
  #before: ConfiguredStore | undefined;
  #settings: StorageSettings | undefined;
  #storage: CodedStorage | undefined;
  #store: StateStore | undefined;
  /** Retries to store the configuration. */
  #retries: RetryTimer | undefined;
  #warning: string | undefined;

  /**
   * @param mesh The mesh, which must be configured before its state is loaded.
   * @param others The store of the previous mesh, until {@linkcode ConfiguredStore.takeOver}; and the state shared with
   *   other processes of this proxy, if the storage shares none.
   */
  constructor(
    mesh: () => ConfiguredMesh,
    { before, shared }: { before?: ConfiguredStore | undefined; shared?: LocalShared | undefined } = {},
  ) {
    this.#mesh = mesh;
    this.#before = before;
    this.#shared = shared;
  }

  async load(state: MeshState): Promise<void> {
    const { settings: { storage: settings } } = this.#mesh();
    if (settings !== this.#settings || this.#store === undefined) {
      await this.close().catch(() => {}); // failures were traced, and the new store may succeed
      this.#storage = undefined;
      this.#store = settings === undefined && this.#shared === undefined ? undefined : await this.#open(settings);
      this.#settings = settings;
    }
    if (this.#before === undefined || this.#before.isSharedWith(settings)) await this.#store?.load(state);
    if (settings !== undefined && settings.policy !== "in-memory") await this.#keepConfig();
  }

  mark(): void {
    this.#store?.mark();
  }

  async close(): Promise<void> {
    this.#retries?.reset();
    if (this.#before !== undefined && !this.isShared) return await this.#storage?.close();
    try {
      await this.#store?.close();
    } finally {
      await this.#storage?.close();
    }
  }

  get storage(): CodedStorage | undefined {
    return this.#storage;
  }

  get siblings(): LocalShared | undefined {
    return this.#shared;
  }

  /** Whether counters and standbys are shared by several processes. */
  get isShared(): boolean {
    return this.#storage?.shared !== undefined || this.#shared !== undefined;
  }

  /**
   * Whether another mesh shares state with this one, as another process would.
   *
   * @param next Settings of the other mesh.
   */
  isSharedWith(next: StorageSettings | undefined): boolean {
    return this.isShared && JSON.stringify(next) === JSON.stringify(this.#settings);
  }

  /**
   * Persists the state from now on instead of the previous store. Both at once would count the records of the other as
   * those of another process. Failures are traced, since the mesh is already serving.
   */
  async takeOver(state: MeshState): Promise<void> {
    const before = this.#before;
    this.#before = undefined;
    if (before === undefined) return;
    before.#retries?.reset(); // its configuration has been replaced
    if (before.isSharedWith(this.#settings)) return;
    const { hub } = this.#mesh();
    try {
      const isSame = JSON.stringify(before.#settings) === JSON.stringify(this.#settings);
      const stores = { before: before.#store, next: this.#store };
      if (stores.before === undefined && stores.next === undefined) return;
      const { handOverState } = await loadStores();
      await handOverState(state, { ...stores, isSame });
    } catch (error) {
      const message = MeshError.isInstance(error) ? error.message : "Cannot persist the state: the storage failed";
      hub.trace({ severity: "error", component: "storage", message });
    }
  }

  /** The mesh starts without this record if it cannot be written. It is then written later. */
  async #keepConfig(): Promise<void> {
    const { settings: { document }, redactor, hub, runtime: { clock } } = this.#mesh();
    const retries = this.#retries ??= new RetryTimer(clock, { ...writeRetry, retry: () => this.#keepConfig() });
    try {
      const { keepConfig } = await import("../config/load/kept_config.ts");
      await keepConfig(document, this.#storage!, (text) => redactor.redact(text));
      this.#warning = undefined;
      retries.reset();
    } catch (error) {
      const reason = MeshError.isInstance(error) ? error.message : "the storage failed";
      const message = `Cannot store the configuration in the storage: ${reason}`;
      if (message !== this.#warning) hub.trace({ severity: "warning", component: "storage", message });
      this.#warning = message;
      if (ConnectorError.isInstance(error) && error.problem !== "unreadable") retries.schedule();
    }
  }

  async #open(settings: StorageSettings | undefined): Promise<StateStore | undefined> {
    const [{ openStorage }, { openStore }] = await Promise.all([import("./open_storage.ts"), loadStores()]);
    const mesh = this.#mesh();
    const storage = this.#storage = settings && await openStorage(settings, mesh);
    const { hub, runtime: { clock } } = mesh;
    return openStore({ shared: this.#shared, persisted: storage && { storage, settings } }, { clock, hub });
  }
}

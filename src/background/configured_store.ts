/**
 * Keeps states where a mesh's own configuration says, once it is read.
 * @module
 */
import type { StorageSettings } from "../config/settings/storage.ts";
import type { LocalShared } from "../state/replication/shared_sums.ts";
import { MeshError } from "../errors.ts";
import type { CodedStorage } from "../storage/coded_storage.ts";
import type { MeshState } from "../state/mesh_state.ts";
import type { StateStore } from "../state/persistence/state_store.ts";
import type { ConfiguredMesh } from "./open_store.ts";

/**
 * Keeps the state of one mesh, or of one that takes over from another. What opens storages is imported where a
 * configuration has one.
 */
export class ConfiguredStore implements StateStore {
  readonly #mesh: () => ConfiguredMesh;
  readonly #shared: LocalShared | undefined;
  #before: ConfiguredStore | undefined;
  #settings: StorageSettings | undefined;
  #storage: CodedStorage | undefined;
  #store: StateStore | undefined;

  /**
   * @param mesh The mesh, which is configured by the time its state is loaded.
   * @param others Who keeps the states that this mesh goes on with, until {@linkcode ConfiguredStore.takeOver}; and what it
   *   shares with other processes of this proxy, where its storage does not.
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
      await this.close().catch(() => {}); // what failed was traced, and the new one may do better
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

  /** Whether several processes share counts and standbys there. */
  get isShared(): boolean {
    return this.#storage?.shared !== undefined || this.#shared !== undefined;
  }

  /**
   * Whether another mesh goes on by what is shared, like another process.
   *
   * @param next Its settings.
   */
  isSharedWith(next: StorageSettings | undefined): boolean {
    return this.isShared && JSON.stringify(next) === JSON.stringify(this.#settings);
  }

  /**
   * Keeps the state from now on, in place of who kept it before: two at once would count what the other one wrote as
   * another process's. What fails is traced: the mesh answers already.
   */
  async takeOver(state: MeshState): Promise<void> {
    const before = this.#before;
    this.#before = undefined;
    if (before === undefined || before.isSharedWith(this.#settings)) return;
    const { hub } = this.#mesh();
    try {
      const isSame = JSON.stringify(before.#settings) === JSON.stringify(this.#settings);
      const stores = { before: before.#store, next: this.#store };
      if (stores.before === undefined && stores.next === undefined) return;
      const { handOverState } = await import("./open_store.ts");
      await handOverState(state, { ...stores, isSame });
    } catch (error) {
      const message = MeshError.isInstance(error) ? error.message : "Cannot persist the state: the storage failed";
      hub.trace({ severity: "error", component: "storage", message });
    }
  }

  /** The mesh starts without that record if need be. */
  async #keepConfig(): Promise<void> {
    const { settings: { document }, redactor, hub } = this.#mesh();
    try {
      const { keepConfig } = await import("../config/load/kept_config.ts");
      await keepConfig(document, this.#storage!, (text) => redactor.redact(text));
    } catch (error) {
      const reason = MeshError.isInstance(error) ? error.message : "the storage failed";
      const message = `Cannot store the configuration in the storage: ${reason}`;
      hub.trace({ severity: "warning", component: "storage", message });
    }
  }

  async #open(settings: StorageSettings | undefined): Promise<StateStore | undefined> {
    const { openStorage, storeOf } = await import("./open_store.ts");
    const mesh = this.#mesh();
    const storage = this.#storage = settings && await openStorage(settings, mesh);
    return storeOf(mesh, { shared: this.#shared, persisted: storage && { storage, settings } });
  }
}

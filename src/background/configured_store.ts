/**
 * Persists state in the storage that a mesh's configuration names.
 * @module
 */
import type { StorageSettings } from "../config/settings/storage.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { LocalShared } from "../state/replication/shared_sums.ts";
import { SavedSums } from "../state/replication/saved_sums.ts";
import { ConfigError, MeshError } from "../errors.ts";
import type { Hub } from "../observe/hub.ts";
import type { Redactor } from "../observe/redact.ts";
import { addSecretSettings } from "../observe/secret_names.ts";
import type { ConnectorCatalogue } from "../registry/catalogue.ts";
import { CodedStorage, storageKeyName } from "../storage/coded_storage.ts";
import type { MeshState } from "../state/mesh_state.ts";
import { type StatePersistence, statePersistence, type StateStore } from "../state/persistence/state_store.ts";
import { replicatedStore } from "../state/persistence/state_in.ts";
import { SnapshotStore } from "../state/persistence/snapshot_store.ts";

/** Interval of writing shared counters under the policy `immediate`, ms. */
const immediateMs = 1_000;

/** Dependencies of opening a storage. */
interface StorageUser {
  readonly catalogue: ConnectorCatalogue;
  readonly runtime: Runtime;
  /** Learns the encryption key, so that records redact it. */
  readonly redactor: Redactor;
  /** Settings of the secret store. */
  readonly settings: Pick<Settings, "secrets">;
}

/** A configured mesh. */
export interface ConfiguredMesh extends StorageUser {
  readonly settings: Settings;
  /** Receives traces of failures. */
  readonly hub: Hub;
}

/**
 * Returns the persistence that the configuration's `storage` section defines. Without one, state lasts as long as the
 * process.
 *
 * @param mesh Returns the mesh, which is configured before its state is loaded.
 */
export function configuredPersistence(mesh: () => ConfiguredMesh): StatePersistence {
  return statePersistence(() => new ConfiguredStore(mesh));
}

/** Persists the state of one mesh, including of a mesh that replaces another. */
export class ConfiguredStore implements StateStore {
  readonly #mesh: () => ConfiguredMesh;
  readonly #shared: LocalShared | undefined;
  #before: ConfiguredStore | undefined;
  #settings: StorageSettings | undefined;
  #storage: CodedStorage | undefined;
  #store: StateStore | undefined;

  /**
   * @param mesh Returns the mesh, which is configured before its state is loaded.
   * @param others The store of the mesh to replace, which persists the state until {@linkcode
   * ConfiguredStore.takeOver}; and the counters shared with other worker processes, if the storage does not share them.
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
      await this.close().catch(() => {}); // failures are traced, and the new store may succeed
      this.#storage = undefined;
      this.#store = settings === undefined ? this.#storeBesideOthers() : await this.#open(settings);
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

  /** Whether several processes share counters and standbys. */
  get isShared(): boolean {
    return this.#storage?.shared !== undefined || this.#shared !== undefined;
  }

  /**
   * Whether another mesh shares the state through the same storage, as another process would.
   *
   * @param next Its settings.
   */
  isSharedWith(next: StorageSettings | undefined): boolean {
    return this.isShared && JSON.stringify(next) === JSON.stringify(this.#settings);
  }

  /**
   * Persists the state from now on instead of the previous store. Two stores at once would treat each other's writes as
   * those of another process. Failures are traced, since the mesh is already serving.
   */
  async takeOver(state: MeshState): Promise<void> {
    const before = this.#before;
    this.#before = undefined;
    if (before === undefined || before.isSharedWith(this.#settings)) return;
    const { hub } = this.#mesh();
    try {
      const store = this.#store;
      const known = before.#store instanceof SnapshotStore ? await before.#store.release() : undefined;
      const isSame = JSON.stringify(before.#settings) === JSON.stringify(this.#settings);
      await (isSame && store instanceof SnapshotStore ? store.adopt(state, known) : store?.load(state));
    } catch (error) {
      const message = MeshError.isInstance(error) ? error.message : "Cannot persist the state: the storage failed";
      hub.trace({ severity: "error", component: "storage", message });
    }
  }

  /** Stores the configuration. The mesh starts even if this fails. */
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

  /**
   * Combines the store with the counters shared with other worker processes. They last as long as their owner unless
   * they are persisted.
   */
  #storeBesideOthers(
    kept?: { readonly storage: CodedStorage; readonly settings: StorageSettings },
  ): StateStore | undefined {
    const shared = this.#shared;
    if (shared === undefined) return undefined;
    const { hub, runtime: { clock } } = this.#mesh();
    const store = replicatedStore(shared, kept?.storage, { clock, hub, onUnavailable: "closed", isLocal: true });
    if (kept === undefined) return store;
    const { policy, intervalMs } = kept.settings;
    const sums = {
      storage: kept.storage,
      shared,
      clock,
      hub,
      intervalMs: policy === "immediate" ? immediateMs : intervalMs,
    };
    return new SavedSums(sums).around(store);
  }

  /** Opens the store. Shared state is shared under every policy. */
  async #open(settings: StorageSettings): Promise<StateStore | undefined> {
    const mesh = this.#mesh();
    const { hub, runtime: { clock } } = mesh;
    const { onUnavailable, policy } = settings;
    const storage = this.#storage = await openStorage(settings, mesh);
    if (storage.shared !== undefined) {
      return replicatedStore(storage.shared, policy === "in-memory" ? undefined : storage, {
        clock,
        hub,
        onUnavailable,
      });
    }
    if (this.#shared !== undefined) {
      return this.#storeBesideOthers(policy === "in-memory" ? undefined : { storage, settings });
    }
    if (onUnavailable === "closed") {
      const message = `storage.on_unavailable: "${settings.connector}" is not shared by several processes: no effect`;
      hub.trace({ severity: "warning", component: "storage", message });
    }
    return policy === "in-memory" ? undefined : new SnapshotStore({ storage, settings, clock, hub });
  }
}

/**
 * Opens the storage that settings name, with its serialization, compression and encryption.
 *
 * @param settings The `storage` section.
 * @param user Connectors, runtime and secrets.
 * @throws {ConfigError} When the connector rejects its attributes, or the encryption key is missing.
 */
export async function openStorage(
  settings: StorageSettings,
  user: StorageUser,
): Promise<CodedStorage> {
  const { connector, config, format, isCompressed, isEncrypted } = settings;
  addSecretSettings(config, user.redactor);
  const inner = (await user.catalogue.load("storage", connector)).create(config, user.runtime);
  const secret = isEncrypted ? await encryptionKeyOf(user) : undefined;
  return new CodedStorage(inner, { format, isCompressed, secret });
}

async function encryptionKeyOf(
  { catalogue, runtime, redactor, settings }: StorageUser,
): Promise<string> {
  const { store, config } = settings.secrets!;
  const secrets = (await catalogue.load("secretStore", store)).create(config, runtime);
  const found = await secrets.get(storageKeyName);
  const key = found?.trim() ?? "";
  if (key.length < 16) {
    const what = key === "" ? "is missing" : "is shorter than 16 characters";
    throw new ConfigError([{
      path: "storage.persistence.encryption",
      message: `the secret ${storageKeyName} ${what} in the store "${store}": store one, such as 32 random bytes ` +
        "in base64 (openssl rand -base64 32)",
    }]);
  }
  redactor.add(key);
  return key;
}

/**
 * Keeps states where a mesh's own configuration says, once it is read.
 * @module
 */
import type { StorageSettings } from "../config/settings/storage.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { LocalShared } from "../state/replication/shared_sums.ts";
import { KeptSums } from "../state/replication/kept_sums.ts";
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

/** What several processes count is kept so often where `immediate` asks for it, ms. */
const immediateMs = 1_000;

/** Who opens a storage. */
interface StorageUser {
  /** Its connectors. */
  readonly catalogue: ConnectorCatalogue;
  /** The runtime port. */
  readonly runtime: Runtime;
  /** Gets the key, so that no record shows it. */
  readonly redactor: Redactor;
  /** Where its secrets are. */
  readonly settings: Pick<Settings, "secrets">;
}

/** A mesh. */
export interface ConfiguredMesh extends StorageUser {
  readonly settings: Settings;
  /** Gets what goes wrong. */
  readonly hub: Hub;
}

/**
 * The keeping that a configuration's section `storage` asks for; without one, states last as long as the process.
 *
 * @param mesh The mesh, which is configured by the time its state is loaded.
 */
export function configuredPersistence(mesh: () => ConfiguredMesh): StatePersistence {
  return statePersistence(() => new ConfiguredStore(mesh));
}

/** Keeps the state of one mesh, or of one that takes over from another. */
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
      const store = this.#store;
      const known = before.#store instanceof SnapshotStore ? await before.#store.release() : undefined;
      const isSame = JSON.stringify(before.#settings) === JSON.stringify(this.#settings);
      await (isSame && store instanceof SnapshotStore ? store.adopt(state, known) : store?.load(state));
    } catch (error) {
      const message = MeshError.isInstance(error) ? error.message : "Cannot keep the state: the storage failed";
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
      const message = `Cannot keep the configuration in the storage: ${reason}`;
      hub.trace({ severity: "warning", component: "storage", message });
    }
  }

  /** What is shared with the other processes of this proxy lasts as long as the one that owns it, unless it is kept. */
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
    return new KeptSums(sums).around(store);
  }

  /** What several processes share they share under every policy. */
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
 * The storage that settings ask for, with its format, packing and encryption.
 *
 * @param settings Its section.
 * @param user Whose connectors, runtime and secrets are used.
 * @throws {ConfigError} When its connector refuses its attributes, or there is no key to encrypt with.
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
      message: `the secret ${storageKeyName} ${what} in the store "${store}": put one there, such as 32 random bytes ` +
        "in base64 (openssl rand -base64 32)",
    }]);
  }
  redactor.add(key);
  return key;
}

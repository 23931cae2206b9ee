/**
 * Opens storages, and makes what keeps states there.
 * @module
 */
import type { Settings } from "../config/settings/settings.ts";
import type { StorageSettings } from "../config/settings/storage.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { ConfigError } from "../errors.ts";
import type { Hub } from "../observe/hub.ts";
import type { Redactor } from "../observe/redact.ts";
import { addSecretSettings } from "../observe/secret_names.ts";
import type { ConnectorCatalogue } from "../registry/catalogue.ts";
import type { MeshState } from "../state/mesh_state.ts";
import { SnapshotStore } from "../state/persistence/snapshot_store.ts";
import type { StateStore } from "../state/persistence/state_store.ts";
import { replicatedStore } from "../state/persistence/store_in.ts";
import { SavedSums } from "../state/replication/saved_sums.ts";
import type { LocalShared } from "../state/replication/shared_sums.ts";
import { CodedStorage, storageKeyName } from "../storage/coded_storage.ts";

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

/** A storage, and the section that describes it. */
interface StorageParts {
  readonly storage: CodedStorage;
  readonly settings: StorageSettings;
}

/** Where a mesh keeps its state. */
interface StorePlan {
  /** What it shares with other processes of its proxy, where its storage does not. */
  readonly shared: LocalShared | undefined;
  readonly persisted: StorageParts | undefined;
}

/**
 * What keeps the state of a mesh; undefined where nothing outlives it. What several processes share they share under
 * every policy.
 *
 * @param mesh Whose state.
 * @param places Where it is kept.
 */
export function storeOf(mesh: ConfiguredMesh, { shared, persisted }: StorePlan): StateStore | undefined {
  if (persisted === undefined) return shared && storeBesideOthers(mesh, shared);
  const { hub, runtime: { clock } } = mesh;
  const { storage, settings: { connector, onUnavailable, policy } } = persisted;
  const isPersisted = policy !== "in-memory";
  if (storage.shared !== undefined) {
    return replicatedStore(storage.shared, isPersisted ? storage : undefined, { clock, hub, onUnavailable });
  }
  if (shared !== undefined) return storeBesideOthers(mesh, shared, isPersisted ? persisted : undefined);
  if (onUnavailable === "closed") {
    const message = `storage.on_unavailable: "${connector}" is not shared by several processes: no effect`;
    hub.trace({ severity: "warning", component: "storage", message });
  }
  return isPersisted ? new SnapshotStore({ ...persisted, clock, hub }) : undefined;
}

/** What is shared with the other processes of this proxy lasts as long as the one that owns it, unless it is kept. */
function storeBesideOthers(
  { hub, runtime: { clock } }: ConfiguredMesh,
  shared: LocalShared,
  persisted?: StorageParts,
): StateStore {
  const store = replicatedStore(shared, persisted?.storage, { clock, hub, onUnavailable: "closed", isLocal: true });
  if (persisted === undefined) return store;
  const { storage, settings: { policy, intervalMs } } = persisted;
  const sums = { storage, shared, clock, hub, intervalMs: policy === "immediate" ? immediateMs : intervalMs };
  return new SavedSums(sums).around(store);
}

/**
 * Keeps a state in place of the store that kept it before.
 *
 * @param state The state.
 * @param stores The store that kept it, the one that does from now on, and whether both are one place.
 */
export async function handOverState(
  state: MeshState,
  { before, next, isSame }: { before: StateStore | undefined; next: StateStore | undefined; isSame: boolean },
): Promise<void> {
  const known = before instanceof SnapshotStore ? await before.release() : undefined;
  await (isSame && next instanceof SnapshotStore ? next.adopt(state, known) : next?.load(state));
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
    const problem = key === "" ? "is missing" : "is shorter than 16 characters";
    throw new ConfigError([{
      path: "storage.persistence.encryption",
      message: `the secret ${storageKeyName} ${problem} in the store "${store}": store one, such as 32 random bytes ` +
        "in base64 (openssl rand -base64 32)",
    }]);
  }
  redactor.add(key);
  return key;
}

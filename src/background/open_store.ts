/**
 * Opens storages, and creates the stores of states.
 * @module
 */
import { SecretResolver } from "../config/secrets/resolver.ts";
import { withTimeouts } from "../config/secrets/timed_store.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { StorageSettings } from "../config/settings/storage.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { ConfigError } from "../errors.ts";
import type { Hub } from "../observe/hub.ts";
import type { Redactor } from "../observe/redact.ts";
import { addSecretSettings } from "../observe/secret_names.ts";
import type { ConnectorCatalogue } from "../registry/catalogue.ts";
import type { MeshState } from "../state/model/mesh_state.ts";
import { SnapshotStore } from "../state/persistence/snapshot_store.ts";
import type { StateStore } from "../state/persistence/state_store.ts";
import { replicatedStore } from "../state/open.ts";
import { SavedSums } from "../state/sharing/saved_sums.ts";
import type { LocalShared } from "../state/sharing/shared_sums.ts";
import { CodedStorage, storageKeyName } from "../storage/coded_storage.ts";
import { TimedStorage } from "../storage/timed_storage.ts";

/** Interval at which shared counters are persisted under the policy `immediate`, ms. */
const immediateMs = 1_000;

/** The user of a storage. */
interface StorageUser {
  readonly catalogue: ConnectorCatalogue;
  readonly runtime: Runtime;
  /** Receives the encryption key, so that it is redacted. */
  readonly redactor: Redactor;
  /** Resolves its secrets. */
  readonly settings: Pick<Settings, "secrets">;
}

/** The mesh whose state is persisted. */
export interface ConfiguredMesh extends StorageUser {
  readonly settings: Settings;
  /** Receives traces of failures. */
  readonly hub: Hub;
}

/** A storage and its settings. */
interface StorageParts {
  readonly storage: CodedStorage;
  readonly settings: StorageSettings;
}

/** The storage and the shared state of a mesh. */
interface StorePlan {
  /** State shared with other processes of its proxy, if the storage shares none. */
  readonly shared: LocalShared | undefined;
  readonly persisted: StorageParts | undefined;
}

/**
 * Returns the store of a mesh; undefined if nothing is persisted or shared. State shared by several processes is shared
 * under every policy.
 *
 * @param plan Its storage and shared state.
 */
export function createStore(mesh: ConfiguredMesh, { shared, persisted }: StorePlan): StateStore | undefined {
  if (persisted === undefined) return shared && storeBesideOthers(mesh, shared);
  const { hub, runtime: { clock } } = mesh;
  const { storage, settings: { connector, onUnavailable, policy } } = persisted;
  const isPersisted = policy !== "in-memory";
  if (storage.shared !== undefined) {
    const options = { clock, hub, onUnavailable, title: storage.title };
    return replicatedStore(storage.shared, isPersisted ? storage : undefined, options);
  }
  if (shared !== undefined) return storeBesideOthers(mesh, shared, isPersisted ? persisted : undefined);
  if (onUnavailable === "closed") {
    const message = `storage.on_unavailable: "${connector}" is not shared by several processes: no effect`;
    hub.trace({ severity: "warning", component: "storage", message });
  }
  return isPersisted ? new SnapshotStore({ ...persisted, clock, hub }) : undefined;
}

/** State shared with other processes of this proxy exists as long as the owning process, unless it is persisted. */
function storeBesideOthers(
  { hub, runtime: { clock } }: ConfiguredMesh,
  shared: LocalShared,
  persisted?: StorageParts,
): StateStore {
  const title = "The supervisor of the worker processes";
  const options = { clock, hub, onUnavailable: "closed", isLocal: true, title } as const;
  const store = replicatedStore(shared, persisted?.storage, options);
  if (persisted === undefined) return store;
  const { storage, settings: { policy, intervalMs } } = persisted;
  const sums = { storage, shared, clock, hub, intervalMs: policy === "immediate" ? immediateMs : intervalMs };
  return new SavedSums(sums).around(store);
}

/**
 * Replaces the store of a state.
 *
 * @param stores The previous store, the next one, and whether both use the same storage.
 */
export async function handOverState(
  state: MeshState,
  { before, next, isSame }: { before: StateStore | undefined; next: StateStore | undefined; isSame: boolean },
): Promise<void> {
  const known = before instanceof SnapshotStore ? await before.release() : undefined;
  await (isSame && next instanceof SnapshotStore ? next.adopt(state, known) : next?.load(state));
}

/**
 * Opens the configured storage, with its format, compression and encryption.
 *
 * @param settings The section `storage`.
 * @param user Its connectors, runtime and secrets are used.
 * @throws {ConfigError} If the connector rejects its attributes, or the encryption key is missing.
 */
export async function openStorage(
  settings: StorageSettings,
  user: StorageUser,
): Promise<CodedStorage> {
  const { connector, config, format, isCompressed, isEncrypted } = settings;
  addSecretSettings(config, user.redactor);
  const inner = await (await user.catalogue.load("storage", connector)).create(config, user.runtime);
  const secret = isEncrypted ? await readEncryptionKey(user) : undefined;
  const title = `The storage "${connector}"`;
  const limits = { title, clock: user.runtime.clock };
  return new CodedStorage(new TimedStorage(inner, limits), { title, format, isCompressed, secret });
}

async function readEncryptionKey(
  { catalogue, runtime, redactor, settings }: StorageUser,
): Promise<string> {
  const { store, config } = settings.secrets!;
  const { clock } = runtime;
  const secrets = withTimeouts(await (await catalogue.load("secretStore", store)).create(config, runtime), {
    id: store,
    clock,
  });
  const resolver = new SecretResolver({ id: store, store: secrets, policy: { cacheTtlMs: 0 }, clock });
  const found = await resolver.get(storageKeyName);
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

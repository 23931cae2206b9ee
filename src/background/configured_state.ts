/**
 * Keeps states where a mesh's own configuration says, once it is read.
 * @module
 */
import type { StorageSettings } from "../config/storage_settings.ts";
import type { Settings } from "../config/settings.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { ConfigError } from "../errors.ts";
import type { Hub } from "../observe/hub.ts";
import type { Redactor } from "../observe/redact.ts";
import type { ConnectorCatalogue } from "../registry/catalogue.ts";
import { CodedStorage, storageKeyName } from "../storage/coded_storage.ts";
import type { MeshState } from "../state/mesh_state.ts";
import type { StateKeeper, StateKeeping } from "./state_keeper.ts";
import { sharedKeeper } from "./state_in.ts";
import { StateStore } from "./state_store.ts";

/** Who opens a storage. */
export interface StorageUser {
  /** Its connectors. */
  readonly catalogue: ConnectorCatalogue;
  /** The door to the outside. */
  readonly runtime: Runtime;
  /** Told the key, so that no record shows it. */
  readonly redactor: Redactor;
  /** Where its secrets are. */
  readonly settings: Pick<Settings, "secrets">;
}

/** A mesh. */
export interface ConfiguredMesh extends StorageUser {
  readonly settings: Settings;
  /** Told what goes wrong. */
  readonly hub: Hub;
}

/**
 * The keeping that a configuration's section `storage` asks for; without one, states last as long as the process.
 *
 * @param mesh The mesh, which is configured by the time its state is loaded.
 */
export function configuredState(mesh: () => ConfiguredMesh): StateKeeping {
  return { keeperOf: () => new ConfiguredKeeper(mesh) };
}

/** Where states go that last as long as the process. */
const nowhere = { load: () => Promise.resolve(undefined), save: () => Promise.resolve() };

class ConfiguredKeeper implements StateKeeper {
  readonly #mesh: () => ConfiguredMesh;
  #settings: StorageSettings | undefined;
  #storage: CodedStorage | undefined;
  #store: StateKeeper | undefined;

  constructor(mesh: () => ConfiguredMesh) {
    this.#mesh = mesh;
  }

  async load(state: MeshState): Promise<void> {
    const { settings: { storage: settings } } = this.#mesh();
    if (settings !== this.#settings || this.#store === undefined) {
      await this.close().catch(() => {}); // what failed was traced, and the new one may do better
      this.#store = settings === undefined ? undefined : await this.#open(settings);
      this.#settings = settings;
    }
    await this.#store?.load(state);
  }

  mark(): void {
    this.#store?.mark();
  }

  async close(): Promise<void> {
    try {
      await this.#store?.close();
    } finally {
      await this.#storage?.close();
    }
  }

  /** What several processes share they share under every policy. */
  async #open(settings: StorageSettings): Promise<StateKeeper | undefined> {
    const mesh = this.#mesh();
    const { hub, runtime: { clock } } = mesh;
    const { onUnavailable, policy } = settings;
    const storage = this.#storage = await openStorage(settings, mesh);
    if (storage.shared !== undefined) {
      return sharedKeeper(storage.shared, policy === "in-memory" ? nowhere : storage, { clock, hub, onUnavailable });
    }
    if (onUnavailable === "closed") {
      const message = `storage.on_unavailable: "${settings.connector}" is not shared by several processes: no effect`;
      hub.trace({ severity: "warning", component: "storage", message });
    }
    return policy === "in-memory" ? undefined : new StateStore({ storage, settings, clock, hub });
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
  const inner = user.catalogue.get("storage", connector).create(config, user.runtime);
  const secret = isEncrypted ? await keyOf(user) : undefined;
  return new CodedStorage(inner, { format, isCompressed, secret });
}

async function keyOf(
  { catalogue, runtime, redactor, settings }: StorageUser,
): Promise<string> {
  const { store, config } = settings.secrets;
  const found = await catalogue.get("secretStore", store).create(config, runtime).get(storageKeyName);
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

/**
 * Opens storages.
 * @module
 */
import { SecretResolver, withTimeouts } from "../config/secrets/resolver.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { StorageSettings } from "../config/settings/storage.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { ConfigError } from "../errors.ts";
import { addSecretSettings, type Redactor } from "../observe/redact.ts";
import type { ConnectorCatalogue } from "../registry/catalogue.ts";
import { CodedStorage, storageKeyName } from "../storage/coded_storage.ts";
import { TimedStorage } from "../storage/timed_storage.ts";

/** The user of a storage. */
export interface StorageUser {
  readonly catalogue: ConnectorCatalogue;
  readonly runtime: Runtime;
  /** Receives the encryption key, so that it is redacted. */
  readonly redactor: Redactor;
  /** Resolves its secrets. */
  readonly settings: Pick<Settings, "secrets">;
}

/**
 * Opens the configured storage, with its format, compression and encryption.
 *
 * @param settings The section `storage`.
 * @param user Its connectors, runtime and secrets are used.
 * @throws {ConfigError} If the connector rejects its attributes, or the encryption key is missing.
 */
export async function openStorage(
  settings: Pick<StorageSettings, "connector" | "config" | "format" | "compression" | "encryption">,
  user: StorageUser,
): Promise<CodedStorage> {
  const { connector, config, format, compression, encryption } = settings;
  addSecretSettings(config, user.redactor);
  const inner = await (await user.catalogue.load("storage", connector)).create(config, user.runtime);
  const secret = encryption ? await readEncryptionKey(user) : undefined;
  const title = `The storage "${connector}"`;
  const limits = { title, clock: user.runtime.clock };
  return new CodedStorage(new TimedStorage(inner, limits), { title, format, isCompressed: compression, secret });
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

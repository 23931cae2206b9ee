/**
 * Secrets in an encrypted file.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { Runtime } from "../../src/contracts/runtime.ts";
import { FileSecrets, secretFile } from "./_file_secrets.ts";
import { SecretFileError } from "./_secret_file_error.ts";
import { Vault } from "./_vault.ts";
import { encryptedFileDeclaration } from "./declarations.ts";

const { id } = encryptedFileDeclaration;
const variable = "MESH_SECRETS_PASSPHRASE";

/**
 * Secrets in an encrypted file. Settings: `path`. The passphrase is read from `MESH_SECRETS_PASSPHRASE`. Names and
 * values are encrypted with AES-256-GCM. The key is derived by PBKDF2 (SHA-256, 600 000 iterations, one salt per file).
 * The file is replaced atomically.
 */
export const encryptedFileSecrets: Connector<"secretStore"> = {
  ...encryptedFileDeclaration,
  create({ path }, runtime) {
    const vault = new Vault(() => readPassphrase(runtime));
    const put = async (text: string | undefined, change: (secrets: Map<string, string>) => void) => {
      const secrets = new Map(text === undefined ? [] : await vault.open(text));
      change(secrets);
      return await vault.seal(secrets, text);
    };
    return new FileSecrets({
      store: id,
      ...secretFile(id, path, runtime),
      format: {
        read: (text) => vault.open(text),
        put: (text, name, value) => put(text, (secrets) => secrets.set(name, value)),
        drop: (text, name) => put(text, (secrets) => secrets.delete(name)),
      },
    });
  },
};

function readPassphrase(runtime: Runtime): string {
  const passphrase = runtime.env(variable) ?? "";
  if (passphrase.trim() !== "") return passphrase;
  throw new SecretFileError(`set the environment variable ${variable} to its passphrase`);
}

/**
 * Secrets in an encrypted file: JSON with everything needed for decryption except the passphrase.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { Runtime } from "../../src/contracts/runtime.ts";
import { fromBase64, toBase64 } from "../../src/util/base64.ts";
import { describeDeniedVariable } from "../../src/util/denial.ts";
import { encryptedFileDeclaration } from "./declarations.ts";
import { FileSecrets, secretFile } from "./_file_secrets.ts";
import { SecretFileError } from "./_secret_file_error.ts";

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
  const denied = describeDeniedVariable(variable, runtime.env);
  if (denied !== undefined) throw new SecretFileError(denied);
  throw new SecretFileError(`set the environment variable ${variable} to its passphrase`);
}

/** OWASP's recommendation for PBKDF2-SHA-256, iterations. */
const rounds = 600_000;
const format = "modelmesh.secrets.v1";
const lengths = { salt: 16, check: 16, iv: 12 } as const;

/** Members next to the ciphertext, which are authenticated with it. */
interface Header {
  readonly format: string;
  readonly kdf: string;
  readonly cipher: string;
  /** Salt of the key derivation, base64. */
  readonly salt: string;
  /** Check value that distinguishes a wrong passphrase from a damaged file, base64. */
  readonly check: string;
}

interface Key {
  readonly salt: Uint8Array<ArrayBuffer>;
  readonly check: string;
  readonly key: CryptoKey;
}

const kdf = `PBKDF2-SHA-256:${rounds}`;
const cipher = "AES-256-GCM";

/** Encrypts and decrypts with one passphrase. */
class Vault {
  readonly #passphrase: () => string;
  /** Key derivation is deliberately slow: it runs once per salt. */
  #key: { readonly salt: string; readonly passphrase: string; readonly derived: Promise<Key> } | undefined;

  /** @param passphrase Returns the passphrase; throws a `SecretFileError` if there is none. */
  constructor(passphrase: () => string) {
    this.#passphrase = passphrase;
  }

  /**
   * Decrypts the secrets, by name.
   *
   * @param text A result of {@linkcode Vault.seal}.
   * @throws {SecretFileError} If it is damaged or of another format, or the passphrase is wrong.
   */
  async open(text: string): Promise<ReadonlyMap<string, string>> {
    const { header, iv, data } = readSealed(text);
    const { key, check } = await this.#keyFor(header.salt);
    if (check !== header.check) {
      throw new SecretFileError("the passphrase in MESH_SECRETS_PASSPHRASE is not the one that it was encrypted with");
    }
    let plain: ArrayBuffer;
    try {
      plain = await crypto.subtle.decrypt({ name: "AES-GCM", iv, additionalData: bindVault(header) }, key, data);
    } catch {
      throw new SecretFileError("it was damaged or tampered with: restore a backup of it");
    }
    return new Map(JSON.parse(new TextDecoder().decode(plain)) as [string, string][]);
  }

  /**
   * Encrypts secrets.
   *
   * @param secrets The secrets, by name.
   * @param before The encrypted text that it replaces, whose salt is reused.
   */
  async seal(secrets: ReadonlyMap<string, string>, before?: string): Promise<string> {
    const salt = before === undefined ? toBase64(randomBytes(lengths.salt)) : readSealed(before).header.salt;
    const { key, check } = await this.#keyFor(salt);
    const header: Header = { format, kdf, cipher, salt, check };
    const iv = randomBytes(lengths.iv);
    const plain = new TextEncoder().encode(JSON.stringify([...secrets]));
    const data = await crypto.subtle.encrypt({ name: "AES-GCM", iv, additionalData: bindVault(header) }, key, plain);
    return `${JSON.stringify({ ...header, iv: toBase64(iv), data: toBase64(new Uint8Array(data)) }, null, 2)}\n`;
  }

  #keyFor(salt: string): Promise<Key> {
    const passphrase = this.#passphrase();
    if (this.#key?.salt !== salt || this.#key.passphrase !== passphrase) {
      this.#key = { salt, passphrase, derived: deriveKey(passphrase, decodeBytes(salt, lengths.salt)) };
    }
    return this.#key.derived;
  }
}

async function deriveKey(passphrase: string, salt: Uint8Array<ArrayBuffer>): Promise<Key> {
  const encoder = new TextEncoder();
  const base = await crypto.subtle.importKey("raw", encoder.encode(passphrase), "PBKDF2", false, ["deriveBits"]);
  const bits = await crypto.subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt, iterations: rounds }, base, 256);
  const key = await crypto.subtle.importKey("raw", bits, "AES-GCM", false, ["encrypt", "decrypt"]);
  const label = encoder.encode(`${format} check`);
  const digest = await crypto.subtle.digest("SHA-256", new Uint8Array([...label, ...new Uint8Array(bits)]));
  return { salt, key, check: toBase64(new Uint8Array(digest, 0, lengths.check)) };
}

function readSealed(
  text: string,
): { readonly header: Header; readonly iv: Uint8Array<ArrayBuffer>; readonly data: Uint8Array<ArrayBuffer> } {
  let value: Partial<Record<keyof Header | "iv" | "data", unknown>> | null;
  try {
    value = JSON.parse(text);
  } catch {
    const what = text.trim() === "" ? "it is empty" : "it is truncated, or not a file of encrypted secrets";
    throw new SecretFileError(`${what}: restore a backup of it`);
  }
  if (typeof value !== "object" || value?.format !== format || value.kdf !== kdf || value.cipher !== cipher) {
    throw new SecretFileError(`it is not a file of encrypted secrets of this version ("${format}")`);
  }
  const { salt, check, iv, data } = value;
  const header: Header = { format, kdf, cipher, salt: toBase64(decodeBytes(salt, lengths.salt)), check: String(check) };
  return { header, iv: decodeBytes(iv, lengths.iv), data: decodeBytes(data) };
}

/** The additional authenticated data. */
function bindVault({ format, kdf, cipher, salt }: Header): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode([format, kdf, cipher, salt].join("\n"));
}

function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(length));
}

function decodeBytes(text: unknown, length?: number): Uint8Array<ArrayBuffer> {
  let bytes: Uint8Array<ArrayBuffer> | undefined;
  try {
    if (typeof text === "string") bytes = fromBase64(text);
  } catch {
    // reported below
  }
  if (bytes !== undefined && (length === undefined || bytes.length === length)) return bytes;
  throw new SecretFileError("it was damaged or tampered with: restore a backup of it");
}

/**
 * Encoding of records: format, compression and authenticated encryption. A decorator for every storage, below everything
 * that persists records.
 *
 * An encrypted record is: 8 bytes `MESHENC1` · 16 bytes salt · 8 bytes key id · 12 bytes nonce, new for each record ·
 * AES-256-GCM ciphertext with its tag. The header before the nonce and the record's key are authenticated as associated
 * data. The encryption key is derived by PBKDF2-SHA-256 from the secret and the salt, 600 000 iterations; the key id is
 * the first 8 bytes of its SHA-256.
 * @module
 */
import type {
  ExpiringEntries,
  Lock,
  LockOptions,
  Shared,
  Storage,
  StorageStat,
  UsageRows,
} from "../contracts/storage.ts";
import { ConnectorError } from "../errors.ts";
import { type FormatModules, formatModules, fromJson, type RecordFormat, toJson } from "./_formats.ts";
import { compress, decompress, isGzip } from "../util/gzip.ts";

/** Name of the secret from which the encryption key is derived. */
export const storageKeyName = "MESH_STORAGE_KEY";

/** Maximum size of a record, bytes. Larger records are not decoded. */
const maxBytes = 64 * 1024 * 1024;

export interface Coding {
  /** Name of the storage in error messages. @default {"The storage"} */
  readonly title?: string;
  readonly format: RecordFormat;
  readonly isCompressed: boolean;
  /** The encryption secret; records are not encrypted if undefined. */
  readonly secret?: string | undefined;
  /** Modules of the formats; tests replace them. */
  readonly modules?: FormatModules;
}

/**
 * A storage whose records are JSON for the caller, and encoded as configured in the underlying storage. Reading accepts
 * every encoding, whatever is configured for writing: changing a setting loses nothing, and the next save applies it.
 * For the same reason, unencrypted records can be read after an encryption secret is configured.
 */
export class CodedStorage implements Storage {
  readonly #inner: Storage;
  readonly #coding: Coding;
  readonly #cipher: RecordCipher | undefined;

  constructor(inner: Storage, coding: Coding) {
    this.#inner = inner;
    this.#coding = coding;
    this.#cipher = coding.secret === undefined ? undefined : new RecordCipher(coding.secret);
  }

  /** Its name in error messages. */
  get title(): string {
    return this.#coding.title ?? "The storage";
  }

  /** Shared counters and messages are not records: they are not encoded. */
  get shared(): Shared | undefined {
    return this.#inner.shared;
  }

  /** Usage is not encoded: the store sums it. */
  get usage(): UsageRows | undefined {
    return this.#inner.usage;
  }

  /**
   * Its entries: their data is encrypted if records are, and an entry that cannot be decrypted does not exist. They have no
   * format and are not compressed, since they are bytes.
   */
  get entries(): ExpiringEntries | undefined {
    const [{ entries }, cipher] = [this.#inner, this.#cipher];
    if (entries === undefined || cipher === undefined) return entries;
    return {
      get held() {
        return entries.held;
      },
      get: async (key) => {
        const bytes = await entries.get(key);
        if (bytes === undefined || !isEncrypted(bytes)) return undefined;
        const decrypted = await cipher.decrypt(bytes, toEntryName(key));
        return typeof decrypted === "string" ? undefined : decrypted;
      },
      set: async (key, data, expiresAt) =>
        await entries.set(key, await cipher.encrypt(data, toEntryName(key)), expiresAt),
      delete: (key) => entries.delete(key),
      stats: () => entries.stats(),
      clear: () => entries.clear(),
    };
  }

  async close(): Promise<void> {
    await this.#inner.close?.();
  }

  /**
   * Loads a record as JSON.
   *
   * @throws {ConnectorError} `createUnreadableError` if the record is damaged, `forbidden` if it was encrypted with another
   * secret.
   */
  async load(key: string): Promise<Uint8Array | undefined> {
    const bytes = await this.#inner.load(key);
    if (bytes === undefined) return undefined;
    if (bytes.length > maxBytes) throw createUnreadableError(key, "it is larger than 64 MiB");
    const decrypted = await this.#decrypt(bytes, key);
    try {
      return await toJson(isGzip(decrypted) ? await decompress(decrypted) : decrypted, this.#modules);
    } catch (error) {
      throw ConnectorError.isInstance(error)
        ? error
        : createUnreadableError(key, "it is damaged, or was not written by ModelMesh", error);
    }
  }

  /** Saves a record given as JSON. */
  async save(key: string, data: Uint8Array): Promise<void> {
    const { format, isCompressed } = this.#coding;
    const written = await fromJson(data, format, this.#modules);
    const encoded = isCompressed ? await compress(written) : written;
    await this.#inner.save(key, await this.#cipher?.encrypt(encoded, key) ?? encoded);
  }

  list(prefix?: string): Promise<readonly string[]> {
    return this.#inner.list(prefix);
  }

  delete(key: string): Promise<boolean> {
    return this.#inner.delete(key);
  }

  stat(key: string): Promise<StorageStat | undefined> {
    return this.#inner.stat(key);
  }

  exists(key: string): Promise<boolean> {
    return this.#inner.exists(key);
  }

  acquire(key: string, options: LockOptions): Promise<Lock> {
    return this.#inner.acquire(key, options);
  }

  release(lock: Lock): Promise<void> {
    return this.#inner.release(lock);
  }

  isLocked(key: string): Promise<boolean> {
    return this.#inner.isLocked(key);
  }

  /** Copies a record as stored, without decoding it. */
  async copy(from: string, to: string): Promise<void> {
    const bytes = await this.#inner.load(from);
    if (bytes !== undefined) await this.#inner.save(to, bytes);
  }

  get #modules(): FormatModules {
    return this.#coding.modules ?? formatModules;
  }

  async #decrypt(bytes: Uint8Array, key: string): Promise<Uint8Array> {
    if (!isEncrypted(bytes)) return bytes;
    if (this.#cipher === undefined) {
      const hint =
        `Set storage.persistence.encryption to true, and ${storageKeyName} to the secret it was encrypted with`;
      throw new ConnectorError(`Cannot read the record "${key}": it is encrypted. ${hint}`, undefined, "forbidden");
    }
    const decrypted = await this.#cipher.decrypt(bytes, key);
    if (decrypted === "damaged") {
      throw createUnreadableError(key, "it was modified or truncated after it was encrypted");
    }
    if (decrypted !== "other_key") return decrypted;
    throw new ConnectorError(
      `Cannot read the record "${key}": it was encrypted with another ${storageKeyName}. Set the one it was encrypted ` +
        "with, or move the record away to start afresh",
      undefined,
      "forbidden",
    );
  }
}

function createUnreadableError(key: string, reason: string, cause?: unknown): ConnectorError {
  return new ConnectorError(`Cannot read the record "${key}": ${reason}`, cause, "unreadable");
}

/** The name under which an entry is encrypted, so that no record decrypts as one. */
function toEntryName(key: string): string {
  return `entry ${key}`;
}

const mark = new TextEncoder().encode("MESHENC1");
const saltAt = mark.length;
const keyIdAt = saltAt + 16;
const nonceAt = keyIdAt + 8;
const textAt = nonceAt + 12;
const rounds = 600_000;

function isEncrypted(bytes: Uint8Array): boolean {
  return mark.every((byte, index) => bytes[index] === byte);
}

/** A derived key, and the header of records encrypted with it. */
interface Derived {
  readonly key: CryptoKey;
  readonly head: Uint8Array;
}

/** Encrypts and decrypts records with one secret. Key derivation takes about 200 ms, once per salt. */
class RecordCipher {
  readonly #secret: string;
  readonly #derived = new Map<string, Promise<Derived>>();
  /** The salt of the record read last, so that processes which share a storage converge on one salt. */
  #salt: Uint8Array = crypto.getRandomValues(new Uint8Array(16));

  /** @param secret Any string; preferably 32 random bytes in base64. */
  constructor(secret: string) {
    this.#secret = secret;
  }

  /** Encrypts a record. Decryption succeeds only under the same record name. */
  async encrypt(bytes: Uint8Array, name: string): Promise<Uint8Array> {
    const { key, head } = await this.#derive(this.#salt);
    const nonce = crypto.getRandomValues(new Uint8Array(12));
    const algorithm = { name: "AES-GCM", iv: nonce, additionalData: boundTo(head, name) };
    const text = await crypto.subtle.encrypt(algorithm, key, bytes as BufferSource);
    return concatBytes(head, nonce, new Uint8Array(text));
  }

  /**
   * Decrypts a record.
   *
   * @returns `other_key` if it was encrypted with another secret; `damaged` if it was modified or truncated.
   */
  async decrypt(bytes: Uint8Array, name: string): Promise<Uint8Array | "other_key" | "damaged"> {
    if (bytes.length < textAt) return "damaged";
    const salt = bytes.slice(saltAt, keyIdAt);
    const { key, head } = await this.#derive(salt);
    if (!head.every((byte, index) => bytes[index] === byte)) return "other_key";
    const algorithm = {
      name: "AES-GCM",
      iv: bytes.slice(nonceAt, textAt),
      additionalData: boundTo(head, name),
    };
    try {
      const text = await crypto.subtle.decrypt(algorithm, key, bytes.slice(textAt));
      this.#salt = salt;
      return new Uint8Array(text);
    } catch {
      return "damaged";
    }
  }

  #derive(salt: Uint8Array): Promise<Derived> {
    const existing = this.#derived.get(salt.join());
    if (existing !== undefined) return existing;
    const derived = derive(this.#secret, salt);
    this.#derived.set(salt.join(), derived);
    return derived;
  }
}

async function derive(secret: string, salt: Uint8Array): Promise<Derived> {
  const { subtle } = crypto;
  const material = await subtle.importKey("raw", new TextEncoder().encode(secret), "PBKDF2", false, ["deriveBits"]);
  const algorithm = { name: "PBKDF2", hash: "SHA-256", salt: salt as BufferSource, iterations: rounds };
  const bits = await subtle.deriveBits(algorithm, material, 256);
  const keyId = new Uint8Array(await subtle.digest("SHA-256", bits)).slice(0, 8);
  const key = await subtle.importKey("raw", bits, "AES-GCM", false, ["encrypt", "decrypt"]);
  return { key, head: concatBytes(mark, salt, keyId) };
}

function boundTo(head: Uint8Array, name: string): Uint8Array<ArrayBuffer> {
  return concatBytes(head, new TextEncoder().encode(name));
}

function concatBytes(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const result = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    result.set(part, at);
    at += part.length;
  }
  return result;
}

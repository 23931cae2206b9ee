/**
 * Authenticated encryption of records.
 *
 * An encrypted record is: 8 bytes `MESHENC1` · 16 bytes salt · 8 bytes key id · 12 bytes nonce, new for each record ·
 * AES-256-GCM ciphertext with its tag. The header before the nonce and the record's key are authenticated as associated
 * data. The encryption key is derived by PBKDF2-SHA-256 from the secret and the salt, 600 000 iterations; the key id is
 * the first 8 bytes of its SHA-256.
 * @module
 */

const mark = new TextEncoder().encode("MESHENC1");
const saltAt = mark.length;
const keyIdAt = saltAt + 16;
const nonceAt = keyIdAt + 8;
const textAt = nonceAt + 12;
const rounds = 600_000;

export function isEncrypted(bytes: Uint8Array): boolean {
  return mark.every((byte, index) => bytes[index] === byte);
}

/** A derived key, and the header of records encrypted with it. */
interface Derived {
  readonly key: CryptoKey;
  readonly head: Uint8Array;
}

/** Encrypts and decrypts records with one secret. Key derivation takes about 200 ms, once per salt. */
export class RecordCipher {
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
    const known = this.#derived.get(salt.join());
    if (known !== undefined) return known;
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

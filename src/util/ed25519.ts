/**
 * Ed25519 signatures (RFC 8032), by Web Crypto.
 * @module
 */
import { fromBase64 } from "./base64.ts";

/** Size of a public key, bytes. */
const keySize = 32;

/** What precedes the key in SubjectPublicKeyInfo, the format of PEM files. */
const spkiPrefix = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/** Returns the bytes of Base64 or base64url; undefined for other text. */
function decode(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return fromBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return undefined;
  }
}

/**
 * Reads a public key.
 *
 * @param text Base64 or base64url of its 32 bytes or of its SubjectPublicKeyInfo, or a PEM file of the latter.
 * @returns The 32 bytes; undefined if it is not such a key.
 */
export function readPublicKey(text: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = decode(text.replace(/-----(?:BEGIN|END) PUBLIC KEY-----/g, ""));
  if (bytes?.length === keySize) return bytes;
  const isSpki = bytes?.length === spkiPrefix.length + keySize && spkiPrefix.every((byte, at) => bytes[at] === byte);
  return isSpki ? bytes.slice(spkiPrefix.length) : undefined;
}

/**
 * Whether a signature is that of a text, UTF-8.
 *
 * @param signed The text, and its signature in Base64 or base64url.
 * @param publicKey The 32 bytes of the signer's public key.
 */
export async function isSigned(
  { text, signature }: { readonly text: string; readonly signature: string },
  publicKey: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const bytes = decode(signature);
  if (bytes === undefined) return false;
  const algorithm = { name: "Ed25519" };
  const key = await crypto.subtle.importKey("raw", publicKey, algorithm, false, ["verify"]);
  return await crypto.subtle.verify(algorithm, key, bytes, new TextEncoder().encode(text));
}

/**
 * Signatures of what clients keep for this mesh: HMAC with SHA-256, in base64url.
 * @module
 */
import { toBase64Url } from "../util/base64.ts";

/** Length of a signature, bytes. */
const signatureBytes = 16;

/** Its length in base64url. */
export const signatureChars = 22;

const encoder = new TextEncoder();

/** The key of a signature. */
interface SigningKey {
  readonly secret: string;
  /** What the text is, which separates these signatures from others with the same secret. */
  readonly purpose: string;
}

/** Signs a text. */
export async function signText(text: string, { secret, purpose }: SigningKey): Promise<string> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["sign"]);
  const signature = await crypto.subtle.sign("HMAC", key, encoder.encode(`modelmesh ${purpose}\n${text}`));
  return toBase64Url(new Uint8Array(signature).subarray(0, signatureBytes));
}

/** Verifies the signature of a text, in constant time. */
export async function isSigned(text: string, signature: string, key: SigningKey): Promise<boolean> {
  const right = await signText(text, key);
  let difference = right.length ^ signature.length;
  for (let at = 0; at < right.length; at++) difference |= right.charCodeAt(at) ^ signature.charCodeAt(at);
  return difference === 0;
}

/**
 * Signatures of webhooks.
 *
 * Source: Standard Webhooks (HMAC-SHA256 over id, timestamp and body).
 * @module
 */
import { fromBase64, toBase64 } from "../src/util/base64.ts";

const secretPrefix = "whsec_";
const encoder = new TextEncoder();

/** Signs the bodies of webhooks. */
export interface WebhookSigner {
  /**
   * Returns the headers of a call.
   *
   * @param body The body.
   * @param id Its id, the same in all of its retries.
   * @param now Wall-clock time of the call, ms.
   */
  sign(body: string, id: string, now: number): Promise<Record<string, string>>;
}

/**
 * Creates a signer; without a secret, it adds only id and timestamp.
 *
 * @param secret Base64 after `whsec_`, or any other string, which is used unchanged.
 * @param createError Creates the error of an invalid secret.
 */
export function createWebhookSigner(secret: unknown, createError: (message: string) => Error): WebhookSigner {
  const key = secret === undefined ? undefined : importSecret(decodeSecret(secret, createError));
  key?.catch(() => {}); // reported by the calls
  return {
    async sign(body, id, now) {
      const timestamp = String(Math.floor(now / 1000));
      const headers: Record<string, string> = {
        "content-type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": timestamp,
      };
      if (key !== undefined) {
        const signature = await crypto.subtle.sign("HMAC", await key, encoder.encode(`${id}.${timestamp}.${body}`));
        headers["webhook-signature"] = `v1,${toBase64(new Uint8Array(signature))}`;
      }
      return headers;
    },
  };
}

async function importSecret(bytes: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
}

function decodeSecret(secret: unknown, createError: (message: string) => Error): Uint8Array<ArrayBuffer> {
  if (typeof secret !== "string") throw createError("must be a string");
  const isEncoded = secret.startsWith(secretPrefix);
  try {
    const bytes = isEncoded ? fromBase64(secret.slice(secretPrefix.length)) : encoder.encode(secret);
    if (bytes.length > 0) return bytes;
  } catch {
    throw createError(`has no base64 after "${secretPrefix}"`);
  }
  throw createError("must not be empty");
}

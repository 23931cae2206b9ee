/**
 * JSON Web Tokens signed with RS256, using Web Crypto.
 *
 * Source: RFC 7519 (JWT), RFC 7515 (JWS), RFC 7518 section 3.3 (RS256).
 * @module
 */
import { toBase64Url } from "./base64.ts";

const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };

/**
 * Imports a private RSA key for signing.
 *
 * @param der The key in PKCS#8, DER-encoded.
 * @throws {DOMException} When it is not an RSA key.
 */
export function signingKey(der: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return crypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]);
}

/**
 * Signs a set of claims.
 *
 * @param claims Claims; times are integer seconds since 1970.
 * @param key The signing key.
 * @param keyId The `kid` of the header.
 *
 * @example
 * ```ts
 * const iat = Math.floor(Date.now() / 1000);
 * const key = await signingKey(await Deno.readFile("key.der"));
 * await signedJwt({ iss: "me", aud: "https://oauth2.example/token", iat, exp: iat + 3600 }, key);
 * ```
 */
export async function signedJwt(claims: object, key: CryptoKey, keyId?: string): Promise<string> {
  const parts = [{ alg: "RS256", typ: "JWT", kid: keyId }, claims].map((part) => encoded(JSON.stringify(part)));
  const text = parts.map(toBase64Url).join(".");
  return `${text}.${toBase64Url(new Uint8Array(await crypto.subtle.sign(algorithm, key, encoded(text))))}`;
}

function encoded(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

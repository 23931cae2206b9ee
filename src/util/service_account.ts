/**
 * JSON keys of service accounts, and signed assertions (RFC 7519; RS256 of RFC 7518, section 3.3), using Web Crypto.
 * @module
 */
import { fromBase64, toBase64Url } from "./base64.ts";
import { isObject } from "./is_object.ts";

const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };

/**
 * Imports a private RSA key for signing.
 *
 * @param der The key in PKCS#8, DER-encoded.
 * @throws {DOMException} When it is not an RSA key.
 */
function signingKey(der: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return crypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]);
}

/**
 * Signs a set of claims.
 *
 * @param claims Claims; times are integer seconds since 1970.
 * @param keyId The `kid` of the header.
 */
async function signedJwt(claims: object, key: CryptoKey, keyId?: string): Promise<string> {
  const parts = [{ alg: "RS256", typ: "JWT", kid: keyId }, claims].map((part) => encoded(JSON.stringify(part)));
  const text = parts.map(toBase64Url).join(".");
  return `${text}.${toBase64Url(new Uint8Array(await crypto.subtle.sign(algorithm, key, encoded(text))))}`;
}

function encoded(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** The members of a JSON key that are used. */
export interface ServiceAccount {
  readonly clientEmail: string;
  /** PKCS#8, decoded from PEM. */
  readonly privateKey: Uint8Array<ArrayBuffer>;
  /** The `private_key_id`. */
  readonly keyId?: string;
  /** The `token_uri`: URL of the token endpoint. */
  readonly tokenUrl?: string;
}

/**
 * Parses the JSON key of a service account.
 *
 * @throws {TypeError} When it is invalid. The message does not quote it.
 */
export function readServiceAccount(credentials: string | Readonly<Record<string, unknown>>): ServiceAccount {
  const { client_email, private_key, private_key_id, token_uri } = readCredentials(credentials);
  if (typeof client_email !== "string" || client_email === "") throw new TypeError('has no "client_email"');
  if (typeof private_key !== "string") throw new TypeError('has no "private_key"');
  return {
    clientEmail: client_email,
    privateKey: pkcs8(private_key),
    ...(typeof private_key_id === "string" ? { keyId: private_key_id } : {}),
    ...(typeof token_uri === "string" ? { tokenUrl: token_uri } : {}),
  };
}

/** Maximum lifetime of an assertion, seconds. */
const lifetimeSeconds = 3_600;

/**
 * Creates a signer of JSON Web Tokens with the claims of RFC 7523.
 *
 * @returns A function of the wall-clock time in ms. It rejects with a `DOMException` unless the private key is an RSA
 * key.
 */
export function assertionSigner(account: ServiceAccount, facts: {
  /** URL or name of the token endpoint, as the vendor defines it. */
  readonly audience: string;
  /** Scopes, separated by spaces. */
  readonly scope?: string | undefined;
  /**
   * The user to impersonate.
   * @default chosen by the token endpoint
   */
  readonly subject?: string;
}): (now: number) => Promise<string> {
  const { audience: aud, scope, subject: sub } = facts;
  let key: Promise<CryptoKey> | undefined;
  return async (now) => {
    const iat = Math.floor(now / 1000);
    const claims = { iss: account.clientEmail, sub, aud, scope, iat, exp: iat + lifetimeSeconds };
    return await signedJwt(claims, await (key ??= signingKey(account.privateKey)), account.keyId);
  };
}

function readCredentials(credentials: string | Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  let value: unknown = credentials;
  try {
    if (typeof credentials === "string") value = JSON.parse(credentials);
  } catch {
    throw new TypeError("is not the JSON key of a service account: it is not valid JSON");
  }
  if (isObject(value)) return value;
  throw new TypeError("is not the JSON key of a service account: expected an object");
}

function pkcs8(pem: string): Uint8Array<ArrayBuffer> {
  const body = /-----BEGIN PRIVATE KEY-----([^-]+)-----END PRIVATE KEY-----/.exec(pem)?.[1];
  if (body === undefined) {
    throw new TypeError('has a "private_key" that is not PKCS#8 in PEM ("-----BEGIN PRIVATE KEY-----")');
  }
  try {
    return fromBase64(body);
  } catch {
    throw new TypeError('has a "private_key" whose text between the PEM lines is not base64');
  }
}

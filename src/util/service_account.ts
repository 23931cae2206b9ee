/**
 * A service account's JSON key, and the assertions that it signs.
 * @module
 */
import { fromBase64 } from "./base64.ts";
import { isObject } from "./is_object.ts";
import { signedJwt, signingKey } from "./jwt.ts";

/** The members of a JSON key that signing and fetching need. */
export interface ServiceAccount {
  readonly clientEmail: string;
  /** PKCS#8, decoded from PEM. */
  readonly privateKey: Uint8Array<ArrayBuffer>;
  /** `private_key_id`. */
  readonly keyId?: string;
  /** `token_uri`, the token endpoint. */
  readonly tokenUrl?: string;
}

/**
 * Parses a service account's JSON key.
 *
 * @throws {TypeError} When it is not one; the message quotes nothing of it.
 */
export function readServiceAccount(credentials: string | Readonly<Record<string, unknown>>): ServiceAccount {
  const { client_email, private_key, private_key_id, token_uri } = membersOf(credentials);
  if (typeof client_email !== "string" || client_email === "") throw new TypeError('has no "client_email"');
  if (typeof private_key !== "string") throw new TypeError('has no "private_key"');
  return {
    clientEmail: client_email,
    privateKey: pkcs8(private_key),
    ...(typeof private_key_id === "string" ? { keyId: private_key_id } : {}),
    ...(typeof token_uri === "string" ? { tokenUrl: token_uri } : {}),
  };
}

/** The longest that token endpoints accept an assertion, seconds. */
const lifetimeSeconds = 3_600;

interface AssertionFacts {
  /** The token endpoint's address or name, as the vendor defines it. */
  readonly audience: string;
  /** Separated by spaces. */
  readonly scope?: string | undefined;
  /**
   * The user that the token is for.
   * @default the audience's own choice
   */
  readonly subject?: string;
}

/**
 * Makes a signer of JSON Web Tokens with the claims of RFC 7523.
 *
 * @returns Takes the wall clock, ms. Rejects with a `DOMException` unless the private key is an RSA key.
 */
export function assertionSigner(account: ServiceAccount, facts: AssertionFacts): (now: number) => Promise<string> {
  const { audience: aud, scope, subject: sub } = facts;
  let key: Promise<CryptoKey> | undefined;
  return async (now) => {
    const iat = Math.floor(now / 1000);
    const claims = { iss: account.clientEmail, sub, aud, scope, iat, exp: iat + lifetimeSeconds };
    return await signedJwt(claims, await (key ??= signingKey(account.privateKey)), account.keyId);
  };
}

function membersOf(credentials: string | Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  let value: unknown = credentials;
  try {
    if (typeof credentials === "string") value = JSON.parse(credentials);
  } catch {
    throw new TypeError("is not the JSON key of a service account: its text is not valid JSON");
  }
  if (isObject(value)) return value;
  throw new TypeError("is not the JSON key of a service account: expected an object");
}

function pkcs8(pem: string): Uint8Array<ArrayBuffer> {
  const body = /-----BEGIN PRIVATE KEY-----([^-]+)-----END PRIVATE KEY-----/.exec(pem)?.[1];
  if (body === undefined) {
    throw new TypeError('has a "private_key" that is no PEM text of PKCS#8 ("-----BEGIN PRIVATE KEY-----")');
  }
  try {
    return fromBase64(body);
  } catch {
    throw new TypeError('has a "private_key" whose text between the PEM lines is not base64');
  }
}

/**
 * A service account's JSON key.
 * @module
 */

/** What of a JSON key tokens are fetched with. */
export interface ServiceAccount {
  /** Whose tokens they are. */
  readonly clientEmail: string;
  /** PKCS#8, the bytes between the lines of the PEM text. */
  readonly privateKey: Uint8Array<ArrayBuffer>;
  /** Tells the vendor which of the account's keys signed. */
  readonly keyId?: string;
  /** Where tokens are fetched. */
  readonly tokenUrl?: string;
}

/**
 * Reads a JSON key.
 *
 * @param credentials As text or parsed.
 * @throws {TypeError} When it is none; the message quotes nothing of it.
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

/**
 * What is wrong with a JSON key.
 *
 * @param credentials As text or parsed.
 * @param hasTokenUrl An address is given beside it.
 */
export function serviceAccountProblem(
  credentials: string | Readonly<Record<string, unknown>>,
  hasTokenUrl: boolean,
): string | undefined {
  try {
    const { tokenUrl } = readServiceAccount(credentials);
    if (hasTokenUrl || tokenUrl !== undefined && /^https?:\/\/[^/\s]/i.test(tokenUrl)) return undefined;
    return 'has no address in "token_uri": give it there or as "token_url"';
  } catch (error) {
    return (error as TypeError).message;
  }
}

function membersOf(credentials: string | Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  let value: unknown = credentials;
  try {
    if (typeof credentials === "string") value = JSON.parse(credentials);
  } catch {
    throw new TypeError("is not the JSON key of a service account: its text is not valid JSON");
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new TypeError("is not the JSON key of a service account: expected an object");
}

function pkcs8(pem: string): Uint8Array<ArrayBuffer> {
  const body = /-----BEGIN PRIVATE KEY-----([^-]+)-----END PRIVATE KEY-----/.exec(pem)?.[1];
  if (body === undefined) {
    throw new TypeError('has a "private_key" that is no PEM text of PKCS#8 ("-----BEGIN PRIVATE KEY-----")');
  }
  try {
    return Uint8Array.from(atob(body.replace(/\s+/g, "")), (character) => character.charCodeAt(0));
  } catch {
    throw new TypeError('has a "private_key" whose text between the PEM lines is not base64');
  }
}

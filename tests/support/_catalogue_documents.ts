/**
 * Signed catalogue documents.
 * @module
 */
import { serverConnectors } from "../../connectors/server.ts";
import { signPayload, toPayload } from "../../scripts/catalogue/sign.ts";
import { isProvider } from "../../src/config/settings/known.ts";
import { toBase64 } from "../../src/util/base64.ts";

/** The contents of a document, in its own format. */
export interface Contents {
  format: number;
  date: string;
  providers: Record<string, Record<string, unknown>[]>;
}

/** A key pair: signs documents. */
export interface Signer {
  /** The public key, as a configuration has it. */
  readonly publicKey: string;
  /** The private key in PEM. */
  readonly pem: string;
  sign(contents: unknown): Promise<string>;
}

/** Creates a key pair. */
export async function createSigner(): Promise<Signer> {
  const pair = await crypto.subtle.generateKey({ name: "Ed25519" }, true, ["sign", "verify"]) as CryptoKeyPair;
  const encode = async (format: "raw" | "pkcs8", key: CryptoKey) =>
    toBase64(new Uint8Array(await crypto.subtle.exportKey(format, key)));
  const pem = `-----BEGIN PRIVATE KEY-----\n${await encode("pkcs8", pair.privateKey)}\n-----END PRIVATE KEY-----\n`;
  return {
    publicKey: await encode("raw", pair.publicKey),
    pem,
    sign: (contents) => signPayload(JSON.stringify(contents), pem),
  };
}

/** The contents of a document with the built-in models of some connectors. */
export function builtInContents(date: string, ...ids: readonly string[]): Contents {
  const providers = serverConnectors.filter(isProvider).filter(({ id }) => ids.length === 0 || ids.includes(id));
  return JSON.parse(toPayload(providers, date));
}

/**
 * RSA key pairs for tests. They are short, and a process has only two, since generating a long one takes a good part of a second.
 * @module
 */
import { generateKeyPairSync, type KeyObject } from "node:crypto";

/** A private key in the format of vendors' key files, and its public key. */
interface RsaPair {
  /** PKCS #8, PEM. */
  readonly privateKey: string;
  readonly publicKey: KeyObject;
}

const pairs: RsaPair[] = [];
let asked = 0;

/** Returns a key pair that differs from the previous one. */
export function nextRsaPair(): RsaPair {
  const index = asked++ % 2;
  return pairs[index] ??= make();
}

function make(): RsaPair {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 1024 });
  return { publicKey, privateKey: privateKey.export({ type: "pkcs8", format: "pem" }) as string };
}

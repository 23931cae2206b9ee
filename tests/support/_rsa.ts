/**
 * RSA keys: to make one takes a good part of a second, so there are two in a process.
 * @module
 */
import { generateKeyPairSync, type KeyObject } from "node:crypto";

/** A private key as vendors give it, and the key that proves its signatures. */
interface RsaPair {
  /** PKCS #8, PEM. */
  readonly privateKey: string;
  readonly publicKey: KeyObject;
}

const pairs: RsaPair[] = [];
let asked = 0;

/** A pair that differs from the one before it. */
export function nextRsaPair(): RsaPair {
  const index = asked++ % 2;
  return pairs[index] ??= make();
}

function make(): RsaPair {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { publicKey, privateKey: privateKey.export({ type: "pkcs8", format: "pem" }) as string };
}

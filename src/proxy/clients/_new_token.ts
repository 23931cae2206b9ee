/**
 * Random tokens and ids.
 * @module
 */
import { toBase64Url } from "../../util/base64.ts";
import { runtimePrefix } from "../authenticator.ts";

const tokenBytes = 32;
const idBytes = 12;

/** `mm_` and 32 random bytes, base64url. */
export function newToken(): string {
  return runtimePrefix + random(tokenBytes);
}

/** The id of a client. */
export function newClientId(): string {
  return `client_${random(idBytes)}`;
}

function random(bytes: number): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(bytes)));
}

/**
 * Ids of requests.
 * @module
 */

/**
 * The id a caller gave, when it is 1 to 128 visible ASCII characters; else a new one.
 *
 * @param given What the caller sent as `x-request-id`.
 */
export function requestIdFrom(given: string | null | undefined): string {
  return given !== null && given !== undefined && /^[\x21-\x7e]{1,128}$/.test(given) ? given : newId();
}

/** A new UUID, of version 4 (RFC 9562). */
export function newId(): string {
  if ("randomUUID" in crypto) return crypto.randomUUID();
  // a page that was not served securely has no `randomUUID`
  const bytes = (crypto as Crypto).getRandomValues(new Uint8Array(16));
  bytes[6] = bytes[6]! & 0x0f | 0x40;
  bytes[8] = bytes[8]! & 0x3f | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

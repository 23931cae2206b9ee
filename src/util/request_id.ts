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
  // a page that was not served securely has no `randomUUID`: each 0, 1 and 8 here gives way to as many random bits
  return "10000000-1000-4000-8000-100000000000".replace(/[018]/g, (digit) => {
    const [byte] = (crypto as Crypto).getRandomValues(new Uint8Array(1));
    return (Number(digit) ^ byte! & 15 >> Number(digit) / 4).toString(16);
  });
}

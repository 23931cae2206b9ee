/**
 * Ids of requests.
 * @module
 */

/** The id that the caller sent as `x-request-id`, when it is 1 to 128 visible ASCII characters; else a new one. */
export function requestIdFrom(given: string | null | undefined): string {
  return given !== null && given !== undefined && /^[\x21-\x7e]{1,128}$/.test(given) ? given : newId();
}

/** A new UUID, of version 4 (RFC 9562). */
export function newId(): string {
  if ("randomUUID" in crypto) return crypto.randomUUID();
  // a page that was not served securely has no `randomUUID`, but the addresses it gives to blobs end in one
  const address = URL.createObjectURL(new Blob());
  URL.revokeObjectURL(address);
  return address.slice(-36);
}

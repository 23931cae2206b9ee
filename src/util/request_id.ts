/**
 * Request ids.
 * @module
 */

/** Returns the caller's `x-request-id` if it is 1 to 128 visible ASCII characters, else a new id. */
export function requestIdFrom(given: string | null | undefined): string {
  return given !== null && given !== undefined && /^[\x21-\x7e]{1,128}$/.test(given) ? given : newId();
}

/** Returns a new UUID, version 4 (RFC 9562). */
export function newId(): string {
  if ("randomUUID" in crypto) return crypto.randomUUID();
  // `randomUUID` is missing in insecure contexts, but the URL of a blob ends in a UUID
  const address = URL.createObjectURL(new Blob());
  URL.revokeObjectURL(address);
  return address.slice(-36);
}

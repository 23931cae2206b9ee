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
  return given !== null && given !== undefined && /^[\x21-\x7e]{1,128}$/.test(given) ? given : crypto.randomUUID();
}

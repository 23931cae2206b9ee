// The part of @std/http/etag that this repository uses: the code is that of npm's deno-std, which has no types.

/**
 * Evaluates `If-None-Match` (RFC 9110, section 13.1.2).
 *
 * @param value The field's value; null if the request has none.
 * @param etag The current entity tag.
 * @returns false if the client has the current representation.
 */
export function ifNoneMatch(value: string | null, etag: string): boolean;

// Copyright 2018-2026 the Deno authors. MIT license.
// The types of @std/http/etag that this repository uses, as they are there.

/** Options for {@linkcode eTag}. */
export interface ETagOptions {
  /** The digest algorithm. */
  algorithm?: AlgorithmIdentifier;
  /** Override the default behavior of calculating the `ETag`, either forcing a tag to be labelled weak or not. */
  weak?: boolean;
}

/** Calculate an ETag for string or `Uint8Array` entities. */
export function eTag(
  entity: string | ReturnType<TextEncoder["encode"]>,
  options?: ETagOptions,
): Promise<string>;

/** Whether the tags of an `If-None-Match` header do not match an entity's. */
export function ifNoneMatch(value: string | null, etag: string | undefined): boolean;

/**
 * Smaller records.
 * @module
 */

import { readAll } from "../util/bytes.ts";

/** Records of ours are smaller; more than this is an attack or damage, bytes. */
const maxBytes = 64 * 1024 * 1024;

/** By the magic number of gzip. */
export function isPacked(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

export async function pack(bytes: Uint8Array): Promise<Uint8Array> {
  return await through(bytes, new CompressionStream("gzip"));
}

/**
 * Unpacks bytes.
 *
 * @throws When it is anything else, or more than fits.
 */
export async function unpack(bytes: Uint8Array): Promise<Uint8Array> {
  return await through(bytes, new DecompressionStream("gzip"));
}

async function through(
  bytes: Uint8Array,
  change: ReadableWritablePair<Uint8Array, BufferSource>,
): Promise<Uint8Array> {
  const reader = new Blob([bytes as BlobPart]).stream().pipeThrough(change).getReader();
  const tooLarge = () => new RangeError("It unpacks to more than 64 MiB");
  return await readAll(reader, { maxBytes, tooLarge });
}

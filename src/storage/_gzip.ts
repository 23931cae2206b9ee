/**
 * Smaller records.
 * @module
 */

import { readAll } from "../util/bytes.ts";

/** Nothing we keep is larger: what unpacks to more was not made by us, bytes. */
const maxBytes = 64 * 1024 * 1024;

/** Whether bytes are packed. */
export function isPacked(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** Packs bytes (gzip). */
export async function pack(bytes: Uint8Array): Promise<Uint8Array> {
  return await through(bytes, new CompressionStream("gzip"));
}

/**
 * Unpacks bytes.
 *
 * @param bytes What {@linkcode pack} made.
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

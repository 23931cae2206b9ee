/**
 * Compression of records.
 * @module
 */

import { readAll } from "./bytes.ts";

/** Maximum decompressed size, bytes. Valid records are smaller; more indicates damage or a decompression bomb. */
const maxBytes = 64 * 1024 * 1024;

/** Whether bytes start with the magic number of gzip. */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

export async function compress(bytes: Uint8Array): Promise<Uint8Array> {
  return await through(bytes, new CompressionStream("gzip"));
}

/**
 * Decompresses bytes.
 *
 * @throws If the bytes are not gzip, or exceed the maximum size.
 */
export async function decompress(bytes: Uint8Array): Promise<Uint8Array> {
  return await through(bytes, new DecompressionStream("gzip"));
}

async function through(
  bytes: Uint8Array,
  change: ReadableWritablePair<Uint8Array, BufferSource>,
): Promise<Uint8Array> {
  const reader = new Blob([bytes as BlobPart]).stream().pipeThrough(change).getReader();
  const tooLarge = () => new RangeError("It decompresses to more than 64 MiB");
  return await readAll(reader, { maxBytes, tooLarge });
}

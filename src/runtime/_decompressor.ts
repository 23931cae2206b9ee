/**
 * Decompressors of servers: those of `DecompressionStream`, which lacks formats that Node and Deno have.
 * @module
 */
import type { Decompressor } from "../contracts/runtime.ts";
import { builtin } from "./_node_builtin.ts";

/** Functions of `node:zlib` by format. Node 20 has none for zstd, and `DecompressionStream` of Node 20 none for brotli. */
const creators: ReadonlyMap<string, "createBrotliDecompress" | "createZstdDecompress"> = new Map([
  ["brotli", "createBrotliDecompress"],
  ["zstd", "createZstdDecompress"],
]);

/** Creates a decompressor; undefined if the runtime has none for the format. */
export function createDecompressor(format: string): Decompressor | undefined {
  const name = creators.get(format);
  if (name === undefined) return new DecompressionStream(format as CompressionFormat) as Decompressor;
  const create = builtin("node:zlib")[name];
  return typeof create === "function" ? builtin("node:stream").Duplex.toWeb(create()) as Decompressor : undefined;
}

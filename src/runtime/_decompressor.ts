/**
 * Decompressors of servers: those of `DecompressionStream`, which lacks formats that Node and Deno have.
 * @module
 */
import type { Transform } from "node:stream";
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
  return typeof create === "function" ? toWebStreams(create()) : undefined;
}

/**
 * Converts a transform of Node. `Duplex.toWeb` of Deno 2.9 throws outside of any promise, which ends the process, when
 * the reader cancels while data arrive.
 */
function toWebStreams(transform: Transform): Decompressor {
  let isOver = false;
  let rejectWrite: ((reason: unknown) => void) | undefined;
  const end = (settle: () => void, reason?: unknown) => {
    if (isOver) return;
    isOver = true;
    settle();
    rejectWrite?.(reason);
    transform.destroy();
  };
  transform.pause(); // data are pulled
  const readable = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      const fail = (error: unknown) => end(() => controller.error(error), error);
      transform.on("data", (chunk: Uint8Array<ArrayBuffer>) => {
        if (isOver) return;
        transform.pause();
        controller.enqueue(chunk);
      });
      transform.on("end", () => end(() => controller.close(), cancelled()));
      transform.on("error", fail);
      transform.on("close", () => fail(cancelled()));
    },
    pull: () => void transform.resume(),
    cancel: () => end(() => {}, cancelled()),
  }, { highWaterMark: 0 });
  const write = (begin: (done: (error?: Error | null) => void) => void) =>
    new Promise<void>((resolve, reject) => {
      if (isOver) return reject(cancelled());
      rejectWrite = reject;
      begin((error) => error ? reject(error) : resolve());
    });
  const writable = new WritableStream<Uint8Array<ArrayBuffer>>({
    write: (chunk) => write((done) => transform.write(chunk, done)),
    close: () => write((done) => transform.end(done)),
    abort: () => void transform.destroy(),
  });
  return { readable, writable };
}

function cancelled(): Error {
  return new Error("The decompressor was cancelled");
}

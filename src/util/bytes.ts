/**
 * Bytes that arrive in chunks, and bodies read within a limit.
 * @module
 */
import type { UpstreamResponse } from "../contracts/runtime.ts";

/** All chunks in a row; a single one as it is. */
export function concat(chunks: readonly Uint8Array[]): Uint8Array {
  if (chunks.length === 1) return chunks[0]!;
  const bytes = new Uint8Array(chunks.reduce((size, { length }) => size + length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

/** How much may be read. */
export interface ReadLimit {
  /** Largest size, bytes. */
  readonly maxBytes: number;
  /** Makes the error for more than that. */
  readonly tooLarge: () => Error;
}

/** What chunks are read from: a `BodyReader`, or a reader of the Streams standard. */
export interface ChunkReader {
  /** The next chunk. */
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array }>;
  /** Ends the source. */
  cancel(): Promise<void>;
}

/**
 * Reads to the end.
 *
 * @param reader Where the chunks come from; null for an empty body.
 * @param limit What is read at most; the source is ended at more.
 */
export async function readAll(reader: ChunkReader | null, { maxBytes, tooLarge }: ReadLimit): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader?.read() ?? { done: true };
    if (done || value === undefined) return concat(chunks);
    size += value.length;
    if (size > maxBytes) {
      await reader!.cancel().catch(() => {}); // the caller needs the reason, not whether the source could be ended
      throw tooLarge();
    }
    chunks.push(value);
  }
}

/**
 * Reads the whole body of a response.
 *
 * @param response Its body has not been read yet.
 * @param limit What is read at most.
 */
export async function readBody(response: UpstreamResponse, limit: ReadLimit): Promise<Uint8Array> {
  // a declared and small size needs no counting
  const declared = Number(response.headers.get("content-length") ?? Infinity);
  if (response.bytes !== undefined && declared <= limit.maxBytes) return await response.bytes();
  return await readAll(response.reader(), limit);
}

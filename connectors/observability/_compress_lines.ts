/**
 * Compression of a batch of lines, without blocking the event loop for long.
 * @module
 */
import type { Clock } from "../../src/contracts/runtime.ts";
import { readAll } from "../../src/util/bytes.ts";

/** Length of the text that is compressed in one turn of the event loop, characters: about two milliseconds of work. */
const sliceLength = 65_536;

/** Compresses lines in slices. Between slices, other work of the process proceeds: the runtime may compress synchronously. */
export async function compressLines(lines: readonly string[], clock: Pick<Clock, "after">): Promise<{
  readonly bytes: Uint8Array;
  /** Size before compression, bytes. */
  readonly size: number;
}> {
  const { readable, writable } = new CompressionStream("gzip");
  const writer = writable.getWriter();
  const write = async () => {
    let size = 0;
    for (const slice of toSlices(lines)) {
      if (size > 0) await new Promise<void>((resolve) => void clock.after(0, resolve));
      const bytes = new TextEncoder().encode(slice);
      size += bytes.length;
      await writer.write(bytes);
    }
    await writer.close();
    return size;
  };
  const tooLarge = () => new RangeError("The compressed lines are too large");
  const [size, bytes] = await Promise.all([
    write(),
    readAll(readable.getReader(), { maxBytes: Infinity, tooLarge }),
  ]);
  return { bytes, size };
}

function* toSlices(lines: readonly string[]): Iterable<string> {
  let slice = "";
  for (const line of lines) {
    if (slice.length > 0 && slice.length + line.length > sliceLength) {
      yield slice;
      slice = "";
    }
    slice += line;
  }
  if (slice.length > 0) yield slice;
}

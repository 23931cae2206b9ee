/**
 * Records as server-sent events.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import type { PlainStream } from "../../contracts/shell.ts";
import type { OwnedRecord, RecordSource } from "./record_ring.ts";

/** Interval of comments while there are no records, ms. */
const commentMs = 15_000;

/** Interval of checks whether the proxy stops, ms. */
const checkIntervalMs = 1_000;

/** Options of a record stream. */
interface RecordStreamOptions {
  readonly clock: Clock;
  /** The id of the last record that the reader has; undefined requests only new records. */
  readonly after: number | undefined;
  readonly isVisible: (record: OwnedRecord) => boolean;
  /** Whether the proxy stops; the stream then ends. */
  readonly isStopping: () => boolean;
}

/** Streams stored records after an id, a comment, then new records. A slow reader misses some. */
export function recordStream(
  source: RecordSource,
  { clock, after, isVisible, isStopping }: RecordStreamOptions,
): PlainStream {
  let last: number | null = after ?? null;
  let writtenAt: number | undefined;
  const leaving = new AbortController();
  const { signal } = leaving;
  const left = new Promise<undefined>((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
  const read = async (): Promise<string | undefined> => {
    while (!signal.aborted && !isStopping()) {
      const waitMs = writtenAt === undefined ? 0 : checkIntervalMs;
      const page = await Promise.race([source.next(last, { waitMs, signal }), left]);
      if (page === undefined || isStopping()) return undefined; // visibility may have changed meanwhile
      last = page.latest;
      const text = page.records.filter(([, record]) => isVisible(record)).map(lineOf).join("");
      const now = clock.monotonic();
      const isFirst = writtenAt === undefined;
      if (text === "" && !isFirst && now - writtenAt! < commentMs) continue;
      writtenAt = now;
      return isFirst || text === "" ? `${text}:\n\n` : text;
    }
    return undefined;
  };
  return { read, cancel: () => leaving.abort() };
}

function lineOf([id, record]: readonly [number, OwnedRecord]): string {
  return `id: ${id}\ndata: ${JSON.stringify(record)}\n\n`;
}

/**
 * Records as server-sent events.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import type { PlainStream } from "../../contracts/shell.ts";
import type { OwnedRecord, RecordPage, RecordSource } from "./record_ring.ts";

/** Interval of comments while there are no records, ms. */
const commentMs = 15_000;

/** Interval of checks whether the proxy stops, ms. */
const checkIntervalMs = 1_000;

/** Maximum size of the records that are sent at once, so that a reader which does not read occupies no more, characters. */
const maxChars = 64 * 1024;

/** Options of a record stream. */
interface RecordStreamOptions {
  readonly clock: Clock;
  /** The id of the last record that the reader has; undefined requests only new records. */
  readonly after: number | undefined;
  readonly isVisible: (record: OwnedRecord) => boolean;
  /** Whether the proxy stops; the stream then ends. */
  readonly isStopping: () => boolean;
  /** Called once, at the end of the stream. */
  readonly onEnd?: () => void;
}

/** Streams stored records after an id, a comment, then new records. A slow reader misses some. */
export function recordStream(
  source: RecordSource,
  { clock, after, isVisible, isStopping, onEnd = () => {} }: RecordStreamOptions,
): PlainStream {
  let last: number | null = after ?? null;
  let writtenAt: number | undefined;
  const leaving = new AbortController();
  const { signal } = leaving;
  const left = new Promise<undefined>((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
  signal.addEventListener("abort", onEnd);
  const next = async (): Promise<string | undefined> => {
    while (!signal.aborted && !isStopping()) {
      const waitMs = writtenAt === undefined ? 0 : checkIntervalMs;
      const page = await Promise.race([source.next(last, { waitMs, signal }), left]);
      if (page === undefined || isStopping()) return undefined; // visibility may have changed meanwhile
      const { lines, end } = takeLines(page, isVisible);
      last = end;
      const now = clock.monotonic();
      const isFirst = writtenAt === undefined;
      if (lines === "" && !isFirst && now - writtenAt! < commentMs) continue;
      writtenAt = now;
      return isFirst || lines === "" ? `${lines}:\n\n` : lines;
    }
    return undefined;
  };
  return {
    async read() {
      let text: string | undefined;
      try {
        return text = await next();
      } finally {
        if (text === undefined) leaving.abort();
      }
    },
    cancel: () => leaving.abort(),
  };
}

/** Returns the first records of a page that may be sent at once, and the id of the last one that was considered. */
function takeLines({ latest, records }: RecordPage, isVisible: RecordStreamOptions["isVisible"]) {
  let lines = "";
  for (const [index, [id, record]] of records.entries()) {
    if (isVisible(record)) lines += toEventLine([id, record]);
    if (lines.length >= maxChars && index < records.length - 1) return { lines, end: id };
  }
  return { lines, end: latest };
}

function toEventLine([id, record]: readonly [number, OwnedRecord]): string {
  return `id: ${id}\ndata: ${JSON.stringify(record)}\n\n`;
}

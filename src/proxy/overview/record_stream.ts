/**
 * Records as server-sent events.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import type { PlainStream } from "../../contracts/shell.ts";
import type { OwnedRecord, RecordSource } from "./record_ring.ts";

/** A comment is sent so often where nothing happens, ms. */
const commentMs = 15_000;

/** So often a stream looks whether the proxy stops, ms. */
const checkIntervalMs = 1_000;

/** How records are streamed. */
interface RecordStreamOptions {
  readonly clock: Clock;
  /** The id of the last record that the reader has; undefined: only new ones. */
  readonly after: number | undefined;
  readonly isVisible: (record: OwnedRecord) => boolean;
  /** Whether the proxy stops: the stream ends then. */
  readonly isStopping: () => boolean;
}

/** Those kept after an id and a comment, then those that come. A reader that is too slow misses some. */
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
      if (page === undefined || isStopping()) return undefined; // what is visible may have changed meanwhile
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

/**
 * File watcher that polls the text of a file. Polling works with editors that write in place, editors that replace the
 * file, and symbolic links that change.
 * @module
 */
import type { Cancel, Clock, FileSystem } from "../contracts/runtime.ts";

/**
 * Polling interval, ms. A change is reported once two polls read the same text, since an editor may still be writing.
 */
const pollIntervalMs = 400;

/**
 * Watches a text until cancelled.
 *
 * @param read Returns the text; undefined while it cannot be read, which is not a change.
 */
export function watchText(
  read: () => Promise<string | undefined>,
  { clock, initial, onChange }: {
    readonly clock: Pick<Clock, "every">;
    /** Last known text; undefined if it could not be read. */
    readonly initial: string | undefined;
    /** Called with each changed text, once. */
    readonly onChange: (text: string) => void;
  },
): Cancel {
  let current = initial;
  let candidate: string | undefined;
  return clock.every(pollIntervalMs, async () => {
    const text = await read();
    const isSettled = text !== undefined && text !== current && text === candidate;
    candidate = text === current ? undefined : text;
    if (!isSettled) return;
    current = text;
    onChange(text);
  });
}

/** Reads a file; undefined when it cannot be read. */
export async function readIfPresent(path: string, files: Pick<FileSystem, "readText">): Promise<string | undefined> {
  try {
    return await files.readText(path);
  } catch {
    return undefined;
  }
}

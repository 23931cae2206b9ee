/**
 * A file watcher that polls the file's text. Polling sees editors that write in place, editors that replace the file,
 * and symbolic links that change.
 * @module
 */
import type { Cancel, Clock, FileSystem } from "../contracts/runtime.ts";

/** A changed text counts once two polls read the same: an editor may be in the middle of writing it before. */
const pollIntervalMs = 400;

interface FileWatcherOptions {
  readonly files: Pick<FileSystem, "readText">;
  readonly clock: Pick<Clock, "every">;
  /** The text read last; undefined when the file could not be read. */
  readonly known: string | undefined;
  /** Called once for each changed text. */
  readonly onChange: () => void;
}

/** Calls back when a file's text has changed, until cancelled. A file that is missing for a while has not changed. */
export function watchFile(path: string, { files, clock, known, onChange }: FileWatcherOptions): Cancel {
  let current = known;
  let candidate: string | undefined;
  return clock.every(pollIntervalMs, async () => {
    const text = await readIfPresent(path, files);
    const isSettled = text !== undefined && text !== current && text === candidate;
    candidate = text === current ? undefined : text;
    if (!isSettled) return;
    current = text;
    onChange();
  });
}

/** A file's text; undefined when it cannot be read. */
export async function readIfPresent(path: string, files: Pick<FileSystem, "readText">): Promise<string | undefined> {
  try {
    return await files.readText(path);
  } catch {
    return undefined;
  }
}

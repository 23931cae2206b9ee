/**
 * A watcher of files that polls their text. Polling sees editors that write in place, editors that replace the file,
 * and symbolic links that change.
 * @module
 */
import type { Cancel, Clock, FileSystem } from "../contracts/runtime.ts";

/** A changed text counts once two polls read the same: an editor may be in the middle of writing it before. */
const pollIntervalMs = 400;

interface TextWatcherOptions {
  readonly clock: Pick<Clock, "every">;
  /** The text read last; undefined when it could not be read. */
  readonly known: string | undefined;
  /** Called once for each changed text, with it. */
  readonly onChange: (text: string) => void;
}

/**
 * Calls back when a text has changed, until cancelled.
 *
 * @param read Undefined while it cannot be read, which is no change.
 */
export function watchText(
  read: () => Promise<string | undefined>,
  { clock, known, onChange }: TextWatcherOptions,
): Cancel {
  let current = known;
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

/** A file's text; undefined when it cannot be read. */
export async function readIfPresent(path: string, files: Pick<FileSystem, "readText">): Promise<string | undefined> {
  try {
    return await files.readText(path);
  } catch {
    return undefined;
  }
}

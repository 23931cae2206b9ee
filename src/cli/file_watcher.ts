/**
 * Notices that a file has another text. It is read again and again, which tells alike of editors that write in place, of
 * those that put a new file there, and of links that lead elsewhere.
 * @module
 */
import type { Cancel, Clock, FileSystem } from "../contracts/runtime.ts";

/** How often it is read, ms. A text counts once it is read twice alike: nobody is in the middle of writing it then. */
const pollIntervalMs = 400;

/** What a file is watched with. */
export interface FileWatcherOptions {
  readonly files: Pick<FileSystem, "readText">;
  readonly clock: Pick<Clock, "every">;
  /** The text that is known; undefined when there was none to read. */
  readonly known: string | undefined;
  /** Told of each other text, once. */
  readonly onChange: () => void;
}

/**
 * Watches a file. One that is away for a while has not changed.
 *
 * @param path Its path.
 * @param options What with.
 */
export function watchFile(path: string, { files, clock, known, onChange }: FileWatcherOptions): Cancel {
  let current = known;
  let fresh: string | undefined;
  return clock.every(pollIntervalMs, async () => {
    const text = await readIfPresent(path, files);
    const isSettled = text !== undefined && text !== current && text === fresh;
    fresh = text === current ? undefined : text;
    if (!isSettled) return;
    current = text;
    onChange();
  });
}

/**
 * A file's text; undefined when it cannot be read.
 *
 * @param path Its path.
 * @param files Where it is.
 */
export async function readIfPresent(path: string, files: Pick<FileSystem, "readText">): Promise<string | undefined> {
  try {
    return await files.readText(path);
  } catch {
    return undefined;
  }
}

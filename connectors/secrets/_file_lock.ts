/**
 * One process at a time changes a file.
 * @module
 */
import type { Clock, FileSystem } from "../../src/contracts/runtime.ts";
import { SecretFileError } from "./_secret_file_error.ts";

/** Who waits looks again after this time, ms. */
const pauseMs = 25;
/** A change takes a second at the most: a lock this old belongs to a process that was killed, ms. */
const staleMs = 10_000;
/** Longest wait, ms. */
const maxWaitMs = 30_000;

/**
 * Does something while no other process does it to the same file. The lock is a file beside it, which says since when.
 *
 * @param path The file that is changed.
 * @param parts Files, and a clock.
 * @param task What is done.
 * @throws {SecretFileError} When others go on changing it.
 */
export async function withFileLock<Result>(
  path: string,
  parts: { readonly files: FileSystem; readonly clock: Clock },
  task: () => Promise<Result>,
): Promise<Result> {
  const { files, clock } = parts;
  const lock = `${path}.lock`;
  const from = clock.monotonic();
  while (!(await take(lock, parts))) {
    if (clock.monotonic() - from > maxWaitMs) {
      throw new SecretFileError(`another process is changing it; if there is none, remove "${lock}"`);
    }
    await clock.sleep(pauseMs);
  }
  try {
    return await task();
  } finally {
    await files.remove(lock);
  }
}

async function take(
  lock: string,
  { files, clock }: { readonly files: FileSystem; readonly clock: Clock },
): Promise<boolean> {
  try {
    await files.writeText(lock, String(clock.now()), { createNew: true });
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code !== "EEXIST") throw error;
  }
  const since = Number(await files.readText(lock).catch(() => "")); // it may be gone by now
  if (since > 0 && Math.abs(clock.now() - since) > staleMs) await files.remove(lock);
  return false;
}

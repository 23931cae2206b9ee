/**
 * Replaces files atomically, and removes files.
 * @module
 */
import { builtin } from "./_node_builtin.ts";

/**
 * Writes a temporary file and renames it, so that readers find either the old or the new content. A link remains a
 * link.
 */
export async function replaceText(path: string, text: string): Promise<void> {
  const { promises: files } = builtin("node:fs");
  const target = await files.realpath(path).catch(() => path);
  const known = await files.stat(target).catch(() => undefined);
  const draft = `${target}.${crypto.randomUUID()}.tmp`;
  try {
    const file = await files.open(draft, "wx", 0o600);
    try {
      if (known !== undefined) await file.chmod(known.mode & 0o777);
      await file.writeFile(text);
      await file.sync(); // otherwise a system crash may leave an empty file
    } finally {
      await file.close();
    }
    await files.rename(draft, target);
  } catch (error) {
    await files.rm(draft, { force: true }).catch(() => {});
    throw error;
  }
}

/** Removes a file; a missing file is not an error. */
export async function removeFile(path: string): Promise<void> {
  await builtin("node:fs").promises.rm(path, { force: true });
}

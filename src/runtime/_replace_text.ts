/**
 * Replacing a file whole or not at all; removing one.
 * @module
 */
import { builtin } from "./_node_builtin.ts";

/**
 * Writes a text beside the file and moves it there, so that readers find the old text or the new one. A link goes on
 * being one.
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
      await file.sync(); // else a crash of the machine may leave the new name with nothing in it
    } finally {
      await file.close();
    }
    await files.rename(draft, target);
  } catch (error) {
    await files.rm(draft, { force: true }).catch(() => {});
    throw error;
  }
}

/** Removes a file; a missing one is no error. */
export async function removeFile(path: string): Promise<void> {
  await builtin("node:fs").promises.rm(path, { force: true });
}

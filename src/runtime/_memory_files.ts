/**
 * Files for tests.
 * @module
 */
import type { FileSystem } from "../contracts/runtime.ts";

/** Files in memory. */
export class MemoryFiles implements FileSystem {
  /** Contents by path. */
  readonly contents: Map<string, string>;

  /** @param files Contents by path. */
  constructor(files: Readonly<Record<string, string>> = {}) {
    this.contents = new Map(Object.entries(files));
  }

  /** Reads a file. */
  readText(path: string): Promise<string> {
    const text = this.contents.get(path);
    return text === undefined ? Promise.reject(fileError("ENOENT", path)) : Promise.resolve(text);
  }

  /** Writes a file. */
  writeText(path: string, text: string, options: { createNew?: boolean } = {}): Promise<void> {
    if (options.createNew && this.contents.has(path)) return Promise.reject(fileError("EEXIST", path));
    this.contents.set(path, text);
    return Promise.resolve();
  }

  /** Writes a file. */
  replaceText(path: string, text: string): Promise<void> {
    return this.writeText(path, text);
  }

  /** Removes a file, if it exists. */
  remove(path: string): Promise<void> {
    this.contents.delete(path);
    return Promise.resolve();
  }
}

function fileError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}

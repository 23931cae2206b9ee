/**
 * Atomic file operations, and what they leave to others: replacing a text, removing a
 * file, loading downloaded modules, which are written to files and imported.
 * @module
 */
import type { Disk, ModuleLoader } from "../contracts/runtime.ts";
import { builtin } from "./_node_builtin.ts";

/**
 * Writes a temporary file and renames it, so that readers find either the old or the new content. A link remains a
 * link.
 */
export async function replaceText(path: string, text: string): Promise<void> {
  const { promises: files } = builtin("node:fs");
  const target = await files.realpath(path).catch(() => path);
  const info = await files.stat(target).catch(() => undefined);
  const draft = `${target}.${crypto.randomUUID()}.tmp`;
  try {
    const file = await files.open(draft, "wx", 0o600);
    try {
      if (info !== undefined) await file.chmod(info.mode & 0o777);
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

/** The used part of `node:fs/promises`, which tests replace. */
export type DiskCalls = Pick<
  typeof import("node:fs").promises,
  | "chmod"
  | "link"
  | "lstat"
  | "mkdir"
  | "open"
  | "readdir"
  | "readFile"
  | "realpath"
  | "rename"
  | "rm"
  | "stat"
  | "utimes"
>;

/**
 * The file system of this machine. Data is written to a temporary file, flushed, and renamed. Then the folder is
 * flushed, since a system crash may undo the rename otherwise.
 *
 * @param callsOf Called by each operation, not earlier.
 */
export function disk(callsOf: () => DiskCalls = () => builtin("node:fs").promises): Disk {
  return {
    read: async (path) => {
      const data = await unlessMissing(callsOf().readFile(path));
      return data && Uint8Array.from(data); // Node's buffers share their memory
    },
    replace: (path, data, options) => replace(callsOf(), path, { data, modifiedAt: options?.modifiedAt }),
    create: (path, data) => create(callsOf(), path, data),
    append: (path, data) => append(callsOf(), path, data),
    rename: (path, to) => rename(callsOf(), path, to),
    remove: async (path) => await unlessMissing(callsOf().rm(path).then(() => true)) ?? false,
    list: async (folder) => {
      const entries = await unlessMissing(callsOf().readdir(folder, { withFileTypes: true })) ?? [];
      return entries.map((entry) => entry.isDirectory() ? `${entry.name}/` : entry.name);
    },
    stat: async (path) => {
      const found = await unlessMissing(callsOf().stat(path));
      return found && { size: found.size, modifiedAt: Math.round(found.mtimeMs) };
    },
  };
}

/** Renames a regular file. A link, or a device such as `/dev/stdout`, keeps its name. */
async function rename(calls: DiskCalls, path: string, to: string): Promise<boolean> {
  const info = await unlessMissing(calls.lstat(path));
  if (info === undefined) return false;
  if (!info.isFile()) throw notRegular();
  return await unlessMissing(calls.rename(path, to).then(() => true)) ?? false;
}

function notRegular(): Error {
  return Object.assign(new Error("not a regular file"), { code: "EINVAL" });
}

async function replace(
  calls: DiskCalls,
  path: string,
  { data, modifiedAt }: { readonly data: Uint8Array; readonly modifiedAt?: number },
): Promise<void> {
  const target = await calls.realpath(path).catch(() => path); // a link remains a link
  const info = await unlessMissing(calls.stat(target));
  // the operating system rejects the replacement of a folder
  if (info?.isFile() === false && !info.isDirectory()) throw notRegular();
  await withDraft(calls, target, {
    data,
    publish: async (draft) => {
      if (info !== undefined) await calls.chmod(draft, info.mode & 0o777);
      if (modifiedAt !== undefined) await calls.utimes(draft, modifiedAt / 1000, modifiedAt / 1000);
      await calls.rename(draft, target);
    },
  });
  await flushFolder(calls, target);
}

/** A hard link creates a file atomically, and fails if there is one. */
async function create(calls: DiskCalls, path: string, data: Uint8Array): Promise<boolean> {
  let isNew = true;
  await withDraft(calls, path, {
    data,
    publish: async (draft) => {
      try {
        await calls.link(draft, path);
      } catch (error) {
        if (readErrorCode(error) !== "EEXIST") throw error;
        isNew = false;
      }
      await calls.rm(draft, { force: true });
    },
  });
  return isNew;
}

async function append(calls: DiskCalls, path: string, data: Uint8Array): Promise<number> {
  const file = await openNew(calls, path, "a");
  try {
    await file.writeFile(data);
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}

/** Writes and flushes a temporary file, and removes it if publishing it fails. */
async function withDraft(
  calls: DiskCalls,
  path: string,
  { data, publish }: { readonly data: Uint8Array; readonly publish: (draft: string) => Promise<void> },
): Promise<void> {
  const draft = `${path}~${crypto.randomUUID()}.tmp`;
  try {
    const file = await openNew(calls, draft);
    try {
      await file.writeFile(data);
      await file.sync();
    } finally {
      await file.close();
    }
    await publish(draft);
  } catch (error) {
    await calls.rm(draft, { force: true }).catch(() => {});
    throw error;
  }
}

async function openNew(calls: DiskCalls, path: string, flags = "wx"): ReturnType<DiskCalls["open"]> {
  try {
    return await calls.open(path, flags, 0o600);
  } catch (error) {
    if (readErrorCode(error) !== "ENOENT") throw error;
    await calls.mkdir(getFolder(path), { recursive: true, mode: 0o700 });
    return await calls.open(path, flags, 0o600);
  }
}

async function flushFolder(calls: DiskCalls, path: string): Promise<void> {
  try {
    const folder = await calls.open(getFolder(path), "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  } catch {
    // Windows does not flush folders; the file itself has been written
  }
}

function getFolder(path: string): string {
  return /^(.*[\\/])[^\\/]*$/.exec(path)?.[1] ?? ".";
}

async function unlessMissing<Value>(work: Promise<Value>): Promise<Value | undefined> {
  try {
    return await work;
  } catch (error) {
    if (readErrorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

function readErrorCode(error: unknown): unknown {
  return Object(error).code;
}

/** Loads modules from the user's cache folder. */
export function moduleLoader(env: (name: string) => string | undefined): ModuleLoader {
  return {
    readBytes: async (path) => new Uint8Array(await builtin("node:fs").promises.readFile(path)),
    async importFrom(files, { key, entry }) {
      const { join } = builtin("node:path");
      const { mkdir } = builtin("node:fs").promises;
      const folder = join(cacheFolder(env), "packages", key);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      for (const [path, bytes] of files) await putFile(join(folder, path), bytes);
      await putFile(join(folder, "package.json"), new TextEncoder().encode('{"type":"module"}\n')); // required by Node
      return await import(builtin("node:url").pathToFileURL(join(folder, entry)).href);
    },
  };
}

function cacheFolder(env: (name: string) => string | undefined): string {
  const { join } = builtin("node:path");
  const own = env("MODELMESH_CACHE");
  if (own !== undefined) return own;
  const home = env("HOME");
  const shared = env("XDG_CACHE_HOME") ?? env("LOCALAPPDATA") ??
    (home === undefined ? undefined : join(home, ".cache"));
  return shared === undefined ? temporaryFolder() : join(shared, "modelmesh");
}

let temporary: string | undefined;

/** A folder with a random name, since another user may have written to a predictable one. */
function temporaryFolder(): string {
  const { join } = builtin("node:path");
  return temporary ??= builtin("node:fs").mkdtempSync(join(builtin("node:os").tmpdir(), "modelmesh-"));
}

/** Writes a file atomically, since another process may load the same package. */
async function putFile(path: string, bytes: Uint8Array): Promise<void> {
  const { mkdir, readFile, rename, writeFile } = builtin("node:fs").promises;
  const present = await readFile(path).catch(() => undefined);
  if (present !== undefined && present.equals(bytes)) return;
  await mkdir(builtin("node:path").dirname(path), { recursive: true });
  const draft = `${path}.${crypto.randomUUID()}.tmp`;
  await writeFile(draft, bytes, { flag: "wx", mode: 0o600 });
  await rename(draft, path);
}

/**
 * Loads downloaded modules, which are written to files and imported.
 * @module
 */
import type { ModuleLoader } from "../contracts/runtime.ts";
import { builtin } from "./_node_builtin.ts";

/** Loads modules from the user's cache folder. */
export function moduleLoader(env: (name: string) => string | undefined): ModuleLoader {
  return {
    readBytes: async (path) => new Uint8Array(await builtin("node:fs").promises.readFile(path)),
    async importFrom(files, { key, entry }) {
      const { join } = builtin("node:path");
      const { mkdir } = builtin("node:fs").promises;
      const folder = join(cacheFolder(env), "packages", key);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      for (const [path, bytes] of files) await put(join(folder, path), bytes);
      await put(join(folder, "package.json"), new TextEncoder().encode('{"type":"module"}\n')); // required by Node
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
async function put(path: string, bytes: Uint8Array): Promise<void> {
  const { mkdir, readFile, rename, writeFile } = builtin("node:fs").promises;
  const present = await readFile(path).catch(() => undefined);
  if (present !== undefined && present.equals(bytes)) return;
  await mkdir(builtin("node:path").dirname(path), { recursive: true });
  const draft = `${path}.${crypto.randomUUID()}.tmp`;
  await writeFile(draft, bytes, { flag: "wx", mode: 0o600 });
  await rename(draft, path);
}

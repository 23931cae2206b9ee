/**
 * Unpacks a connector package: an untrusted ZIP archive.
 * @module
 */
import { ConnectorError } from "../errors.ts";
import { readEntries, unpackEntry, type ZipEntry } from "./_zip.ts";

/** Maximum unpacked size, bytes. */
export const maxBytes = 67_108_864;

const maxFiles = 1_000;

/**
 * Unpacks an archive. Validates the declared entries before unpacking anything, and each unpacked file against its
 * declaration.
 *
 * @param name Name of the package, for error messages.
 * @returns Files by path; directories are omitted.
 * @throws {ConnectorError} When it is not a ZIP archive, exceeds a limit, contains a path outside it, or does not match
 * its declarations.
 */
export async function unpack(bytes: Uint8Array, name: string): Promise<ReadonlyMap<string, Uint8Array>> {
  const refusal = (reason: string) => new ConnectorError(`The connector package ${name} is refused: ${reason}`);
  const files = new Map<string, Uint8Array>();
  try {
    const entries = readEntries(bytes);
    const reason = refusalReason(entries);
    if (reason !== undefined) throw refusal(reason);
    for (const entry of entries) {
      if (entry.path.endsWith("/")) continue;
      const content = await unpackEntry(bytes, entry);
      if (content === undefined) {
        throw refusal(`its entry ${quotePath(entry.path)} does not match its declared size or checksum`);
      }
      files.set(entry.path, content);
    }
    return files;
  } catch (error) {
    if (ConnectorError.isInstance(error)) throw error;
    throw refusal("it is not a ZIP archive, or is damaged");
  }
}

/** Returns why the declared entries are invalid. */
function refusalReason(entries: readonly ZipEntry[]): string | undefined {
  if (entries.length > maxFiles) return `it contains more than ${maxFiles} files`;
  const seen = new Set<string>();
  let total = 0;
  for (const { path, size } of entries) {
    total += size;
    if (total > maxBytes) return "it is over 64 MiB when unpacked";
    if (reachesOut(path)) return `its entry ${quotePath(path)} is a path outside it`;
    const key = path.toLowerCase(); // on a case-insensitive file system they are one file
    if (seen.has(key)) return `it contains ${quotePath(path)} twice`;
    seen.add(key);
  }
}

function quotePath(path: string): string {
  return JSON.stringify(path.slice(0, 80));
}

function reachesOut(path: string): boolean {
  // deno-lint-ignore no-control-regex
  if (/^[/~]|[\\:\x00-\x1f]/.test(path) || path.length > 200) return true;
  return path.replace(/\/$/, "").split("/").some((part) => part === "" || part === "." || part === "..");
}

/**
 * Unpacking a connector package: a zip archive that may come from anywhere.
 * @module
 */
import { ConnectorError } from "../errors.ts";
import { contentOf, readEntries, type ZipEntry } from "./_zip.ts";

/** Unpacked, bytes. */
export const maxBytes = 67_108_864;

const maxFiles = 1_000;

/**
 * Unpacks an archive. What it claims to hold is looked at before any of it is unpacked, and each file has to be what the
 * archive claims of it.
 *
 * @returns Files by path, without folders.
 * @throws {ConnectorError} For what is no archive, too much, reaches out of the archive, or is not what it claims.
 */
export async function unpack(bytes: Uint8Array, name: string): Promise<ReadonlyMap<string, Uint8Array>> {
  const refusal = (why: string) => new ConnectorError(`The connector package ${name} is refused: ${why}`);
  const files = new Map<string, Uint8Array>();
  try {
    const entries = readEntries(bytes);
    const why = whyRefused(entries);
    if (why !== undefined) throw refusal(why);
    for (const entry of entries) {
      if (entry.path.endsWith("/")) continue;
      const content = await contentOf(bytes, entry);
      if (content === undefined) {
        throw refusal(`its entry ${quoted(entry.path)} has not the size or checksum it claims`);
      }
      files.set(entry.path, content);
    }
    return files;
  } catch (error) {
    if (ConnectorError.isInstance(error)) throw error;
    throw refusal("it is no zip archive, or a damaged one");
  }
}

/** What is wrong with what an archive claims to hold. */
function whyRefused(entries: readonly ZipEntry[]): string | undefined {
  if (entries.length > maxFiles) return `it holds more than ${maxFiles} files`;
  const seen = new Set<string>();
  let total = 0;
  for (const { path, size } of entries) {
    total += size;
    if (total > maxBytes) return "it is over 64 MiB when unpacked";
    if (reachesOut(path)) return `its entry ${quoted(path)} is no path inside it`;
    const key = path.toLowerCase(); // the same file where the case of names does not count
    if (seen.has(key)) return `it holds ${quoted(path)} twice`;
    seen.add(key);
  }
}

function quoted(path: string): string {
  return JSON.stringify(path.slice(0, 80));
}

function reachesOut(path: string): boolean {
  // deno-lint-ignore no-control-regex
  if (/^[/~]|[\\:\x00-\x1f]/.test(path) || path.length > 200) return true;
  return path.replace(/\/$/, "").split("/").some((part) => part === "" || part === "." || part === "..");
}

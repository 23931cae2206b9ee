/**
 * Unpacking a connector package: a zip archive that may come from anywhere.
 * @module
 */
import { ConnectorError } from "../errors.ts";

/** Most that an archive may hold, unpacked, bytes. */
export const mostBytes = 67_108_864;

/** Most files that it may hold. */
const mostFiles = 1_000;

/**
 * Unpacks an archive. What it claims to hold is looked at before any of it is unpacked, and none gets more room than it
 * has claimed.
 *
 * @param bytes The archive.
 * @param name What it is called, for messages.
 * @returns Files by their path, folders left out.
 * @throws {ConnectorError} For what is no archive, too much, or reaches out of the archive.
 */
export async function unpack(bytes: Uint8Array, name: string): Promise<ReadonlyMap<string, Uint8Array>> {
  const { unzipSync } = await loadUnzip();
  const refuse = (why: string): never => {
    throw new ConnectorError(`The connector package ${name} is refused: ${why}`);
  };
  const seen = new Set<string>();
  let size = 0;
  const admit = ({ name: path, originalSize }: { name: string; originalSize: number }) => {
    if (seen.size === mostFiles) refuse(`it holds more than ${mostFiles} files`);
    size += originalSize;
    if (!(size <= mostBytes)) refuse("it is over 64 MiB when unpacked");
    if (reachesOut(path)) refuse(`its entry ${JSON.stringify(path.slice(0, 80))} is no path inside it`);
    const key = path.toLowerCase(); // the same file where the case of names does not count
    if (seen.has(key)) refuse(`it holds ${JSON.stringify(path.slice(0, 80))} twice`);
    seen.add(key);
    return !path.endsWith("/");
  };
  try {
    return new Map(Object.entries(unzipSync(bytes, { filter: admit })));
  } catch (error) {
    if (ConnectorError.isInstance(error)) throw error;
    return refuse("it is no zip archive, or a damaged one");
  }
}

function reachesOut(path: string): boolean {
  // deno-lint-ignore no-control-regex
  if (/^[/~]|[\\:\x00-\x1f]/.test(path) || path.length > 200) return true;
  return path.replace(/\/$/, "").split("/").some((part) => part === "" || part === "." || part === "..");
}

async function loadUnzip() {
  try {
    // deno-lint-ignore no-import-prefix -- an entry of `imports` would be downloaded before every task
    return await import("npm:fflate@0.8.3");
  } catch (error) {
    const message = 'Connector packages need the package "fflate", which is not installed: npm install fflate';
    throw new ConnectorError(message, error);
  }
}

/**
 * Unpacks a connector package: an untrusted ZIP archive, read by its central directory.
 *
 * Source: PKWARE APPNOTE 6.3.10, sections 4.3 and 4.4. Encryption, multiple disks and Zip64 are not supported.
 * @module
 */
import { ConnectorError } from "../errors.ts";
import { concat } from "../util/bytes.ts";

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

const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
const localSignature = 0x04034b50;
const endLength = 22;
const entryLength = 46;
const localLength = 30;
const maxCommentLength = 0xffff;
const stored = 0;
const deflated = 8;
/** Flag: checksum and sizes follow the content, and are 0 in the local header. */
const hasDescriptor = 1 << 3;
const encrypted = 1 << 0;
const decoder = new TextDecoder("utf-8", { fatal: true });

/** An entry as the central directory declares it. */
interface ZipEntry {
  readonly path: string;
  /** Uncompressed size, bytes. */
  readonly size: number;
  readonly packedSize: number;
  readonly checksum: number;
  readonly method: number;
  readonly flags: number;
  /** Offset of the local header. */
  readonly offset: number;
}

/**
 * Reads the entries of an archive without unpacking them.
 *
 * @throws When it is not a ZIP archive with an intact central directory.
 */
export function readEntries(bytes: Uint8Array): ZipEntry[] {
  const view = toDataView(bytes);
  const end = findDirectoryEnd(view);
  const entries: ZipEntry[] = [];
  let at = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left--) {
    if (view.getUint32(at, true) !== entrySignature) throw new Error("Invalid entry of a ZIP archive");
    const nameLength = view.getUint16(at + 28, true);
    entries.push({
      path: decoder.decode(bytes.subarray(at + entryLength, at + entryLength + nameLength)),
      size: view.getUint32(at + 24, true),
      packedSize: view.getUint32(at + 20, true),
      checksum: view.getUint32(at + 16, true),
      method: view.getUint16(at + 10, true),
      flags: view.getUint16(at + 8, true),
      offset: view.getUint32(at + 42, true),
    });
    at += entryLength + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return entries;
}

/**
 * Unpacks the content of an entry, up to its declared size.
 *
 * @param entry An entry of this archive.
 * @returns Undefined when size, checksum or local header do not match the declaration.
 * @throws When it is damaged, encrypted, or uses another compression method.
 */
async function unpackEntry(bytes: Uint8Array, entry: ZipEntry): Promise<Uint8Array | undefined> {
  const { size, packedSize, checksum, method, flags, offset } = entry;
  if ((flags & encrypted) !== 0 || (method !== stored && method !== deflated)) {
    throw new Error("Unsupported encryption or compression");
  }
  const view = toDataView(bytes);
  if (!isLocal(view, entry)) return undefined;
  const start = offset + localLength + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true);
  if (start + packedSize > bytes.length) throw new Error("Truncated");
  const packed = bytes.subarray(start, start + packedSize);
  const content = method === stored ? packed : await inflate(packed, size);
  return content?.length === size && computeChecksum(content) === checksum ? content : undefined;
}

/** Whether the local header agrees with the central directory, as far as it has values. */
function isLocal(view: DataView, { size, packedSize, checksum, method, flags, offset }: ZipEntry): boolean {
  if (view.getUint32(offset, true) !== localSignature) return false;
  const claims: readonly [at: number, value: number][] = [[14, checksum], [18, packedSize], [22, size]];
  const isLater = (flags & hasDescriptor) !== 0;
  return view.getUint16(offset + 8, true) === method &&
    claims.every(([at, value]) => isLater || view.getUint32(offset + at, true) === value);
}

function findDirectoryEnd(view: DataView): number {
  const last = view.byteLength - endLength;
  for (let at = last; at >= 0 && at >= last - maxCommentLength; at--) {
    if (view.getUint32(at, true) === endSignature) return at;
  }
  throw new Error("Not a ZIP archive");
}

/** Decompresses. Returns undefined when the result is longer than `size`. */
async function inflate(packed: Uint8Array, size: number): Promise<Uint8Array | undefined> {
  const source = new Blob([packed as BlobPart]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of source) {
    length += chunk.length;
    if (length > size) return undefined;
    chunks.push(chunk);
  }
  return concat(chunks);
}

const checksumTable = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) value = (value & 1) === 0 ? value >>> 1 : 0xedb88320 ^ value >>> 1;
  return value;
});

function computeChecksum(bytes: Uint8Array): number {
  let checksum = 0xffffffff;
  for (const byte of bytes) checksum = checksumTable[(checksum ^ byte) & 0xff]! ^ checksum >>> 8;
  return (checksum ^ 0xffffffff) >>> 0;
}

function toDataView(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

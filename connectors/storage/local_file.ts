/**
 * Records as files.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { Clock, Disk } from "../../src/contracts/runtime.ts";
import type { Lock, LockOptions, Storage, StorageStat } from "../../src/contracts/storage.ts";
import { ConfigError, ConnectorError } from "../../src/errors.ts";
import { describeFolderDenial, toFolder } from "../../src/util/denial.ts";
import { GenerationLock } from "./_generations.ts";
import { keyOfName, nameOfKey } from "./_keys.ts";
import { acquireLock } from "./_lock.ts";
import { KeyedQueue } from "./_queue.ts";
import { localFileDeclaration } from "./declarations.ts";

const { id, attributes } = localFileDeclaration;

/** Key of the record in the named file; other records are files next to it. */
const ownKey = "state";

/** Age at which a temporary file counts as abandoned, ms. */
const oldDraftMs = 60_000;

/** Maximum length of a path segment derived from a key, characters. */
const maxSegmentLength = 160;

/** Options of a {@linkcode LocalFileStorage}. */
export interface LocalFileOptions {
  /** Path of the record `state`; a missing folder is created. @default {"./.modelmesh/state.json"} */
  readonly path?: string;
  /** Whether a replaced record is kept as the record `<key>.backup`. */
  readonly backup?: boolean;
}

/** Dependencies of the storage. */
export interface LocalFileParts {
  /** Clock, for the times of records and locks. */
  readonly clock: Clock;
  /** File access; absent in browsers. */
  readonly disk?: Disk | undefined;
}

/**
 * Records as files of one folder. `state` is the named file; any other key is a file next to it with the same prefix
 * (`state.json.config`). Files are replaced atomically, even if the process is killed or the machine crashes; new files
 * are accessible by their owner only. Locks are shared by all processes that use the folder, if the file system
 * supports hard links; on network file systems that varies.
 */
export class LocalFileStorage implements Storage {
  readonly #clock: Clock;
  readonly #disk: Disk;
  readonly #path: string;
  readonly #hasBackup: boolean;
  readonly #queue = new KeyedQueue();
  #isCleaned = false;

  /**
   * Creates a storage; accesses no file yet.
   *
   * @param parts Clock and disk.
   * @param options Path, and whether to keep backups.
   * @throws {ConnectorError} If the runtime has no files.
   */
  constructor({ clock, disk }: LocalFileParts, options: LocalFileOptions = {}) {
    const { path = attributes.path.default, backup = attributes.backup.default } = options;
    if (disk === undefined) throw new ConnectorError(`"${id}" cannot be used: this runtime has no file access`);
    this.#clock = clock;
    this.#disk = disk;
    this.#path = /^(?:[A-Za-z]:|\.{1,2})?\\/.test(path) ? path.replaceAll("\\", "/") : path; // Windows accepts both separators
    this.#hasBackup = backup;
  }

  load(key: string): Promise<Uint8Array | undefined> {
    return this.#use("read", key, (path) => this.#disk.read(path));
  }

  save(key: string, data: Uint8Array): Promise<void> {
    const bytes = data.slice();
    return this.#queue.run(key, () =>
      this.#use("save", key, async (path) => {
        await this.#clean();
        if (this.#hasBackup) await this.#keepBackup(key, path);
        await this.#disk.replace(path, bytes, { modifiedAt: this.#clock.now() });
      }));
  }

  async list(prefix = ""): Promise<readonly string[]> {
    const others = await this.#use("list", prefix, () => this.#names(`${this.#path}.`));
    const keys = others.flatMap((name) => name === "" ? "" : keyOfName(name === "%" ? "" : name) ?? []);
    const all = await this.exists(ownKey) ? [...keys, ownKey] : keys;
    return all.filter((key) => key.startsWith(prefix)).sort();
  }

  delete(key: string): Promise<boolean> {
    return this.#queue.run(key, () => this.#use("delete", key, (path) => this.#disk.remove(path)));
  }

  stat(key: string): Promise<StorageStat | undefined> {
    return this.#use("read", key, (path) => this.#disk.stat(path));
  }

  async exists(key: string): Promise<boolean> {
    return await this.stat(key) !== undefined;
  }

  acquire(key: string, options: LockOptions): Promise<Lock> {
    const wait = { connector: id, clock: this.#clock, key, options };
    return acquireLock(wait, (wanted) => this.#use("lock", key, () => this.#lock(key).take(wanted)));
  }

  release({ key, owner }: Lock): Promise<void> {
    return this.#use("unlock", key, () => this.#lock(key).release(owner));
  }

  isLocked(key: string): Promise<boolean> {
    return this.#use("lock", key, () => this.#lock(key).isHeld());
  }

  #lock(key: string): GenerationLock {
    return new GenerationLock(this.#disk, this.#clock, `${this.#path}~lock-${splitFileName(nameOfKey(key))}`);
  }

  /** The backup is a copy rather than a hard link: the rename to its place must be the last change of the file. */
  async #keepBackup(key: string, path: string): Promise<void> {
    const before = await this.#disk.read(path);
    const modifiedAt = (await this.#disk.stat(path))?.modifiedAt;
    if (before !== undefined) await this.#disk.replace(this.#toPath(`${key}.backup`), before, { modifiedAt });
  }

  #toPath(key: string): string {
    return key === ownKey ? this.#path : `${this.#path}.${splitFileName(nameOfKey(key) || "%")}`;
  }

  /** Suffixes of all names with a prefix, including those in folders of long names. */
  async #names(start: string): Promise<string[]> {
    const folder = start.slice(0, start.lastIndexOf("/") + 1);
    const entries = await this.#disk.list(folder === "" ? "." : folder);
    const found = await Promise.all(entries.map(async (entry) => {
      if (!entry.startsWith(start.slice(folder.length)) || entry.includes("~")) return [];
      const end = entry.slice(start.length - folder.length);
      if (!end.endsWith("/")) return [end];
      if (!end.endsWith("+/")) return [];
      return (await this.#names(folder + entry)).map((rest) => end.slice(0, -2) + rest);
    }));
    return found.flat();
  }

  /** Removes temporary files of killed processes. */
  async #clean(): Promise<void> {
    if (this.#isCleaned) return;
    this.#isCleaned = true;
    const at = this.#path.lastIndexOf("/") + 1;
    const [folder, name] = [this.#path.slice(0, at), this.#path.slice(at)];
    for (const entry of await this.#disk.list(folder === "" ? "." : folder)) {
      if (!entry.startsWith(name) || !/~[\da-f-]{36}\.tmp$/.test(entry)) continue;
      const draft = await this.#disk.stat(folder + entry);
      const isOld = draft !== undefined && this.#clock.now() - draft.modifiedAt > oldDraftMs;
      if (isOld) await this.#disk.remove(folder + entry);
    }
  }

  async #use<Result>(action: string, key: string, work: (path: string) => Promise<Result>): Promise<Result> {
    try {
      return await work(this.#toPath(key));
    } catch (error) {
      throw ConnectorError.isInstance(error) ? error : this.#toError(error, `${action} "${key}"`);
    }
  }

  #toError(error: unknown, action: string): ConnectorError {
    const denied = describeFolderDenial(error, toFolder(this.#path));
    const [reason, problem] = denied !== undefined
      ? [denied, "forbidden"] as const
      : reasons[String(Object(error).code)] ?? ["the disk failed (see the error's cause)"];
    return new ConnectorError(`"${id}" cannot ${action} at "${this.#path}": ${reason}`, error, problem);
  }
}

const forbidden = ["permission denied. Grant the permission, or use another path", "forbidden"] as const;
const readOnly = ["the disk is read-only. Use another path", "forbidden"] as const;
const full = ["the disk is full. Free space there", "full"] as const;
const isFolder = ["it is a folder. Use the path of a file", "forbidden"] as const;
const noFolder = ["a part of the path is a file, not a folder. Use another path", "forbidden"] as const;

/** Descriptions of file system error codes. */
const reasons: Readonly<Record<string, readonly [reason: string, problem?: ConnectorError["problem"]]>> = {
  EACCES: forbidden,
  EPERM: forbidden,
  EROFS: readOnly,
  ENOSPC: full,
  EDQUOT: full,
  EISDIR: isFolder,
  ENOTDIR: noFolder,
  EEXIST: noFolder,
  ENOENT: ["its folder cannot be created. Use another path", "forbidden"],
};

/** File names are limited to 255 bytes: long names are split into folders. */
function splitFileName(name: string): string {
  const count = Math.ceil(name.length / maxSegmentLength);
  return Array.from({ length: count }, (_, at) => name.slice(at * maxSegmentLength, (at + 1) * maxSegmentLength))
    .join("+/");
}

/** Storage in files. Settings: `path`, `backup`. */
export const localFileStorage: Connector<"storage"> = {
  ...localFileDeclaration,
  create: (settings, { clock, disk }) => new LocalFileStorage({ clock, disk }, checkFileOptions(settings)),
};

function checkFileOptions({ path, backup }: Readonly<Record<string, unknown>>): LocalFileOptions {
  if (path !== undefined && (typeof path !== "string" || path === "" || path.endsWith("/"))) {
    throw new ConfigError([{ path: "storage.path", message: "expected the path of a file" }]);
  }
  if (backup !== undefined && typeof backup !== "boolean") {
    throw new ConfigError([{ path: "storage.backup", message: "expected true or false" }]);
  }
  return { ...(path === undefined ? {} : { path }), ...(backup === undefined ? {} : { backup }) };
}

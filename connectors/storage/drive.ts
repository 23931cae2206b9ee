/**
 * Records as files in Google Drive.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { Lock, LockOptions, Storage, StorageStat } from "../../src/contracts/storage.ts";
import { type DriveFile, DriveFolder } from "./_drive.ts";
import { failAttribute, getPrefix, textSetting } from "./_attributes.ts";
import { googleToken } from "./_google_token.ts";
import { keyOfName, nameOfKey } from "./_keys.ts";
import { acquireLock, type LockRecord } from "./_lock.ts";
import { KeyedQueue } from "./_queue.ts";
import type { RemoteRuntime } from "./_remote.ts";
import { driveDeclaration } from "./declarations.ts";

const { id, attributes } = driveDeclaration;

/** Time until a new file appears in the file lists of all clients, ms. */
const settlingMs = 1000;

const nothing = new Uint8Array();

/**
 * Records as files of one folder. Names are not unique in Drive: the oldest file is the record, and a process that
 * accidentally created another one removes it.
 *
 * Locks: Drive has no conditional writes. A process that wants a lock creates a file, lists the files after a second,
 * and removes its own unless it is the oldest. Locks are exclusive as long as Drive lists a new file within that time,
 * which it usually does but does not guarantee. For guaranteed locks use `aws.s3.v1` or `redis.redis.v1`.
 */
export class DriveStorage implements Storage {
  readonly #clock: RemoteRuntime["clock"];
  readonly #folder: DriveFolder;
  readonly #prefix: string;
  readonly #queue = new KeyedQueue();

  /**
   * Creates a storage; sends no request yet.
   *
   * @param runtime Clock.
   * @param prefix Prefix of the file names.
   */
  constructor({ clock }: Pick<RemoteRuntime, "clock">, folder: DriveFolder, prefix: string) {
    this.#clock = clock;
    this.#folder = folder;
    this.#prefix = prefix;
  }

  async load(key: string): Promise<Uint8Array | undefined> {
    const file = await this.#find(key);
    return file && await this.#folder.read(file);
  }

  save(key: string, data: Uint8Array): Promise<void> {
    const bytes = data.slice();
    return this.#queue.run(key, () => this.#save(key, bytes));
  }

  async list(prefix = ""): Promise<readonly string[]> {
    const start = `${this.#prefix}.`;
    const names = (await this.#folder.find()).flatMap(({ name }) =>
      name.startsWith(start) ? [name.slice(start.length)] : []
    );
    const keys = names.flatMap((name) => keyOfName(name) ?? []);
    return [...new Set(keys)].filter((key) => key.startsWith(prefix)).sort();
  }

  delete(key: string): Promise<boolean> {
    return this.#queue.run(key, async () => {
      const files = await this.#folder.find(this.#toFileName(key));
      const deleted = await Promise.all(files.map((file) => this.#folder.delete(file)));
      return deleted.includes(true);
    });
  }

  async stat(key: string): Promise<StorageStat | undefined> {
    const file = await this.#find(key);
    return file && { size: Number(file.size), modifiedAt: Date.parse(file.modifiedTime) };
  }

  async exists(key: string): Promise<boolean> {
    return await this.#find(key) !== undefined;
  }

  /** Acquires a lock, within the limits of Drive: see the class. */
  acquire(key: string, options: LockOptions): Promise<Lock> {
    const wait = { connector: id, clock: this.#clock, key, options };
    return acquireLock(wait, (wanted) => this.#take(this.#lockName(key), wanted));
  }

  async release({ key, owner }: Lock): Promise<void> {
    const own = (await this.#locks(this.#lockName(key))).filter((file) => toLockRecord(file).owner === owner);
    await Promise.all(own.map((file) => this.#folder.delete(file)));
  }

  async isLocked(key: string): Promise<boolean> {
    return (await this.#locks(this.#lockName(key))).length > 0;
  }

  async #save(key: string, bytes: Uint8Array): Promise<void> {
    const name = this.#toFileName(key);
    const facts = { modifiedTime: new Date(this.#clock.now()).toISOString() };
    const [file] = await this.#folder.find(name);
    if (file !== undefined && await this.#folder.update(file, facts, bytes)) return;
    const created = await this.#folder.create({ ...facts, name }, bytes);
    const [first] = await this.#folder.find(name);
    if (first === undefined || first.id === created) return;
    if (await this.#folder.update(first, facts, bytes)) await this.#folder.delete({ id: created });
  }

  async #take(name: string, wanted: LockRecord): Promise<boolean> {
    const appProperties = { owner: wanted.owner, expiresAt: String(wanted.expiresAt) };
    const [first] = await this.#locks(name);
    if (first !== undefined) {
      return toLockRecord(first).owner === wanted.owner && await this.#folder.update(first, { appProperties }, nothing);
    }
    const created = await this.#folder.create({ name, appProperties }, nothing);
    await this.#clock.sleep(settlingMs); // an abort would leave a lock without an owner
    const [winner] = await this.#locks(name);
    if (winner?.id === created) return true;
    await this.#folder.delete({ id: created });
    return false;
  }

  /** Valid locks, oldest first; expired ones are removed. */
  async #locks(name: string): Promise<readonly DriveFile[]> {
    const now = this.#clock.now();
    const files = await this.#folder.find(name);
    const over = files.filter((file) => !(toLockRecord(file).expiresAt > now));
    await Promise.all(over.map((file) => this.#folder.delete(file)));
    return files.filter((file) => !over.includes(file));
  }

  async #find(key: string): Promise<DriveFile | undefined> {
    return (await this.#folder.find(this.#toFileName(key)))[0];
  }

  #toFileName(key: string): string {
    return `${this.#prefix}.${nameOfKey(key)}`;
  }

  #lockName(key: string): string {
    return `${this.#prefix}~lock.${nameOfKey(key)}`;
  }
}

function toLockRecord({ appProperties: { owner = "", expiresAt = "" } = {} }: DriveFile): LockRecord {
  return { owner, expiresAt: Number(expiresAt) };
}

/**
 * Storage in Google Drive. Settings: `folder` (an id; the app's own folder by default), `prefix`, and credentials:
 * `credentials`, or `client_id`, `client_secret` and `refresh_token`, or `access_token`. `endpoint` and `token_url`
 * override Google's URLs.
 */
export const driveStorage: Connector<"storage"> = {
  ...driveDeclaration,
  create(settings, runtime) {
    const { folder = attributes.folder.default } = settings;
    const prefix = getPrefix(settings) ?? attributes.prefix.default;
    if (typeof folder !== "string" || !/^[\w-]{1,200}$/.test(folder)) {
      failAttribute("folder", "expected the id of a folder");
    }
    if (typeof prefix !== "string" || !/^[\w-]{1,64}$/.test(prefix)) {
      failAttribute("prefix", 'expected letters, digits, "_", "-"');
    }
    const endpoint = textSetting(settings, "endpoint") ?? "https://www.googleapis.com";
    const token = googleToken(id, settings, runtime);
    return new DriveStorage(runtime, new DriveFolder(runtime, { id, folder, endpoint, token }), prefix);
  },
};

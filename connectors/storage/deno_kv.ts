/**
 * Records in Deno KV.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { Clock, KeyValues, Runtime } from "../../src/contracts/runtime.ts";
import type { Lock, LockOptions, Storage, StorageStat } from "../../src/contracts/storage.ts";
import { ConfigError, ConnectorError } from "../../src/errors.ts";
import { describeDenial, toFolder } from "../../src/util/denial.ts";
import { acquireLock, isHeld, isHeldByOther, type LockRecord } from "./_lock.ts";
import { KeyedQueue } from "./_queue.ts";
import { denoKvDeclaration } from "./declarations.ts";

const { id } = denoKvDeclaration;

/** Size of a chunk, bytes: values in Deno KV are limited to 64 KiB. */
const chunkBytes = 60_000;

/** Metadata of a record; its chunks are stored under its version. */
interface RecordHead extends StorageStat {
  readonly version: string;
  /** Number of chunks, under its name in stored records. */
  readonly chunks: number;
}

/** Dependencies of the storage. */
export interface DenoKvParts {
  /** Clock, for the times of records and locks. */
  readonly clock: Clock;
  /** Opens the store; absent if the runtime has none. */
  readonly openKeyValues?: Runtime["openKeyValues"];
}

/**
 * Records in Deno KV. The store is opened for each call and closed afterwards. Chunks are written first, then the head
 * that refers to them, so that a save is atomic. The next save removes what a killed process left behind.
 */
export class DenoKvStorage implements Storage {
  readonly #clock: Clock;
  readonly #openKeyValues: Runtime["openKeyValues"];
  readonly #path: string | undefined;
  readonly #queue = new KeyedQueue();

  /**
   * Creates a storage; does not open the store yet.
   *
   * @param parts Clock and store.
   * @param path Path of the database; defaults to that of the program.
   */
  constructor({ clock, openKeyValues }: DenoKvParts, path?: string) {
    this.#clock = clock;
    this.#openKeyValues = openKeyValues;
    this.#path = path;
  }

  load(key: string): Promise<Uint8Array | undefined> {
    return this.#use(async (store) => {
      for (;;) {
        const head = decodeHead((await store.get(headKey(key))).value);
        if (head === undefined) return undefined;
        const bytes = await readKvChunks(store, key, head);
        if (bytes !== undefined) return bytes; // otherwise it was replaced meanwhile
      }
    });
  }

  save(key: string, data: Uint8Array): Promise<void> {
    const bytes = data.slice();
    return this.#queue.run(key, () => this.#use((store) => this.#save(store, key, bytes)));
  }

  list(prefix = ""): Promise<readonly string[]> {
    return this.#use(async (store) => {
      const keys = (await store.list(["modelmesh", "head"])).map((parts) => parts[2]!);
      return keys.filter((key) => key.startsWith(prefix)).sort();
    });
  }

  delete(key: string): Promise<boolean> {
    return this.#queue.run(key, () =>
      this.#use(async (store) => {
        const { value } = await store.get(headKey(key));
        await store.commit({ deletes: [headKey(key)] });
        await removeChunks(store, key);
        return value !== undefined;
      }));
  }

  stat(key: string): Promise<StorageStat | undefined> {
    return this.#use(async (store) => {
      const head = decodeHead((await store.get(headKey(key))).value);
      return head && { size: head.size, modifiedAt: head.modifiedAt };
    });
  }

  async exists(key: string): Promise<boolean> {
    return await this.stat(key) !== undefined;
  }

  acquire(key: string, options: LockOptions): Promise<Lock> {
    return acquireLock({ connector: id, clock: this.#clock, key, options }, (wanted) =>
      this.#use(async (store) => {
        const { value, version } = await store.get(lockKey(key));
        if (isHeldByOther(decodeLock(value), wanted.owner, this.#clock.now())) return false;
        return await store.commit({ check: { key: lockKey(key), version }, set: [lockKey(key), encodeJson(wanted)] });
      }));
  }

  release({ key, owner }: Lock): Promise<void> {
    return this.#use(async (store) => {
      const { value, version } = await store.get(lockKey(key));
      if (decodeLock(value)?.owner !== owner) return;
      await store.commit({ check: { key: lockKey(key), version }, deletes: [lockKey(key)] });
    });
  }

  isLocked(key: string): Promise<boolean> {
    return this.#use(async (store) => isHeld(decodeLock((await store.get(lockKey(key))).value), this.#clock.now()));
  }

  async #save(store: KeyValues, key: string, bytes: Uint8Array): Promise<void> {
    const version = crypto.randomUUID();
    const chunks = Math.ceil(bytes.length / chunkBytes);
    for (let index = 0; index < chunks; index++) {
      const chunk = bytes.slice(index * chunkBytes, (index + 1) * chunkBytes);
      await store.commit({ set: [chunkKey(key, version, index), chunk] });
    }
    const head: RecordHead = { version, chunks, size: bytes.length, modifiedAt: this.#clock.now() };
    await store.commit({ set: [headKey(key), encodeJson(head)] });
    await removeChunks(store, key, version);
  }

  async #use<Result>(work: (store: KeyValues) => Promise<Result>): Promise<Result> {
    if (this.#openKeyValues === undefined) {
      throw new ConnectorError(
        `"${id}" cannot be used: it requires "Deno" started with --unstable-kv (or "unstable": ["kv"] in deno.json). ` +
          "Elsewhere use mesh.local-file.v1",
        undefined,
        "forbidden",
      );
    }
    const store = await this.#openKeyValues(this.#path).catch((error) => {
      const denied = describeDenial(error, { path: this.#path && toFolder(this.#path) });
      throw denied === undefined
        ? error
        : new ConnectorError(`"${id}" cannot be opened: ${denied}`, error, "forbidden");
    });
    try {
      return await work(store);
    } finally {
      store.close();
    }
  }
}

const headKey = (key: string) => ["modelmesh", "head", key];
const lockKey = (key: string) => ["modelmesh", "lock", key];
const chunkKey = (key: string, version: string, index: number) => ["modelmesh", "chunk", key, version, String(index)];

async function readKvChunks(
  store: KeyValues,
  key: string,
  { version, chunks, size }: RecordHead,
): Promise<Uint8Array | undefined> {
  const bytes = new Uint8Array(size);
  for (let index = 0; index < chunks; index++) {
    const { value } = await store.get(chunkKey(key, version, index));
    if (value === undefined) return undefined;
    bytes.set(value, index * chunkBytes);
  }
  return bytes;
}

async function removeChunks(store: KeyValues, key: string, kept?: string): Promise<void> {
  for (const parts of await store.list(["modelmesh", "chunk", key])) {
    if (parts[3] !== kept) await store.commit({ deletes: [parts] });
  }
}

function encodeJson(value: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

function decodeHead(value: Uint8Array | undefined): RecordHead | undefined {
  return value && JSON.parse(new TextDecoder().decode(value));
}

function decodeLock(value: Uint8Array | undefined): LockRecord | undefined {
  return value && JSON.parse(new TextDecoder().decode(value));
}

/** Storage in Deno KV; settings: `path`. */
export const denoKvStorage: Connector<"storage"> = {
  ...denoKvDeclaration,
  create({ path }, runtime) {
    if (path === undefined || typeof path === "string" && path !== "") return new DenoKvStorage(runtime, path);
    throw new ConfigError([{ path: "storage.path", message: "expected the path of a file" }]);
  },
};

/**
 * Records of created objects, for lists: in the storage if one is configured, else in memory. The lists of providers do
 * not suffice, since they do not know the owner of an object.
 * @module
 */
import type { JsonObject } from "../contracts/openai.ts";
import type { Storage } from "../contracts/storage.ts";
import { hash53 } from "../util/hash.ts";
import type { Reservation } from "../state/counters/reservation.ts";
import type { LineChanges } from "./line_changes.ts";
import type { ObjectKind, ObjectRef } from "./object_id.ts";

/** Storage of records. */
type Records = Pick<Storage, "load" | "save" | "list" | "delete">;

/** The last known state of an object. */
interface ObjectRecord {
  /** Its id in this mesh. */
  readonly id: string;
  readonly object: JsonObject;
  /** Whether its state is terminal. */
  readonly isOver: boolean;
  /** Of a file of batch requests: what the upload has changed in its lines. */
  readonly changes?: LineChanges | undefined;
  /** Of a batch: id of the request that created it. */
  readonly requestId?: string;
  /** Of a batch: name of the client that owns it, if clients have names. */
  readonly client?: string;
  /** Of a batch that has ended: its cost, nano-dollars; null if unknown. */
  readonly costNanoUsd?: number | null;
}

/** Lifetime of a lock, ms; longer than reading results takes. The lock of a killed process expires after this time. */
const lockMs = 120_000;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Key prefix of object records. */
const keyPrefix = "objects/";

/** The objects of one proxy, across configurations. */
export class ObjectRecords {
  /** Reservations of unfinished batches, by batch id. */
  readonly reserved: Map<string, Reservation> = new Map();
  /** Signs ids of providers without an API key when no secret is configured. */
  readonly processSecret: string = crypto.randomUUID() + crypto.randomUUID();
  readonly #memory: Records = new MemoryRecords();
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #lockOwner = crypto.randomUUID();
  #records: Storage | undefined;

  /** Uses a storage from now on; undefined for memory. */
  use(records: Storage | undefined): void {
    this.#records = records;
  }

  async save(ref: ObjectRef, record: ObjectRecord): Promise<void> {
    await this.#all.save(toRecordKey(ref), encoder.encode(JSON.stringify(record)));
  }

  async load(ref: ObjectRef): Promise<ObjectRecord | undefined> {
    return await this.#read(toRecordKey(ref));
  }

  async delete(ref: ObjectRef): Promise<void> {
    await this.#all.delete(toRecordKey(ref));
  }

  /** Returns the objects of all owners that are not in a terminal state. */
  async open(kind: ObjectKind): Promise<ObjectRecord[]> {
    const keys = await this.#all.list(`${keyPrefix}${kind}/`);
    const records = await Promise.all(keys.map((key) => this.#read(key)));
    return records.filter((record) => record !== undefined && !record.isOver) as ObjectRecord[];
  }

  /** Returns a page of objects by creation time. */
  async page(
    { kind, owner, after, limit, isAscending = false, matches = () => true }: {
      readonly kind: ObjectKind;
      readonly owner: string;
      /** Returns objects after this one. */
      readonly after?: ObjectRef | undefined;
      readonly limit: number;
      /** Whether to sort oldest first instead of newest first. */
      readonly isAscending?: boolean;
      /** Filters objects. */
      readonly matches?: (object: JsonObject) => boolean;
    },
  ): Promise<{ readonly records: readonly ObjectRecord[]; readonly hasMore: boolean }> {
    const keys = [...await this.#all.list(getRecordFolder(kind, owner))].sort();
    if (!isAscending) keys.reverse();
    const last = after && toRecordKey(after);
    const records: ObjectRecord[] = [];
    for (const key of keys) {
      if (last !== undefined && (isAscending ? key <= last : key >= last)) continue;
      const record = await this.#read(key);
      if (record === undefined || !matches(record.object)) continue;
      if (records.length === limit) return { records, hasMore: true };
      records.push(record);
    }
    return { records, hasMore: false };
  }

  /** Runs tasks on one object one after the other, in all processes on one storage. */
  async inTurn<Result>(ref: ObjectRef, work: () => Promise<Result>): Promise<Result> {
    const key = toRecordKey(ref);
    const locked = () => this.#locked(key, work);
    const turn = (this.#turns.get(key) ?? Promise.resolve()).then(locked, locked);
    this.#turns.set(key, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(key) === turn) this.#turns.delete(key);
    }
  }

  async #locked<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const storage = this.#records;
    if (storage === undefined) return await work();
    const lock = await storage.acquire(key, { owner: this.#lockOwner, ttlMs: lockMs });
    try {
      return await work();
    } finally {
      await storage.release(lock);
    }
  }

  get #all(): Records {
    return this.#records ?? this.#memory;
  }

  async #read(key: string): Promise<ObjectRecord | undefined> {
    const bytes = await this.#all.load(key);
    return bytes === undefined ? undefined : JSON.parse(decoder.decode(bytes));
  }
}

function getRecordFolder(kind: ObjectKind, owner: string): string {
  return `${keyPrefix}${kind}/${owner === "" ? "-" : encodeURIComponent(owner)}/`;
}

/** Returns a key that sorts by time. The hash of the ids makes keys of the same time unique. */
function toRecordKey({ kind, owner, madeAt, ids }: ObjectRef): string {
  return `${getRecordFolder(kind, owner)}${String(madeAt).padStart(15, "0")}-${hash53(ids.join(" ")).toString(36)}`;
}

class MemoryRecords implements Records {
  readonly #records = new Map<string, Uint8Array>();

  load(key: string): Promise<Uint8Array | undefined> {
    return Promise.resolve(this.#records.get(key));
  }

  save(key: string, data: Uint8Array): Promise<void> {
    this.#records.set(key, data);
    return Promise.resolve();
  }

  list(prefix = ""): Promise<readonly string[]> {
    return Promise.resolve([...this.#records.keys()].filter((key) => key.startsWith(prefix)).sort());
  }

  delete(key: string): Promise<boolean> {
    return Promise.resolve(this.#records.delete(key));
  }
}

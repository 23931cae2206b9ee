/**
 * What was made so far, for lists: a record for each object, in the storage where one is configured, else in memory.
 * Lists of providers are no help: they do not know whose an object is.
 * @module
 */
import type { JsonObject } from "../contracts/openai.ts";
import type { Storage } from "../contracts/storage.ts";
import { hash53 } from "../util/hash.ts";
import type { BudgetShare } from "./budget_share.ts";
import type { ObjectKind, ObjectRef } from "./object_id.ts";

/** Where records are. */
type Records = Pick<Storage, "load" | "save" | "list" | "delete">;

/** An object as it was last seen. */
interface ObjectRecord {
  /** Its id here. */
  readonly id: string;
  readonly object: JsonObject;
  /** Whether it changes no more. */
  readonly isOver: boolean;
  /** Of a batch: the request that made it. */
  readonly requestId?: string;
  /** Of a batch that is over: what it cost, nano-dollars; null where that is unknown. */
  readonly costNano?: number | null;
}

/** A page of an owner's objects. */
interface Page {
  readonly records: readonly ObjectRecord[];
  readonly hasMore: boolean;
}

/** Which objects of an owner. */
interface PageOptions {
  readonly kind: ObjectKind;
  readonly owner: string;
  /** Those after this one. */
  readonly after?: ObjectRef | undefined;
  readonly limit: number;
  /** The oldest first; the newest, when left out. */
  readonly isAscending?: boolean;
  /** Leaves others out. */
  readonly fits?: (object: JsonObject) => boolean;
}

/** Longer than results are read, ms: an owner that is gone is noticed after that. */
const lockMs = 120_000;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Where records of objects are, among others. */
const room = "objects/";

/** The objects of one proxy, over all its configurations. */
export class ObjectBook {
  /** Money that is reserved for batches under way, by their ids. */
  readonly reserved: Map<string, BudgetShare> = new Map();
  /** Signs for providers without a key where no secret is configured. */
  readonly processSecret: string = crypto.randomUUID() + crypto.randomUUID();
  readonly #memory: Records = new MemoryRecords();
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #lockOwner = crypto.randomUUID();
  #records: Storage | undefined;

  /** Uses a storage from now on; undefined: memory. */
  use(records: Storage | undefined): void {
    this.#records = records;
  }

  async save(ref: ObjectRef, record: ObjectRecord): Promise<void> {
    await this.#all.save(keyOf(ref), encoder.encode(JSON.stringify(record)));
  }

  async load(ref: ObjectRef): Promise<ObjectRecord | undefined> {
    return await this.#read(keyOf(ref));
  }

  async delete(ref: ObjectRef): Promise<void> {
    await this.#all.delete(keyOf(ref));
  }

  /** The objects of all owners that still change. */
  async open(kind: ObjectKind): Promise<ObjectRecord[]> {
    const keys = await this.#all.list(`${room}${kind}/`);
    const records = await Promise.all(keys.map((key) => this.#read(key)));
    return records.filter((record) => record !== undefined && !record.isOver) as ObjectRecord[];
  }

  /** A page of a list, by the time at which objects were made. */
  async page({ kind, owner, after, limit, isAscending = false, fits = () => true }: PageOptions): Promise<Page> {
    const keys = [...await this.#all.list(folderOf(kind, owner))].sort();
    if (!isAscending) keys.reverse();
    const last = after && keyOf(after);
    const records: ObjectRecord[] = [];
    for (const key of keys) {
      if (last !== undefined && (isAscending ? key <= last : key >= last)) continue;
      const record = await this.#read(key);
      if (record === undefined || !fits(record.object)) continue;
      if (records.length === limit) return { records, hasMore: true };
      records.push(record);
    }
    return { records, hasMore: false };
  }

  /** Work on one object, one after the other, in all processes on one storage. */
  async inTurn<Result>(ref: ObjectRef, work: () => Promise<Result>): Promise<Result> {
    const key = keyOf(ref);
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

function folderOf(kind: ObjectKind, owner: string): string {
  return `${room}${kind}/${owner === "" ? "-" : encodeURIComponent(owner)}/`;
}

/** Sorts by time; of two objects of one time the ids make two keys. */
function keyOf({ kind, owner, madeAt, ids }: ObjectRef): string {
  return `${folderOf(kind, owner)}${String(madeAt).padStart(15, "0")}-${hash53(ids.join(" ")).toString(36)}`;
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

/**
 * Storage: records and locks that persist across restarts.
 * @module
 */

/** Record metadata. */
export interface StorageStat {
  /** Size, bytes. */
  readonly size: number;
  /** Time of the last save, ms since the Unix epoch. */
  readonly modifiedAt: number;
}

/** Options of a lock. */
export interface LockOptions {
  /**
   * The owner's id, unique among all processes that share the storage. If the owner already has the lock, its lifetime
   * is renewed.
   */
  readonly owner: string;
  /** Lifetime (TTL), ms. Afterwards another owner can acquire a lock that was not released. */
  readonly ttlMs: number;
  /** Timeout of the wait for another owner's lock, ms. @default {30_000} */
  readonly timeoutMs?: number;
  /** Interval between attempts, ms. @default {1000} */
  readonly retryIntervalMs?: number;
  /** Aborts the wait. */
  readonly signal?: AbortSignal;
}

/** An acquired lock. */
export interface Lock {
  /** The key of the lock. */
  readonly key: string;
  /** The owner's id. */
  readonly owner: string;
  /** Expiry time, ms since the Unix epoch. */
  readonly expiresAt: number;
}

/**
 * Binary records by key, and locks. Any string is a valid key. Locks have a separate key space. Failures are thrown
 * as a `ConnectorError` with advice.
 */
export interface Storage {
  /** Loads a record; undefined if it does not exist. The caller owns the returned bytes. */
  load(key: string): Promise<Uint8Array | undefined>;
  /** Saves a record atomically. */
  save(key: string, data: Uint8Array): Promise<void>;
  /** Lists the keys that start with `prefix`, sorted; all keys when omitted. */
  list(prefix?: string): Promise<readonly string[]>;
  /** Deletes a record; false if it did not exist. */
  delete(key: string): Promise<boolean>;
  /** Size and modification time; undefined if the record does not exist. */
  stat(key: string): Promise<StorageStat | undefined>;
  /** Whether a record exists. */
  exists(key: string): Promise<boolean>;
  /** Acquires a lock, waiting while another owner has it. */
  acquire(key: string, options: LockOptions): Promise<Lock>;
  /** Releases a lock; no effect if another owner has it by now. */
  release(lock: Lock): Promise<void>;
  /** Whether any owner has the lock. */
  isLocked(key: string): Promise<boolean>;
  /** Atomic counters and messages shared by several processes; only storages with atomic operations have them. */
  readonly shared?: Shared | undefined;
  /** Usage as rows; storages without it keep a record of each day. */
  readonly usage?: UsageRows | undefined;
  /** Entries that expire; only storages that delete them by themselves have them. */
  readonly entries?: ExpiringEntries | undefined;
  /** Closes connections; later calls fail. Absent from storages without connections. */
  close?(): Promise<void>;
}

/** A shared counter. */
export interface SharedSum {
  /** Its name; any string. */
  readonly key: string;
  /** Expiry time, ms since the Unix epoch. */
  readonly expiresAt: number;
  /** Minimum value that it is known to have reached. A store that lost data continues from there. */
  readonly atLeast?: number;
}

/** A change of a shared counter. */
export interface SharedChange extends SharedSum {
  /** The increment, an integer; 0 reads the value. */
  readonly by: number;
  /**
   * The part of `by` that this process leases. The store subtracts it when the process ends: immediately, or after some
   * seconds without a call.
   * @default 0
   */
  readonly leased?: number;
}

/** A conditional increment of a shared counter. */
export interface SharedReservation extends SharedSum {
  /** The amount to reserve, an integer. */
  readonly amount: number;
  /** Maximum value of the counter. */
  readonly limit: number;
  /** Whether the amount is leased, as in {@linkcode SharedChange}. @default false */
  readonly isLeased?: boolean;
}

/** The result of a reservation. */
export interface SharedGrant {
  /** Whether all amounts were reserved; otherwise none was. */
  readonly isGranted: boolean;
  /** The current values, in the order of the reservations. */
  readonly sums: readonly number[];
}

/**
 * Facet of a {@linkcode Storage}: counters and messages shared by several processes. Every call is one atomic operation
 * of the store. Counters are exact up to 2⁵³, and separate from records and locks. All calls fail at once while the
 * store is unavailable.
 */
export interface Shared {
  /**
   * Time without a call after which the leases of this process may have ended, ms; undefined when they end only with the
   * process.
   */
  readonly leaseMs?: number;
  /**
   * How often the leases of this process have ended although it has not. Its next call restores them; what it leased may
   * have been granted to other processes as well.
   * @default 0
   */
  readonly lostLeases?: number;
  /**
   * Increments counters atomically; a missing counter is 0.
   *
   * @returns The new values, in order.
   */
  add(changes: readonly SharedChange[]): Promise<readonly number[]>;
  /** Reserves all amounts if no counter exceeds its limit by that, otherwise none. */
  reserve(reservations: readonly SharedReservation[]): Promise<SharedGrant>;
  /** Publishes a message to all current subscribers, including the sender. */
  publish(channel: string, message: string): Promise<void>;
  /**
   * Subscribes until the returned function is called, across reconnections. Messages sent while disconnected are lost.
   */
  subscribe(channel: string, receive: (message: string) => void): Promise<() => Promise<void>>;
}

/**
 * Requests, input tokens, output tokens, and cost in nano-dollars; the cost that callers have paid with their own keys, if
 * there is any.
 */
export type UsageAmounts = readonly [
  requests: number,
  tokensIn: number,
  tokensOut: number,
  costNanoUsd: number,
  callerCostNanoUsd?: number,
];

/** Usage of one day. */
export interface StoredUsage {
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string;
  /** Name of the client, if it has one. */
  readonly client?: string | undefined;
  /** Its id, if it was created at runtime. */
  readonly clientId?: string | undefined;
  /** Name of the pool. */
  readonly pool: string;
  /** Undefined if no model was tried. */
  readonly model?: string | undefined;
  /** Sorted. */
  readonly tags: readonly string[];
  /** The team of the client, or the one that its token states. */
  readonly team?: string | undefined;
  /** What was used. */
  readonly amounts: UsageAmounts;
}

/** Usage of one hour. */
export interface AddedUsage extends Omit<StoredUsage, "day"> {
  /** UTC, `YYYY-MM-DDTHH`. */
  readonly hour: string;
  /** The service tier, as the vendor names it. */
  readonly tier?: string | undefined;
}

/** Facet of a {@linkcode Storage}: usage of all processes, as rows that the store sums. */
export interface UsageRows {
  /**
   * Adds rows.
   *
   * @param id Identifies the addition, a UUID: repeated, it has no effect.
   */
  add(id: string, rows: readonly AddedUsage[]): Promise<void>;
  /** Reads the sums of days, from the first to the last, UTC, `YYYY-MM-DD`. */
  read(from: string, to: string): Promise<readonly StoredUsage[]>;
  /** Deletes the rows of all days before one. */
  drop(before: string): Promise<void>;
}

/** Number and size of entries. */
export interface EntryStats {
  /** Number of entries that have not expired. */
  readonly entries: number;
  /** Size of their data, bytes. */
  readonly bytes: number;
}

/**
 * Facet of a {@linkcode Storage}: binary entries that expire, such as those of a cache. Any string is a valid key; entries
 * are separate from records, locks and counters. The store may delete any entry before it expires, and bounds their number or
 * size, or deletes what has expired.
 */
export interface ExpiringEntries {
  /**
   * What they hold, if they are in the memory of this process alone: workers then add theirs up. Entries that have expired may be
   * among them.
   */
  readonly held?: EntryStats | undefined;
  /** Reads an entry; undefined if it does not exist or has expired. The caller owns the returned bytes. */
  get(key: string): Promise<Uint8Array | undefined>;
  /**
   * Writes an entry atomically, replacing the one before.
   *
   * @param data Must not change until the promise settles.
   * @param expiresAt Expiry time, ms since the Unix epoch; a past one deletes the entry.
   */
  set(key: string, data: Uint8Array, expiresAt: number): Promise<void>;
  /** Deletes an entry; false if it did not exist or had expired. */
  delete(key: string): Promise<boolean>;
  /** Counts the entries. */
  stats(): Promise<EntryStats>;
  /** Deletes all entries, without blocking other calls, and returns how many. Entries written meanwhile may remain. */
  clear(): Promise<number>;
}
